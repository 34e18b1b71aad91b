#if Server && Sandbox
import HTTPTypes
import Hummingbird
import OAuth
import Synchronization

/// The app's users and their sessions.
///
/// A class, since requests share it.
final class Members: Sendable {
    /// The password of all users of this sample. An app of your own stores hashes.
    static let password = "analytical-engine"

    private static let names: Set<String> = ["ada", "grace"]
    private static let cookie = "session"
    private let sessions = Mutex<[String: String]>([:])

    /// The user of a request; nil when none is logged in.
    func user(of request: Request) -> String? {
        request.cookies[Self.cookie].flatMap { cookie in sessions.withLock { $0[cookie.value] } }
    }

    /// Starts a session; nil for another name or password.
    func logIn(_ name: String, password: String) -> Cookie? {
        guard Self.names.contains(name), Secret(password).matches(Secret(Self.password)) else { return nil }
        let id = Base64URL.encode(RandomSource.system.bytes(32))
        sessions.withLock { sessions in
            if sessions.count >= 1000 { sessions.removeAll() }
            sessions[id] = name
        }
        // Lax: with Strict, the browser would not send it with the redirect from a service.
        return Cookie(name: Self.cookie, value: id, path: "/", httpOnly: true, sameSite: .lax)
    }

    /// Ends the session of a request.
    func logOut(_ request: Request) {
        guard let cookie = request.cookies[Self.cookie] else { return }
        sessions.withLock { $0[cookie.value] = nil }
    }
}
#endif
