/// A finger that moves the knob (IFTTT dossier 4.5): how far the change is scrubbed, and what a release decides.
struct KnobDrag: Sendable, Hashable {
    /// Which way the knob is to go.
    enum Aim: String, Sendable, Hashable, Codable {
        /// Light resistance.
        case on
        /// Heavy resistance.
        case off
    }

    /// Which way the knob is to go.
    let aim: Aim
    /// The pill's width in points.
    let width: Double
    /// Whether the start is on the right.
    let isRightToLeft: Bool

    /// A drag across a pill.
    ///
    /// - Parameters:
    ///   - aim: Which way the knob is to go.
    ///   - width: The pill's width in points.
    ///   - isRightToLeft: Whether the start is on the right.
    init(_ aim: Aim, width: Double, isRightToLeft: Bool = false) {
        self.aim = aim
        self.width = width
        self.isRightToLeft = isRightToLeft
    }

    private var isMirrored: Bool { (aim == .off) != isRightToLeft }

    /// The part of the change that is done, from 0.001 to 0.999.
    ///
    /// - Parameter x: The finger's distance from the pill's left edge, in points.
    func fraction(at x: Double) -> Double {
        let motion = ConnectButtonMotion.standard
        guard width > 0, x.isFinite else { return motion.dragLeast }
        let part = isMirrored ? 1 - x / width : x / width
        return min(max(part, motion.dragLeast), motion.dragMost)
    }

    /// The speed of the change, in widths a second; positive is forward.
    ///
    /// - Parameter points: The finger's velocity in points a second; positive is to the right.
    func velocity(_ points: Double) -> Double {
        guard width > 0, points.isFinite else { return 0 }
        return (isMirrored ? -points : points) / width
    }

    /// Whether a release goes on to the end, or back.
    ///
    /// - Parameters:
    ///   - fraction: The part that is done.
    ///   - velocity: The speed in widths a second, positive forward.
    func completes(fraction: Double, velocity: Double) -> Bool {
        let motion = ConnectButtonMotion.standard
        switch aim {
        case .on:
            if velocity < -motion.lightBackVelocity { return false }
            return !(abs(velocity) < motion.lightStillVelocity && fraction < motion.lightPart)
        case .off: return fraction >= motion.heavyPart
        }
    }

    /// How the change goes on after a release: a critically damped spring, which begins with the finger's velocity (4.5).
    ///
    /// - Parameters:
    ///   - fraction: The part that is done.
    ///   - velocity: The speed in widths a second, positive forward.
    func release(fraction: Double, velocity: Double) -> Release {
        let completes = completes(fraction: fraction, velocity: velocity)
        let way = (completes ? 1 : 0) - fraction
        // A spring knows its velocity in ways a second. Of a short way a flick would make a leap.
        let push = abs(way) < 1e-6 ? 0 : velocity / way
        return Release(completes: completes, velocity: min(max(push, -Release.greatest), Release.greatest))
    }

    /// What a release decides.
    struct Release: Hashable {
        /// Whether the change goes on to its end, or back to its beginning.
        let completes: Bool
        /// The speed towards there, counted in the way that is left, a second.
        let velocity: Double

        fileprivate static let greatest = 50.0
    }
}
