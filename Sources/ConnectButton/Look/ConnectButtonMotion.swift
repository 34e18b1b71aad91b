/// The button's animations: seconds, fractions and curves of the IFTTT dossier 4.5. No step waits for them: a step ends when
/// its work ends (W4).
struct ConnectButtonMotion: Sendable, Hashable, Encodable {
    let change = 0.4
    let emailMorph = 0.5
    /// How long the knob takes to fade after the confirm button has appeared.
    let morphTail = 0.25
    /// The fraction from which the knob becomes square and loses its icon.
    let emailSquareFrom = 0.25
    /// The fraction from which the field and the confirm button fade in.
    let emailFieldsFrom = 0.7
    /// The fraction from which the new label fades in; the old one fades out from 0.
    let labelInFrom = 0.5
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
    let dragLeast = 0.001
    let dragMost = 0.999
    let shakeDistance = 10.0
    let shakeOut = 0.1
    let shakeMass = 1.0
    let shakeStiffness = 1000.0
    let shakeDamping = 7.0
    let ring = 0.4
    let dot = 0.75
    let tick = 0.3
    /// How long the check mark stays before the knob glides to its end.
    let checkHold = 0.45
    /// How long a progress bar takes for its full length.
    let progress = 1.5
    /// How long a sentence stays readable before the page is left.
    let readable = 1.0
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
