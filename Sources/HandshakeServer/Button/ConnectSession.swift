#if Server
import ConnectButton
import Crypto
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
struct ConnectSession: Sendable, Codable, Equatable {
    var version = 1
    var activation: ConnectActivation
    /// Counts the changes that a page can see.
    var revision = 1
    /// The revision before the present one, when no more than a notice has ended since: what a page says of it still counts.
    var revisionBeforeNoticeEnded: Int?
    /// The anti-forgery token: whoever can read an answer of this user's is this user's page.
    let token: String
    /// Until when somebody is at work on what the activation has asked for, in seconds since 1970.
    var lease: Double?
    var deadline: Due?
    /// When IFTTT was asked last, in seconds since 1970.
    var lookedAt: Double = 0
    /// When the user did something last, in seconds since 1970.
    var touchedAt: Double
    /// The digests of the user tokens that IFTTT has refused, the newest last, so that they are not tried again.
    var refusedTokens: [String]?

    struct Due: Sendable, Codable, Equatable {
        let deadline: ConnectActivation.Deadline
        /// Seconds since 1970.
        let at: Double
        /// How many seconds it was to last; nil in records from before that was kept.
        var seconds: Double?
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

    /// Whether nothing is under way and nothing will change by itself.
    var isResting: Bool {
        guard deadline == nil, !isWaiting else { return false }
        if case .goingToService = activation.state { return false }
        return true
    }

    /// Whether whoever was at work on it has died. One that was taken in the future is of a clock that was set back.
    func isOrphaned(now: Double) -> Bool {
        guard isWaiting else { return false }
        guard let lease else { return true }
        return now > lease || lease > now + 2 * ConnectSessions.lease
    }

    /// Whether the time of a deadline has come. A clock may wake a moment early; one that was set back until before the
    /// beginning makes nobody wait for longer than was said.
    func isDue(now: Double) -> Bool {
        guard let deadline else { return false }
        return now >= deadline.at - 0.05 || deadline.seconds.map { deadline.at - now > $0 + 1 } ?? false
    }

    /// Whether a message is about what is still so.
    func isCurrent(_ revision: Int) -> Bool {
        revision == self.revision || revision == revisionBeforeNoticeEnded
    }

    /// Notes a change that a page can see.
    ///
    /// - Parameters:
    ///   - before: what it saw before.
    ///   - isEndOfNotice: whether time alone has taken a notice away, so that the user may do what could be done before.
    mutating func noteChange(from before: ConnectButtonState, isEndOfNotice: Bool = false) {
        guard ConnectButtonState(activation) != before else { return }
        revisionBeforeNoticeEnded = isEndOfNotice ? revision : nil
        revision += 1
    }

    func hasRefused(_ token: UserToken) -> Bool {
        refusedTokens?.contains(Self.digest(token)) ?? false
    }

    /// Remembers a token that is not to be used again; eight are enough for the two that a user can have at a time.
    mutating func refuse(_ token: UserToken) {
        guard !hasRefused(token) else { return }
        refusedTokens = (refusedTokens ?? []).suffix(7) + [Self.digest(token)]
    }

    /// A token that IFTTT itself has given is good.
    mutating func welcome(_ token: UserToken) {
        refusedTokens?.removeAll { $0 == Self.digest(token) }
    }

    private static func digest(_ token: UserToken) -> String {
        Base64URL.encode(SHA256.hash(data: Array(token.secret.reveal().utf8)))
    }

    /// What a page is told.
    ///
    /// - Parameters:
    ///   - locale: the locale of the page.
    ///   - now: seconds since 1970.
    ///   - open: where the user is to go.
    func answer(in locale: ConnectButtonLocale, now: Double, open: String? = nil) -> ConnectButtonAnswer {
        let remaining = deadline.flatMap { due in
            due.deadline.name == .undo ? min(max(due.at - now, 0), due.seconds ?? .infinity) : nil
        }
        return ConnectButtonAnswer(
            ConnectButtonState(activation, undoRemaining: remaining), in: locale, revision: revision, token: token,
            open: open.flatMap { URL(string: $0) })
    }
}
#endif
