#if Sandbox
import HTTPTypes

/// The pages between an authorization request and its redirect: sign-in, consent, and errors.
package struct AuthorizationEndpoint: Sendable {
    package let server: AuthorizationServer
    package let pages: Pages

    /// `form_id` of the consent form (Sequencing dossier, section 1.2).
    static let consentForm = "oauth2_server_authorize_form"
    static let signInForm = "sandbox_sign_in_form"
    /// The value of `op` that changes the account.
    static let switchAccount = "Sign in as another user"

    package init(server: AuthorizationServer) {
        self.server = server
        pages = Pages(dialect: server.dialect)
    }

    /// `GET`: the next page, or a redirect.
    package func show(_ request: IncomingRequest) -> Answer {
        answering(request) { authorization in
            if let answer = headlessAnswer(request, authorization) { return answer }
            let (id, session, isNew) = server.session(of: request)
            guard let user = session.user, !needsSignIn(session, for: authorization) else {
                if authorization.prompt.contains("none") { return refused(authorization, "login_required") }
                let page = pages.signIn(authorization, formToken: session.formToken)
                return isNew ? page.adding(.setCookie, server.cookie(id)) : page
            }
            if authorization.prompt.contains("none") { return refused(authorization, "consent_required") }
            return pages.consent(authorization, user: user, formToken: session.formToken)
        }
    }

    /// `POST`: one of the two forms.
    package func submit(_ request: IncomingRequest) -> Answer {
        answering(request) { authorization in
            let (id, session, isNew) = server.session(of: request)
            guard !isNew, request.form["form_token"] == session.formToken else {
                let problem = SignInProblem.staleForm
                let page = pages.signIn(authorization, formToken: session.formToken, problem: problem)
                return isNew ? page.adding(.setCookie, server.cookie(id)) : page
            }
            if request.form["form_id"] == Self.signInForm {
                return signIn(request, authorization, sessionID: id, formToken: session.formToken)
            }
            return decide(request, authorization, sessionID: id, session: session)
        }
    }

    /// The redirect after the user consents.
    func approved(
        _ authorization: PendingAuthorization, by user: SandboxUser, authenticatedAt: Double, in browser: String? = nil
    ) -> String {
        let code = server.issueCode(for: authorization, user: user, authenticatedAt: authenticatedAt, in: browser)
        return response(to: authorization, [("code", code)])
    }

    /// The redirect after the user refuses.
    func denied(_ authorization: PendingAuthorization) -> String {
        server.forgetPushed(authorization.target)
        return response(to: authorization, server.dialect.denial)
    }

    private func response(to authorization: PendingAuthorization, _ members: [(name: String, value: String)]) -> String
    {
        server.response(
            to: authorization.redirectURI, state: authorization.state, members,
            signedFor: authorization.isResponseSigned ? authorization.client : nil)
    }

    private func answering(
        _ request: IncomingRequest, _ body: (PendingAuthorization) -> Answer
    ) -> Answer {
        do throws(AuthorizationRefusal) {
            let authorization = try server.authorizationRequest(request)
            let answer = body(authorization)
            guard authorization.isResponsePosted, let location = answer.headers[.location],
                location.hasPrefix(authorization.redirectURI)
            else { return answer }
            return pages.posting(location)
        } catch {
            switch error {
            case .page(let detail): return pages.refusal(detail)
            case .redirect(let location, let isPosted):
                return isPosted ? pages.posting(location) : .redirect(to: location)
            }
        }
    }

    private func needsSignIn(_ session: BrowserSession, for authorization: PendingAuthorization) -> Bool {
        if session.renewedFor.contains(authorization.target) { return false }
        if authorization.prompt.contains("login") || authorization.wantsStrongAuthentication { return true }
        guard let limit = authorization.maximumAge else { return false }
        return server.clock.now - session.authenticatedAt > limit
    }

    private func signIn(
        _ request: IncomingRequest, _ authorization: PendingAuthorization, sessionID: String, formToken: String
    ) -> Answer {
        let name = request.form["email"] ?? ""
        var problem: SignInProblem?
        let user = server.dialect.user(name)
        let isVouchedFor = request.form["provider"].map(server.dialect.elsewhere.providers.contains) ?? false
        if isVouchedFor, user != nil {
            // The other service has checked password and code.
        } else if user == nil || user?.password != request.form["password"] {
            problem = .wrongPassword
        } else if let code = user?.oneTimeCode, code != request.form["tfa"] {
            problem = .wrongTwoFactorCode
        }
        guard let user, problem == nil else {
            return pages.signIn(authorization, formToken: formToken, name: name, problem: problem)
        }
        let id = server.signIn(user, replacing: sessionID, for: request.target)
        return .redirect(to: request.target, status: 303)
            .adding(.setCookie, server.cookie(id, isKept: request.form["remember"] != nil))
    }

    private func decide(
        _ request: IncomingRequest, _ authorization: PendingAuthorization, sessionID: String, session: BrowserSession
    ) -> Answer {
        if request.form["op"] == Self.switchAccount {
            server.endSession(sessionID)
            return .redirect(to: request.target, status: 303)
        }
        guard let user = session.user, !needsSignIn(session, for: authorization) else {
            return pages.signIn(authorization, formToken: session.formToken)
        }
        switch request.form["op"] {
        case server.dialect.wording.allow:
            server.forgetRenewal(of: sessionID, for: request.target)
            return finished(authorization, by: user, authenticatedAt: session.authenticatedAt, in: sessionID)
        case server.dialect.wording.refuse:
            server.forgetRenewal(of: sessionID, for: request.target)
            return .redirect(to: denied(authorization))
        default:
            return pages.consent(authorization, user: user, formToken: session.formToken)
        }
    }

    private func finished(
        _ authorization: PendingAuthorization, by user: SandboxUser, authenticatedAt: Double, in browser: String? = nil
    ) -> Answer {
        guard authorization.redirectURI == PendingAuthorization.outOfBand else {
            return .redirect(to: approved(authorization, by: user, authenticatedAt: authenticatedAt, in: browser))
        }
        let code = server.issueCode(for: authorization, user: user, authenticatedAt: authenticatedAt, in: browser)
        return pages.code(code, for: authorization)
    }

    /// `?as=PERSON_ID` and `?deny=1` (Recurse Center dossier, section 6).
    private func headlessAnswer(_ request: IncomingRequest, _ authorization: PendingAuthorization) -> Answer? {
        guard server.dialect.takesHeadlessAnswers else { return nil }
        if request.query["deny"] == "1" { return .redirect(to: denied(authorization)) }
        guard let subject = request.query["as"] else { return nil }
        guard let user = server.dialect.user(subject: subject) else {
            return pages.refusal("No person has this id.")
        }
        return finished(authorization, by: user, authenticatedAt: server.clock.now)
    }

    private func refused(_ authorization: PendingAuthorization, _ error: String) -> Answer {
        .redirect(to: response(to: authorization, [("error", error)]))
    }
}
#endif
