/// How the button moves: seconds, fractions and curves of the IFTTT dossier 4.5. Nothing here is a time to wait: a step ends
/// when its work ends (W4).
public struct ConnectButtonMotion: Sendable, Hashable, Encodable {
    public let change = 0.4
    public let emailMorph = 0.5
    /// How long the knob takes to fade once the confirm button has taken its place.
    public let morphTail = 0.25
    /// From where the knob squares itself towards the field and loses its icon.
    public let emailSquareFrom = 0.25
    /// From where the field and the confirm button fade in.
    public let emailFieldsFrom = 0.7
    /// The new label fades in from here; the old one fades out all the way.
    public let labelInFrom = 0.5
    public let pulse = 1.2
    public let pulseOpacity = 0.4
    public let pressOpacity = 0.8
    public let pressDelay = 0.1
    /// How long what is held takes to be seen so.
    public let highlight = 0.1
    /// How long the flash of a quick tap takes, in and out.
    public let press = 0.15
    /// A finger that moved this far, in points, drags or scrolls and no longer taps.
    public let slop = 10.0
    public let dragLeast = 0.001
    public let dragMost = 0.999
    public let shakeDistance = 10.0
    public let shakeOut = 0.1
    public let shakeMass = 1.0
    public let shakeStiffness = 1000.0
    public let shakeDamping = 7.0
    public let ring = 0.4
    public let dot = 0.75
    public let tick = 0.3
    /// How long the check mark stands still before the knob glides over.
    public let checkHold = 0.45
    /// How long a progress bar takes for its whole length.
    public let progress = 1.5
    /// How long a sentence stands before the page is left, so that it can be read.
    public let readable = 1.0
    public let easeInOut = TimingCurve(0.42, 0, 0.58, 1)
    public let easeIn = TimingCurve(0.42, 0, 1, 1)
    public let easeOut = TimingCurve(0, 0, 0.58, 1)
    /// Turning on: a release reverses when faster back than this, in widths a second …
    public let lightBackVelocity = 0.1
    /// … or, slower than this either way, …
    public let lightStillVelocity = 0.05
    /// … before this part of the way.
    public let lightPart = 0.4
    /// Turning off: a release reverses before this part, at whatever speed.
    public let heavyPart = 0.5

    /// The one set of times.
    public static let standard = ConnectButtonMotion()
}
