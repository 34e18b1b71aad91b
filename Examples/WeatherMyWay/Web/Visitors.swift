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
    var file: RememberedFile?
    var place: String?
    /// What the chains found in ``file``.
    var genes: Genes?
    var importing = ImportProgress.none

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
    private static let cookie = "session"
    private static let capacity = 1000
    private let state = Mutex(State())

    private struct State {
        var visits: [String: Visit] = [:]
        var count = 0

        mutating func begin(_ session: String) {
            count += 1
            visits[session] = Visit(number: count)
        }
    }

    /// The session of a request; nil when it has none.
    func session(of request: Request) -> String? {
        guard let value = request.cookies[Self.cookie]?.value else { return nil }
        return state.withLock { $0.visits[value] == nil ? nil : value }
    }

    /// Starts a session. With too many of them, the oldest ends.
    func begin() -> Cookie {
        let id = Base64URL.encode(RandomSource.system.bytes(32))
        state.withLock { state in
            if state.visits.count >= Self.capacity,
                let oldest = state.visits.min(by: { $0.value.number < $1.value.number })
            {
                state.visits[oldest.key] = nil
            }
            state.begin(id)
        }
        // Lax: with Strict, the browser would not send it with the redirect from Sequencing.com.
        return Cookie(name: Self.cookie, value: id, path: "/", httpOnly: true, sameSite: .lax)
    }

    /// Forgets what is known of a browser, in which a user has signed in.
    func restart(_ session: String) {
        state.withLock { if $0.visits[session] != nil { $0.begin(session) } }
    }

    func visit(_ session: String) -> Visit { state.withLock { $0.visits[session] ?? Visit(number: 0) } }

    /// Changes what is known of a browser; nothing when its session has ended.
    func change(_ session: String, _ body: (inout Visit) -> Void) {
        state.withLock { state in
            guard var visit = state.visits[session] else { return }
            body(&visit)
            state.visits[session] = visit
        }
    }

    func end(_ session: String) {
        state.withLock { $0.visits[session] = nil }
    }
}
#endif
