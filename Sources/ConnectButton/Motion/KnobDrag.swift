#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A finger that drags the knob: the progress of the change, and what a release does (`connect-button-motion.md` section 2).
///
/// The knob stays under the finger, as on Android; iOS lets it jump at the grip.
struct KnobDrag: Sendable, Hashable {
    /// The target of the knob.
    enum Aim: String, Sendable, Hashable, Codable {
        /// Light resistance.
        case on
        /// Heavy resistance.
        case off

        /// What a finger asks for that drags the knob to it.
        var event: ConnectButtonEvent { self == .on ? .turnOn : .turnOff }
    }

    let aim: Aim
    /// The way from the start to the end, in points.
    let way: Double
    /// Whether the start is on the right.
    let isRightToLeft: Bool
    /// Where the finger gripped, in points from the pill's left edge.
    let grip: Double

    /// Creates a drag.
    ///
    /// - Parameters:
    ///   - aim: The target of the knob.
    ///   - way: The way from the start to the end, in points.
    ///   - grip: Where the finger gripped, in points from the left.
    ///   - isRightToLeft: Whether the start is on the right.
    init(_ aim: Aim, way: Double, grip: Double = 0, isRightToLeft: Bool = false) {
        self.aim = aim
        self.way = way
        self.grip = grip
        self.isRightToLeft = isRightToLeft
    }

    /// Whether a finger moves sideways, and so drags the knob. One that moves as far up or down scrolls the page (F011).
    ///
    /// - Parameters:
    ///   - x: How far or how fast it moves to the right.
    ///   - y: How far or how fast it moves down, in the same unit.
    static func isSideways(x: Double, y: Double) -> Bool { abs(x) > abs(y) }

    private var isMirrored: Bool { (aim == .off) != isRightToLeft }

    /// The progress of the change, from 0 to 1.
    ///
    /// - Parameter x: Where the finger is, in points from the left.
    func fraction(at x: Double) -> Double {
        guard way > 0, x.isFinite, grip.isFinite else { return 0 }
        return min(max((isMirrored ? grip - x : x - grip) / way, 0), 1)
    }

    /// Whether a release completes the change.
    ///
    /// - Parameters:
    ///   - fraction: The progress.
    ///   - velocity: The speed in widths of the pill per second, positive forward.
    func completes(fraction: Double, velocity: Double) -> Bool {
        let motion = ConnectButtonMotion.standard
        switch aim {
        case .on:
            if velocity < -motion.lightBackVelocity { return false }
            return !(abs(velocity) < motion.lightStillVelocity && fraction < motion.lightPart)
        case .off: return fraction >= motion.heavyPart
        }
    }

    /// The speed in widths per second, positive forward.
    ///
    /// - Parameters:
    ///   - points: The finger's velocity in points per second, positive to the right.
    ///   - width: The pill's width in points.
    func velocity(_ points: Double, width: Double) -> Double {
        guard width > 0, points.isFinite else { return 0 }
        return (isMirrored ? -points : points) / width
    }
}

/// A released knob on its way to an end: a critically damped spring that begins with the finger's velocity.
struct ReleaseSpring: Sendable, Hashable {
    let from: Double
    let target: Double
    /// The speed at the release, in track lengths per second, positive forward.
    let velocity: Double
    /// Seconds.
    let duration: Double

    /// The progress of the change. It never leaves 0…1, and is at the target at the end of the duration.
    func fraction(at seconds: Double) -> Double {
        guard seconds < duration else { return target }
        let time = max(seconds, 0)
        let pulse = ConnectButtonMotion.standard.releaseSpring / duration
        let away = from - target
        return min(max(target + (away + (velocity + pulse * away) * time) * exp(-pulse * time), 0), 1)
    }
}
