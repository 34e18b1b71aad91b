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
    /// The anti-forgery token: only this user's page can read an answer to this user.
    let token: String
    /// Until when a process is at work on what the activation has asked for, in seconds since 1970.
    var lease: Double?
    var deadline: Due?
    /// When IFTTT was asked last, in seconds since 1970.
    var lookedAt: Double = 0
    /// When the user did something last, in seconds since 1970.
    var touchedAt: Double
    /// The page on which the user did something last: only there the email address is asked for, and only it is sent on.
    var page: String?
    /// Where that page is to send the user; it is handed out once. It carries a one-time code.
    var destination: String?
    /// The revision with which what is under way began: whoever saw that or a later one may cancel it.
    var underwaySince: Int?
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
    /// - Returns: nil for one of another version, which is then begun again: what counts is at IFTTT.
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
        if before.step.isResting { underwaySince = revision }
    }

    /// Whether a message about this revision may end what is under way.
    func mayInterrupt(_ revision: Int) -> Bool {
        underwaySince.map { ($0...self.revision).contains(revision) } ?? false
    }

    /// Whether the user is asked for an address on another page than this one.
    func asksForEmail(elsewhereThan page: String?) -> Bool {
        guard case .enteringEmail = activation.state else { return false }
        return page == nil || page != self.page
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
    ///   - page: which page; nil for one that has none of its own.
    ///   - locale: the locale of the page.
    ///   - now: seconds since 1970.
    ///   - open: where the user is to go.
    ///   - setUp: where a pending connection is configured.
    func answer(
        to page: String?, in locale: ConnectButtonLocale, now: Double, open: String? = nil, setUp: String? = nil
    ) -> ConnectButtonAnswer {
        let remaining = deadline.flatMap { due in
            due.deadline.name == .undo ? min(max(due.at - now, 0), due.seconds ?? .infinity) : nil
        }
        var shown = activation
        // An address is typed on one page: the others show what they can still do.
        if asksForEmail(elsewhereThan: page) { _ = shown.handle(.cancel) }
        var state = ConnectButtonState(shown, undoRemaining: remaining)
        if state.step == .pending { state.setUpURL = setUp.flatMap { URL(string: $0) } }
        // What IFTTT does with the account once the user is there, nobody knows here.
        if state.step == .goingToService, destination == nil, open == nil { state.email = nil }
        var answer = ConnectButtonAnswer(
            state, in: locale, revision: revision, token: token, open: open.flatMap { URL(string: $0) })
        answer.canOpen = destination != nil && page != nil && page == self.page
        return answer
    }
}

extension ConnectButtonState.Step {
    /// Whether nothing is under way that a user could cancel.
    fileprivate var isResting: Bool {
        switch self {
        case .hidden, .loading, .loadingFailed, .connect, .connected, .pending, .disconnected: true
        default: false
        }
    }
}
#endif
