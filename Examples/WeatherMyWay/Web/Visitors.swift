#if Server && Sandbox
import Foundation
import Handshake
import Hummingbird
import OAuth
import Sequencing
import Synchronization

/// What the app knows of a browser: the chosen file and place, what the chains found, and an import.
struct Visit: Sendable {
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
    private let visits = Mutex<[String: Visit]>([:])

    /// The session of a request; nil when it has none.
    func session(of request: Request) -> String? {
        guard let value = request.cookies[Self.cookie]?.value else { return nil }
        return visits.withLock { $0[value] == nil ? nil : value }
    }

    /// Starts a session.
    func begin() -> Cookie {
        let id = Base64URL.encode(RandomSource.system.bytes(32))
        visits.withLock { visits in
            if visits.count >= Self.capacity { visits.removeAll() }
            visits[id] = Visit()
        }
        // Lax: with Strict, the browser would not send it with the redirect from Sequencing.com.
        return Cookie(name: Self.cookie, value: id, path: "/", httpOnly: true, sameSite: .lax)
    }

    func visit(_ session: String) -> Visit { visits.withLock { $0[session] ?? Visit() } }

    /// Changes what is known of a browser; nothing when its session has ended.
    func change(_ session: String, _ body: (inout Visit) -> Void) {
        visits.withLock { visits in
            guard var visit = visits[session] else { return }
            body(&visit)
            visits[session] = visit
        }
    }

    func end(_ session: String) {
        visits.withLock { $0[session] = nil }
    }
}
#endif
