#if Server && Sandbox
import Crypto
import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import OAuth
import Synchronization

/// The app's users and their sessions, which last beyond a restart: they are in a file beside the accounts.
///
/// The file has digests of the sessions' cookies, so that a reader of it cannot log in. It is read once: one process uses it. An app of
/// your own has its sessions in its database.
///
/// A class, since requests share it.
final class Members: Sendable {
    /// The password of all users of this sample. An app of your own stores hashes.
    static let password = "analytical-engine"

    private static let names: Set<String> = ["ada", "grace"]
    private static let cookie = "session"
    /// Seconds after which a session has ended.
    private static let lifetime = 30.0 * 86_400
    private static let maximum = 1000

    /// A user's session.
    private struct Session: Codable {
        let name: String
        /// Seconds since 1970.
        let started: Double
    }

    private let file: String
    /// By the digest of the cookie's value.
    private let sessions: Mutex<[String: Session]>

    /// - Parameter folder: where the file with the sessions is. What cannot be read is no session: the users log in again.
    init(in folder: String) {
        file = folder + "/sessions.json"
        let stored = FileManager.default.contents(atPath: file)
        let known = stored.flatMap { try? JSONDecoder().decode([String: Session].self, from: $0) } ?? [:]
        sessions = Mutex(known.filter { Self.isCurrent($0.value) })
    }

    private static func isCurrent(_ session: Session) -> Bool {
        (0..<lifetime).contains(TimeSource.system.now() - session.started) && names.contains(session.name)
    }

    private static func digest(_ value: String) -> String {
        Base64URL.encode(SHA256.hash(data: Array(value.utf8)))
    }

    /// The user of a request; nil when none is logged in.
    func user(of request: Request) -> String? {
        let session = request.cookies[Self.cookie].flatMap { cookie in
            sessions.withLock { $0[Self.digest(cookie.value)] }
        }
        return session.flatMap { Self.isCurrent($0) ? $0.name : nil }
    }

    /// Starts a session; nil for another name or password.
    func logIn(_ name: String, password: String) -> Cookie? {
        guard Self.names.contains(name), Secret(password).matches(Secret(Self.password)) else { return nil }
        let id = Base64URL.encode(RandomSource.system.bytes(32))
        change { sessions in
            sessions = sessions.filter { Self.isCurrent($0.value) }
            if sessions.count >= Self.maximum { sessions.removeAll() }
            sessions[Self.digest(id)] = Session(name: name, started: TimeSource.system.now())
        }
        // Lax: with Strict, the browser would not send it with the redirect from a service.
        return Cookie(
            name: Self.cookie, value: id, maxAge: Int(Self.lifetime), path: "/", httpOnly: true, sameSite: .lax)
    }

    /// A `Set-Cookie` that removes the cookie from a browser.
    static let noCookie = "\(cookie)=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"

    /// Ends all sessions of these users.
    func logOut(_ users: Set<String>) {
        change { $0 = $0.filter { !users.contains($0.value.name) } }
    }

    /// Ends the session of a request.
    func logOut(_ request: Request) {
        guard let cookie = request.cookies[Self.cookie] else { return }
        change { $0[Self.digest(cookie.value)] = nil }
    }

    /// Changes the sessions and their file, in one order.
    private func change(_ body: (inout [String: Session]) -> Void) {
        sessions.withLock { sessions in
            body(&sessions)
            guard !store(sessions) else { return }
            // The old file has sessions that ended since: a restart would bring them back.
            if (try? FileManager.default.removeItem(atPath: file)) == nil { truncate(file, 0) }
            let problem = "The log-ins could not be stored; users log in again after a restart"
            FileHandle.standardError.write(Data("ConnectedAccounts: \(problem)\n".utf8))
        }
    }

    /// Replaces the file, which is for the app's own user alone; a reader sees the old one or the new one.
    private func store(_ sessions: [String: Session]) -> Bool {
        guard let content = try? JSONEncoder().encode(sessions) else { return false }
        let new = file + ".new"
        try? FileManager.default.removeItem(atPath: new)
        let isWritten = FileManager.default.createFile(
            atPath: new, contents: content, attributes: [.posixPermissions: 0o600])
        return isWritten && rename(new, file) == 0
    }
}
#endif
