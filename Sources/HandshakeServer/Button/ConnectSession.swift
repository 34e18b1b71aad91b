import ConnectButton
import Handshake
import IFTTTConnect
import OAuth

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a server keeps of one user and one connection: the activation and what a page needs of it. It rests sealed in
/// the vault, where every process finds it.
struct ConnectSession: Sendable, Codable {
    var version = 1
    var activation: ConnectActivation
    /// Counts the changes that a page can see.
    var revision = 1
    /// The anti-forgery token: whoever can read an answer of this user's is this user's page.
    let token: String
    /// Where the user was sent last, to be opened again on demand. It carries the attempt's state and perhaps a code, and
    /// never the identifier of a user who is counted.
    var destination: String?
    /// Until when somebody is at work on what the activation has asked for, in seconds since 1970.
    var lease: Double?
    var deadline: Due?
    /// When IFTTT was asked last, in seconds since 1970.
    var lookedAt: Double = 0
    /// When the user did something last, in seconds since 1970.
    var touchedAt: Double
    /// The digest of a user token that IFTTT has refused, so that it is not tried again.
    var refusedToken: String?

    struct Due: Sendable, Codable, Equatable {
        let deadline: ConnectActivation.Deadline
        /// Seconds since 1970.
        let at: Double
    }

    init(_ activation: ConnectActivation, token: String, now: Double) {
        self.activation = activation
        self.token = token
        touchedAt = now
    }

    /// Reads a record.
    ///
    /// - Returns: nil for one of another version, which is then begun anew: what counts is at IFTTT.
    init?(stored bytes: [UInt8]) {
        guard let session = try? JSONDecoder().decode(ConnectSession.self, from: Data(bytes)), session.version == 1
        else { return nil }
        self = session
    }

    func stored() throws -> [UInt8] {
        Array(try JSONEncoder().encode(self))
    }

    /// Whether the activation waits for an answer that some process has to bring.
    var isWaiting: Bool {
        switch activation.state {
        case .loading, .verifying, .creatingAccount, .connecting, .disconnecting: true
        default: false
        }
    }

    /// Whether whoever was at work on it has died. One that was taken in the future is of a clock that was set back.
    func isOrphaned(now: Double) -> Bool {
        guard isWaiting else { return false }
        guard let lease else { return true }
        return now > lease || lease > now + 2 * ConnectSessions.lease
    }

    /// Whether the time of a deadline has come. A clock may wake a moment early.
    func isDue(now: Double) -> Bool {
        deadline.map { now >= $0.at - 0.05 } ?? false
    }

    /// What a page is told.
    ///
    /// - Parameters:
    ///   - locale: the locale of the page.
    ///   - now: seconds since 1970.
    ///   - open: where the user is to go.
    func answer(in locale: ConnectButtonLocale, now: Double, open: String? = nil) -> ConnectButtonAnswer {
        let remaining = deadline.flatMap { $0.deadline.name == .undo ? max($0.at - now, 0) : nil }
        return ConnectButtonAnswer(
            ConnectButtonState(activation, undoRemaining: remaining), in: locale, revision: revision, token: token,
            open: open.flatMap { URL(string: $0) })
    }
}
