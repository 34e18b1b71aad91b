#if Sandbox
import HTTPTypes
import SandboxCore

/// The browsers at IFTTT's site: cookies, sign-in, forms (IFTTT Connect dossier, section 11.3).
struct Browsers: Sendable {
    let store: Store

    /// The name of the cookie; it holds the port, since cookies of one host are shared by all its ports.
    private var cookieName: String {
        "sandbox_ifttt_web_\(store.origin.split(separator: ":").last ?? "")"
    }

    /// The session of a browser that has been here.
    func known(_ request: IncomingRequest) -> (id: String, session: WebSession)? {
        guard let id = request.cookie(cookieName), let session = store.read({ $0.web.sessions[id] }) else {
            return nil
        }
        return (id, session)
    }

    /// The session of a request, or a new one with the cookie that the answer must keep.
    func session(of request: IncomingRequest) -> (id: String, session: WebSession, cookie: String?) {
        if let (id, session) = known(request) { return (id, session, nil) }
        let session = WebSession()
        let id = RandomText.base64URL(bytes: 24)
        store.change { $0.web.add(session, id: id) }
        return (id, session, cookie(id))
    }

    /// Replaces the session by a signed-in one; the identifier changes, against session fixation.
    func signIn(_ login: String, replacing oldID: String) -> (id: String, cookie: String) {
        let id = RandomText.base64URL(bytes: 24)
        var session = WebSession()
        session.login = login
        let signedIn = session
        store.change { state in
            state.web.endSession(oldID)
            state.web.add(signedIn, id: id)
            state.web.moveAttempts(from: oldID, to: id)
        }
        return (id, cookie(id))
    }

    func signOut(_ id: String) {
        store.change { $0.web.endSession(id) }
    }

    func keeping(_ cookie: String?, _ answer: Answer) -> Answer {
        cookie.map { answer.adding(.setCookie, $0) } ?? answer
    }

    private func cookie(_ id: String) -> String {
        IncomingRequest.sessionCookie(cookieName, id)
    }
}
#endif
