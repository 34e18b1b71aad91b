#if Sandbox
import Synchronization

/// The session of a browser.
package struct BrowserSession: Sendable {
    /// The anti-forgery token of this browser's forms.
    package let formToken = RandomText.base64URL(bytes: 18)
    /// Nil until a user has signed in.
    package var user: SandboxUser?
    package var authenticatedAt: Double = 0
    /// Targets for which the user has signed in again, so that `prompt=login` prompts only once.
    var renewedFor: Set<String> = []
    /// The clients that the user has signed in to in this browser, by identifier, with the `sid` of each.
    package var signedInClients: [(id: String, sessionID: String)] = []
}

extension AuthorizationServer {
    /// The name of the session cookie; it holds name and port, since cookies of one host are shared by all its ports.
    var cookieName: String {
        let port = root.split(separator: ":").last ?? ""
        return "sandbox_\(dialect.name.rawValue)_\(port)" + prefix.replacing("/", with: "_")
    }

    /// The session of a request, or a new one.
    package func session(of request: IncomingRequest) -> (id: String, session: BrowserSession, isNew: Bool) {
        if let id = request.cookie(cookieName), let session = state.withLock({ $0.sessions[id] }) {
            return (id, session, false)
        }
        let id = RandomText.base64URL(bytes: 24)
        let session = BrowserSession()
        state.withLock { $0.sessions[id] = session }
        return (id, session, true)
    }

    /// Replaces the session by a signed-in one with a new identifier, against session fixation.
    func signIn(_ user: SandboxUser, replacing oldID: String, for target: String) -> String {
        let id = RandomText.base64URL(bytes: 24)
        state.withLock { state in
            var session = BrowserSession()
            session.user = user
            session.authenticatedAt = clock.now
            session.renewedFor = [target]
            // The same user's apps are still signed in to; another user's are none of theirs.
            if let old = state.sessions[oldID], old.user?.subject == user.subject {
                session.signedInClients = old.signedInClients
            }
            state.sessions[oldID] = nil
            state.sessions[id] = session
        }
        return id
    }

    package func endSession(_ id: String) {
        state.withLock { $0.sessions[id] = nil }
    }

    /// The `sid` of a sign-in to a client: one for each browser and client (OpenID Connect Front-Channel Logout section 3).
    ///
    /// - Parameter browser: the browser's session; nil for a sign-in without one, which gets a `sid` of its own.
    func sessionID(of client: String, in browser: String?) -> String {
        let new = RandomText.base64URL(bytes: 12)
        guard let browser else { return new }
        return state.withLock { state in
            guard var session = state.sessions[browser] else { return new }
            if let known = session.signedInClients.first(where: { $0.id == client }) { return known.sessionID }
            session.signedInClients.append((client, new))
            state.sessions[browser] = session
            return new
        }
    }

    /// Ends the effect of a repeated sign-in after its use.
    func forgetRenewal(of id: String, for target: String) {
        state.withLock { _ = $0.sessions[id]?.renewedFor.remove(target) }
    }

    /// The `Set-Cookie` value for a session; with `isKept` it outlives the browser by 30 days.
    func cookie(_ id: String, isKept: Bool = false) -> String {
        IncomingRequest.sessionCookie(cookieName, id, isKept: isKept)
    }
}
#endif
