#if CommandLine
import Handshake
import Nearby

/// What shows the events of a watch: the terminal's lines, or the companion's page.
protocol NearbySink: Sendable {
    func note(_ update: NearbyUpdate)
    func note(_ event: RadioWatchEvent)
    /// The watch that begins sends nothing about the user.
    func noteSilence()
    /// The service rejects the account.
    func note(signInEnded error: HandshakeError)
    /// A circle's tables could not be fetched.
    func note(circleFailed error: NearbyError)
    /// A wave was answered.
    func show(_ wave: MutualWave)
}

extension NearbySink {
    // Who watches in a terminal has not asked for more.
    func noteSilence() {}
}
#endif
