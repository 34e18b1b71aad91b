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

/// The session of one user and one connection: the activation, and what pages need of it. Stored encrypted in the vault,
/// for all processes.
struct ConnectSession: Sendable, Codable, Equatable {
    var version = 1
    var activation: ConnectActivation
    /// Counts the changes that a page can see.
    var revision = 1
    /// The revision before the present one, when no more than a notice has ended since: what a page says of it still counts.
    var revisionBeforeNoticeEnded: Int?
    /// The anti-forgery token: only this user's page can read it.
    let token: String
    /// The end of the lease of the process that works on the session, in seconds since 1970.
    var lease: Double?
    var deadline: Due?
    /// The last request to IFTTT, in seconds since 1970.
    var lookedAt: Double = 0
    /// The user's last action, in seconds since 1970.
    var touchedAt: Double
    /// The page of the user's last action: only it asks the user something, and only it is redirected.
    var page: String?
    /// The URL to which that page sends the user; handed out once, because it carries a one-time code.
    var destination: String?
    /// The revision with which the running work began: messages about it or a later one may cancel the work.
    var underwaySince: Int?
    /// The revision about which the user decided last: a repeated message about it or an earlier one is ignored.
    var decidedAbout: Int?
    /// The digests of user tokens that IFTTT rejected, newest last, so that they are not used again.
    var refusedTokens: [String]?

    struct Due: Sendable, Codable, Equatable {
        let deadline: ConnectActivation.Deadline
        /// Seconds since 1970.
        let at: Double
        /// Its length in seconds; nil in older records.
        var seconds: Double?
    }

    init(_ activation: ConnectActivation, token: String, now: Double) {
        self.activation = activation
        self.token = token
        touchedAt = now
    }

    /// Reads a record.
    ///
    /// - Returns: nil for another version, which is started again: IFTTT has the state that counts.
    init?(stored bytes: [UInt8]) {
        guard let session = try? JSONDecoder().decode(ConnectSession.self, from: Data(bytes)), session.version == 1
        else { return nil }
        self = session
    }

    func stored() throws -> [UInt8] {
        Array(try JSONEncoder().encode(self))
    }

    /// Whether the activation waits for an answer from IFTTT or the app.
    var isWaiting: Bool {
        switch activation.state {
        case .loading, .verifying, .creatingAccount, .connecting, .disconnecting: true
        default: false
        }
    }

    /// Whether nothing is in progress and nothing will change by itself.
    var isResting: Bool {
        guard deadline == nil, !isWaiting else { return false }
        if case .goingToService = activation.state { return false }
        return true
    }

    /// Whether the process that worked on it has died. A lease that begins in the future is from a clock that was set back.
    func isOrphaned(now: Double) -> Bool {
        guard isWaiting else { return false }
        guard let lease else { return true }
        return now > lease || lease > now + 2 * ConnectSessions.lease
    }

    /// Whether a deadline has passed. A timer can fire a moment early; a clock that was set back to before the deadline's
    /// start does not extend it.
    func isDue(now: Double) -> Bool {
        guard let deadline else { return false }
        return now >= deadline.at - 0.05 || deadline.seconds.map { deadline.at - now > $0 + 1 } ?? false
    }

    /// Whether a message about this revision is still valid.
    func isCurrent(_ revision: Int) -> Bool {
        revision == self.revision || revision == revisionBeforeNoticeEnded
    }

    /// Records a change that a page can see.
    ///
    /// - Parameters:
    ///   - before: the state that the page saw before.
    ///   - isEndOfNotice: whether only a notice expired, so that the user's options are unchanged.
    mutating func noteChange(from before: ConnectButtonState, isEndOfNotice: Bool = false) {
        guard ConnectButtonState(activation) != before else { return }
        revisionBeforeNoticeEnded = isEndOfNotice ? revision : nil
        revision += 1
        if before.step.isResting { underwaySince = revision }
    }

    /// Whether a message about this revision may cancel the running work.
    func mayInterrupt(_ revision: Int) -> Bool {
        underwaySince.map { ($0...self.revision).contains(revision) } ?? false
    }

    /// Whether a message repeats what the user wanted before they last decided, on any page.
    func isSuperseded(_ message: ConnectButtonMessage) -> Bool {
        guard let since = message.since, let decidedAbout else { return false }
        return since <= decidedAbout
    }

    /// Records the user's decision about a revision. A question, which one page asks, is none yet.
    mutating func noteDecision(about revision: Int, from before: ConnectActivation.State) {
        switch activation.state {
        case before, .enteringEmail, .confirmingDisconnection: break
        default: decidedAbout = revision
        }
    }

    /// What takes back a question that another page than this one asks: for the email address, or whether to disconnect.
    func withdrawal(from page: String?) -> ConnectActivation.Event? {
        switch activation.state {
        case .enteringEmail where page == nil || page != self.page: .cancel
        case .confirmingDisconnection where page != self.page: .keepConnection
        default: nil
        }
    }

    func hasRefused(_ token: UserToken) -> Bool {
        refusedTokens?.contains(Self.digest(token)) ?? false
    }

    /// Remembers a rejected token; a user has at most two at a time, so eight are enough.
    mutating func refuse(_ token: UserToken) {
        guard !hasRefused(token) else { return }
        refusedTokens = (refusedTokens ?? []).suffix(7) + [Self.digest(token)]
    }

    /// Accepts a token that IFTTT has issued.
    mutating func welcome(_ token: UserToken) {
        refusedTokens?.removeAll { $0 == Self.digest(token) }
    }

    private static func digest(_ token: UserToken) -> String {
        Base64URL.encode(SHA256.hash(data: Array(token.secret.reveal().utf8)))
    }

    /// The answer for a page.
    ///
    /// - Parameters:
    ///   - page: the page; nil for one without an identifier.
    ///   - locale: the locale of the page.
    ///   - now: seconds since 1970.
    ///   - open: the URL to which the user goes.
    ///   - setUp: the page that configures a pending connection.
    func answer(
        to page: String?, in locale: ConnectButtonLocale, now: Double, open: String? = nil, setUp: String? = nil
    ) -> ConnectButtonAnswer {
        let remaining = deadline.flatMap { due in
            due.deadline.name == .undo ? min(max(due.at - now, 0), due.seconds ?? .infinity) : nil
        }
        var shown = activation
        // One page asks: the others show what they can still do.
        if let withdrawal = withdrawal(from: page) { _ = shown.handle(withdrawal) }
        // What the user does at IFTTT is unknown here.
        let isAway = destination == nil && open == nil
        var state = ConnectButtonState(shown, undoRemaining: remaining, isPageOpen: isAway)
        if state.step == .pending { state.setUpURL = setUp.flatMap { URL(string: $0) } }
        var answer = ConnectButtonAnswer(
            state, in: locale, revision: revision, token: token, open: open.flatMap { URL(string: $0) })
        answer.canOpen = destination != nil && page != nil && page == self.page
        return answer
    }
}

extension ConnectButtonState.Step {
    /// Whether nothing is in progress that a user could cancel.
    fileprivate var isResting: Bool {
        switch self {
        case .hidden, .loading, .loadingFailed, .connect, .connected, .pending, .disconnected: true
        default: false
        }
    }
}
#endif
