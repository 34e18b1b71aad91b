#if Server && Sandbox
import Foundation
import Handshake
import Hummingbird
import OAuth
import Sequencing
import Synchronization

/// What the app knows of a browser: the chosen file and place, what the chains found, and an import.
struct Visit: Sendable {
    /// Counts visits. Signing in begins another one, so that a user sees nothing of the user before.
    let number: Int
    /// What the browser shows beside its session's identifier, once a user has signed in.
    var proof: String?
    var file: RememberedFile?
    var place: String?
    /// What the chains found in the user's files, as far as they have answered.
    var genes: [FileID: Genes] = [:]
    /// The questions to the chains that wait for their answers, by the files that they are about.
    var asking: [FileID: Task<Genes, any Error>] = [:]
    var importing = ImportProgress.none
    /// How many requests for imports have begun, and which of them is shown. An earlier one does not replace a later one.
    var attempts = (begun: 0, shown: 0)
    /// The waits for imports' files, by the imports' keys.
    var waits: [String: Task<Void, Never>] = [:]
    /// The files of imports that ended while a later one was shown.
    var arrived: [GeneticFile] = []
    /// The same where nothing shows which of several files is the import's: the files of each such import.
    var uncertain: [[GeneticFile]] = []
    /// Who has signed in; nil when the service did not say.
    var subject: String?
    /// How many sign-ins have ended of which it is not known yet whose they are.
    var newSignIns = 0
    /// Whether some of them overlap: the order in which the service says who it is says nothing then.
    var isContested = false
    /// Whether pages may see it. While it is not known who has signed in, they see an empty one.
    var isKnown: Bool { number > 0 && newSignIns == 0 }

    /// The chosen file, as far as pages show it.
    struct RememberedFile: Sendable {
        let id: FileID
        let name: String
    }
}

/// The browsers, each with a session of its own. Signing in at Sequencing.com is the app's log-in, so a session's identifier
/// is the name of its account in the vault.
///
/// A class, since requests share it.
final class Visitors: Sendable {
    private static let capacity = 1000
    private let isSecure: Bool
    private let state = Mutex(State())

    /// - Parameter isSecure: whether the app is at an https address, so that its cookies are sent to no other.
    init(isSecure: Bool = false) {
        self.isSecure = isSecure
    }

    private struct State {
        var visits: [String: Visit] = [:]
        var count = 0

        mutating func begin(_ session: String) {
            count += 1
            let proof = visits[session]?.proof
            end(session)
            visits[session] = Visit(number: count, proof: proof)
        }

        mutating func end(_ session: String) {
            guard let ended = visits.removeValue(forKey: session) else { return }
            for wait in ended.waits.values { wait.cancel() }
        }
    }

    /// The session of a request; nil when it has none, or not the proof that it needs since a user has signed in.
    func session(of request: Request) -> String? {
        guard let session = request.cookies[name("session")]?.value else { return nil }
        let proof = request.cookies[name("session-proof")]?.value
        return state.withLock { state in
            guard let visit = state.visits[session], visit.proof == nil || visit.proof == proof else { return nil }
            return session
        }
    }

    /// Starts a session. With too many of them, the oldest ends.
    func begin() -> Cookie {
        cookie("session", start())
    }

    /// Starts a session, and returns its identifier.
    ///
    /// With too many of them, one ends: the oldest in which no user has signed in, if there is one.
    func start() -> String {
        let id = Self.random()
        state.withLock { state in
            if state.visits.count >= Self.capacity {
                let visits = state.visits.filter { $0.value.proof == nil }
                let oldest = (visits.isEmpty ? state.visits : visits).min { $0.value.number < $1.value.number }
                if let oldest { state.end(oldest.key) }
            }
            state.begin(id)
        }
        return id
    }

    /// Demands another cookie beside a session's identifier, now that a user has signed in.
    ///
    /// The identifier is older than the sign-in: an attacker may have planted it in the browser.
    func prove(_ session: String) -> Cookie {
        let proof = Self.random()
        change(session) { $0.proof = proof }
        return cookie("session-proof", proof)
    }

    private static func random() -> String { Base64URL.encode(RandomSource.system.bytes(32)) }

    private func cookie(_ word: String, _ value: String) -> Cookie {
        // Lax: with Strict, the browser would not send it with the redirect from Sequencing.com.
        Cookie(name: name(word), value: value, path: "/", secure: isSecure, httpOnly: true, sameSite: .lax)
    }

    private func name(_ word: String) -> String { isSecure ? "__Host-\(word)" : word }

    /// Forgets what is known of a browser in which a user has signed in, unless it is the same user.
    ///
    /// Another user's imports do not become this user's. Where two sign in at the same time, it is not known which import is whose: neither
    /// user's is kept.
    func restart(_ session: String, _ account: Account?, in vault: any Vault) async {
        change(session) { visit in
            visit.newSignIns += 1
            visit.isContested = visit.isContested || visit.newSignIns > 1
        }
        let answer = try? await account?.identity().subject
        let subject = state.withLock { $0.visits[session]?.isContested == true ? nil : answer }
        let isSame = state.withLock { subject != nil && $0.visits[session]?.subject == subject }
        if !isSame, let account { await Self.forgetUnfinished(account.id, in: vault) }
        state.withLock { state in
            guard let earlier = state.visits[session] else { return }
            let subject = earlier.isContested ? nil : subject
            if subject == nil || earlier.subject != subject { state.begin(session) }
            state.visits[session]?.subject = subject
            state.visits[session]?.newSignIns = earlier.newSignIns - 1
            state.visits[session]?.isContested = earlier.isContested && earlier.newSignIns > 1
        }
    }

    /// Forgets what an account has not finished at the service. The next user of this browser has the same account's name.
    static func forgetUnfinished(_ account: AccountID, in vault: any Vault) async {
        try? await UnfinishedImports.forget(account, in: vault)
        try? await UnfinishedJobs.forget(account, in: vault)
    }

    /// What pages may see of a browser's visit.
    func visit(_ session: String) -> Visit {
        state.withLock { $0.visits[session].flatMap { $0.isKnown ? $0 : nil } ?? Visit(number: 0) }
    }

    /// Changes what is known of a browser; nothing when its session has ended.
    func change(_ session: String, _ body: (inout Visit) -> Void) {
        state.withLock { state in
            guard var visit = state.visits[session] else { return }
            body(&visit)
            state.visits[session] = visit
        }
    }

    func end(_ session: String) {
        state.withLock { $0.end(session) }
    }

    /// Ends the session that a request names, whatever proof it shows, and returns its identifier.
    func endSession(named request: Request) -> String? {
        guard let session = request.cookies[name("session")]?.value else { return nil }
        end(session)
        return session
    }
}
#endif
