/// The times, curves and thresholds of the button's animations, in seconds and fractions (IFTTT dossier 4.5 and
/// `connect-button-motion.md`). No step waits for them: a step ends when its work ends (W4).
struct ConnectButtonMotion: Sendable, Hashable, Encodable {
    let change = 0.4
    let emailMorph = 0.5
    let pulse = 1.2
    let pulseOpacity = 0.4
    let pressOpacity = 0.8
    let pressDelay = 0.1
    /// How long the pressed state takes to appear.
    let highlight = 0.1
    /// The duration of a quick tap's flash, in and out.
    let press = 0.15
    /// A finger that moved this far, in points, drags or scrolls instead of tapping.
    let slop = 10.0
    let shakeDistance = 10.0
    let shakeOut = 0.1
    let shakeMass = 1.0
    let shakeStiffness = 1000.0
    let shakeDamping = 7.0
    /// How long a shake takes; what is left then is less than a twentieth of a point.
    let shakeEnd = 1.7
    let ring = 0.4
    let dot = 0.75
    let tick = 0.3
    /// How long the check mark stays before the knob glides to its end.
    let checkHold = 0.45
    /// How long a progress bar takes for its full length.
    let progress = 1.5
    /// How long a sentence stays readable before the page is left.
    let readable = 1.0
    /// The frequency of a released knob's spring, times its duration: a thousandth of the way is left at its end.
    let releaseSpring = 9.2
    let easeInOut = TimingCurve(0.42, 0, 0.58, 1)
    let easeIn = TimingCurve(0.42, 0, 1, 1)
    let easeOut = TimingCurve(0, 0, 0.58, 1)
    /// Turning on: a release reverses when faster back than this, in widths a second …
    let lightBackVelocity = 0.1
    /// … or, slower than this either way, …
    let lightStillVelocity = 0.05
    /// … before this part of the way.
    let lightPart = 0.4
    /// Turning off: a release reverses before this part, at whatever speed.
    let heavyPart = 0.5

    /// The standard times.
    static let standard = ConnectButtonMotion()
}
