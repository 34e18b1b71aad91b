/// A finger that drags the knob (IFTTT dossier 4.5): the progress of the change, and the result of a release.
struct KnobDrag: Sendable, Hashable {
    /// The target of the knob.
    enum Aim: String, Sendable, Hashable, Codable {
        /// Light resistance.
        case on
        /// Heavy resistance.
        case off
    }

    /// The target of the knob.
    let aim: Aim
    /// The pill's width in points.
    let width: Double
    /// Whether the start is on the right.
    let isRightToLeft: Bool

    /// Creates a drag across a pill.
    ///
    /// - Parameters:
    ///   - aim: The target of the knob.
    ///   - width: The pill's width in points.
    ///   - isRightToLeft: Whether the start is on the right.
    init(_ aim: Aim, width: Double, isRightToLeft: Bool = false) {
        self.aim = aim
        self.width = width
        self.isRightToLeft = isRightToLeft
    }

    private var isMirrored: Bool { (aim == .off) != isRightToLeft }

    /// The progress of the change, from 0.001 to 0.999.
    ///
    /// - Parameter x: The finger's distance from the pill's left edge, in points.
    func fraction(at x: Double) -> Double {
        let motion = ConnectButtonMotion.standard
        guard width > 0, x.isFinite else { return motion.dragLeast }
        let part = isMirrored ? 1 - x / width : x / width
        return min(max(part, motion.dragLeast), motion.dragMost)
    }

    /// The speed of the change, in widths per second; positive is forward.
    ///
    /// - Parameter points: The finger's velocity in points per second; positive is to the right.
    func velocity(_ points: Double) -> Double {
        guard width > 0, points.isFinite else { return 0 }
        return (isMirrored ? -points : points) / width
    }

    /// Whether a release completes the change.
    ///
    /// - Parameters:
    ///   - fraction: The progress.
    ///   - velocity: The speed in widths per second, positive forward.
    func completes(fraction: Double, velocity: Double) -> Bool {
        let motion = ConnectButtonMotion.standard
        switch aim {
        case .on:
            if velocity < -motion.lightBackVelocity { return false }
            return !(abs(velocity) < motion.lightStillVelocity && fraction < motion.lightPart)
        case .off: return fraction >= motion.heavyPart
        }
    }

    /// The animation after a release: a critically damped spring with the finger's initial velocity (4.5).
    ///
    /// - Parameters:
    ///   - fraction: The progress.
    ///   - velocity: The speed in widths per second, positive forward.
    func release(fraction: Double, velocity: Double) -> Release {
        let completes = completes(fraction: fraction, velocity: velocity)
        let way = (completes ? 1 : 0) - fraction
        // A spring's velocity is relative to the remaining distance. For a tiny distance a flick would overshoot.
        let push = abs(way) < 1e-6 ? 0 : velocity / way
        return Release(completes: completes, velocity: min(max(push, -Release.greatest), Release.greatest))
    }

    /// The result of a release.
    struct Release: Hashable {
        /// Whether the change completes or reverts.
        let completes: Bool
        /// The speed relative to the remaining distance, per second.
        let velocity: Double

        fileprivate static let greatest = 50.0
    }
}
