#if Sandbox
import HTTPTypes
import SandboxCore

/// The web flow and the app: where they begin, and the pages between (IFTTT Connect dossier, rows S18 and S19, sections
/// 11.3 and 11.4).
struct FlowRoutes: Sendable {
    let store: Store
    let browsers: Browsers
    let pages: FlowPages

    private var flow: Flow { Flow(store: store) }

    var routes: [Route] {
        [
            entrance("/access/api/{id}", .sdk, note: "the web flow as apps open it"),
            entrance("/connect/{id}", .publicURL, note: "the web flow by the public Connect URL"),
            entrance("/app/connections/{id}", .app, note: "the IFTTT app; action=activation, edit or view"),
            entrance("/connections/{id}/edit", .editPage, note: "change what was configured"),
            Route("GET", path: "/flow/{attempt}", note: "the page that is due", answer: show),
            Route("POST", path: "/flow/{attempt}", note: "the forms of those pages", answer: submit),
            Route(
                "GET", path: "/channels/{service}/authorize", note: "where the partner sends the browser back to",
                answer: partnerReturned),
        ]
    }

    private func entrance(_ path: String, _ entrance: FlowRequest.Entrance, note: String) -> Route {
        Route("GET", path: path, note: note) { [store, browsers, pages, flow] request in
            do throws(FlowRequest.Refusal) {
                let now = store.now
                let parsed = store.read { state in
                    Result { () throws(FlowRequest.Refusal) in
                        try FlowRequest(request, entrance, in: state, now: now)
                    }
                }
                let begun = try parsed.get()
                let (id, session, cookie) = browsers.session(of: request)
                let attempt = flow.begin(begun, sessionID: id, cookieLogin: session.login)
                if entrance == .publicURL, let code = request.query["code"] {
                    store.change { $0.provisionalCodes[code]?.isUsed = true }
                }
                return browsers.keeping(cookie, .redirect(to: "/flow/\(attempt.id)", status: 303))
            } catch {
                return pages.refusal(error.detail)
            }
        }
    }

    /// The attempt of the path, if it belongs to this browser and is not too old.
    private func attempt(_ request: IncomingRequest) -> (attempt: Attempt, session: WebSession)? {
        guard let (id, session) = browsers.known(request) else { return nil }
        let now = store.now
        let found = store.read { $0.web.attempts[request.variables["attempt"] ?? ""] }
        guard let found, found.sessionID == id, now < found.createdAt + Attempt.lifetime else { return nil }
        return (found, session)
    }

    private func show(_ request: IncomingRequest) -> Answer {
        guard let (attempt, session) = attempt(request) else { return pages.stale() }
        flow.tryCode(attempt.id)
        return page(attempt.id, session: session)
    }

    private func page(
        _ id: String, session: WebSession, form: FormParameters? = nil, problem: String? = nil
    ) -> Answer {
        let origin = store.origin
        let answer = store.read { state -> Answer? in
            guard let attempt = state.web.attempts[id] else { return nil }
            return pages.page(
                FlowPages.Scene(
                    attempt: attempt, step: attempt.step(in: state), formToken: session.formToken, origin: origin,
                    problem: problem, form: form),
                in: state)
        }
        return answer ?? pages.stale()
    }

    private func submit(_ request: IncomingRequest) -> Answer {
        guard let (attempt, session) = attempt(request), request.form["form_token"] == session.formToken else {
            return pages.stale()
        }
        let step = store.read { attempt.step(in: $0) }
        if let outcome = request.form["outcome"].flatMap(Flow.Outcome.init(rawValue:)), step != .done {
            return leave(attempt, outcome, token: nil)
        }
        let again = Answer.redirect(to: "/flow/\(attempt.id)", status: 303)
        switch (step, request.form["do"]) {
        case (_, "close"):
            change(attempt.id) { $0.isDone = true }
            return pages.closed()
        case (.signIn, "sign_in"): return signIn(request, attempt, session)
        case (.signIn, "mail"), (.checkMail, "mail"): return sendMail(attempt, session)
        case (.checkMail, "password"):
            change(attempt.id) { $0.wantsPassword = true }
            return again
        case (.identify, "yes"):
            change(attempt.id) { $0.isIdentityConfirmed = true }
            return again
        case (.identify, "other"):
            change(attempt.id) { attempt in
                attempt.login = nil
                attempt.wantsPassword = true
            }
            return again
        case (.partner, "sign_in"): return toPartner(attempt)
        case (.service(let id), "allow"):
            change(attempt.id) { _ = $0.consents.insert(id) }
            return again
        case (.configure, "save"): return configure(request, attempt, session)
        case (.review, "yes"): return finish(attempt, features: [])
        default: return again
        }
    }

    private func change(_ id: String, _ body: (inout Attempt) -> Void) {
        store.change { state in
            guard var attempt = state.web.attempts[id] else { return }
            body(&attempt)
            state.web.set(attempt)
        }
    }

    private func leave(_ attempt: Attempt, _ outcome: Flow.Outcome, token: String?) -> Answer {
        change(attempt.id) { $0.isDone = true }
        guard let url = attempt.returnURL else { return pages.closed() }
        return .redirect(to: url.adding(outcome.items(token: token)), status: 303)
    }

    private func signIn(_ request: IncomingRequest, _ attempt: Attempt, _ session: WebSession) -> Answer {
        let name = request.form["name"] ?? ""
        let account = store.read { $0.account(login: name) ?? $0.account(email: name) }
        guard let account, let password = account.password, password == request.form["password"] else {
            return page(
                attempt.id, session: session, form: request.form,
                problem: "The name or the password is not right. The ones that work are listed below.")
        }
        let (id, cookie) = browsers.signIn(account.login, replacing: attempt.sessionID)
        change(attempt.id) { attempt in
            attempt.sessionID = id
            attempt.login = account.login
            attempt.isIdentityConfirmed = true
        }
        return browsers.keeping(cookie, .redirect(to: "/flow/\(attempt.id)", status: 303))
    }

    private func sendMail(_ attempt: Attempt, _ session: WebSession) -> Answer {
        let now = store.now
        let isKnown = store.change { state -> Bool in
            guard var attempt = state.web.attempts[attempt.id], let hint = attempt.hint,
                let account = state.account(email: hint.text) ?? state.account(login: hint.text)
            else { return false }
            Flow.sendMail(&attempt, at: now, in: &state)
            attempt.wantsPassword = false
            state.web.set(attempt)
            return !account.email.isEmpty
        }
        return page(
            attempt.id, session: session,
            problem: isKnown ? "A new mail is in the mailbox." : "There is no address to send a mail to.")
    }

    private func toPartner(_ attempt: Attempt) -> Answer {
        let word = RandomText.base64URL(bytes: 18)
        change(attempt.id) { $0.partnerState = word }
        let query = FormParameters([
            ("client_id", AuthorizationServer.iftttClientID), ("response_type", "code"), ("scope", "ifttt"),
            ("state", "\(attempt.id).\(word)"),
            ("redirect_uri", "\(store.origin)/channels/\(attempt.connection.ownerID)/authorize"),
        ])
        return .redirect(to: "\(store.origin)/partner/oauth2/authorize?\(query.urlEncoded)", status: 303)
    }

    private func partnerReturned(_ request: IncomingRequest) -> Answer {
        let parts = (request.query["state"] ?? "").split(separator: ".").map(String.init)
        guard parts.count == 2, let (id, _) = browsers.known(request),
            let attempt = store.read({ $0.web.attempts[parts[0]] }), attempt.sessionID == id,
            attempt.partnerState == parts[1]
        else { return pages.stale() }
        change(attempt.id) { $0.partnerState = nil }
        if let code = request.query["code"], let user = try? store.partnerServer.redeemForIFTTT(code) {
            flow.link(user, to: attempt.id)
        } else {
            let reason = request.query["error"] ?? "invalid_grant"
            change(attempt.id) { $0.failure = "The service could not be connected: \(reason)." }
        }
        return .redirect(to: "/flow/\(attempt.id)", status: 303)
    }

    private func configure(
        _ request: IncomingRequest, _ attempt: Attempt, _ session: WebSession
    ) -> Answer {
        let stored = store.read { state in
            attempt.login.flatMap { state.userConnection($0, attempt.connection) }?.features ?? []
        }
        let form = ConfigurationForm(connection: attempt.connection, stored: stored, submitted: request.form)
        let features =
            form.hasFaults
            ? nil
            : store.change { state -> [UserFeature]? in
                var reader = UserConnectionReader(
                    attempt.connection,
                    previous: UserConnection(isEnabled: true, isPending: false, features: stored),
                    identifiers: state.identifiers)
                let features = try? reader.read(form.body)
                state.identifiers = reader.identifiers
                return features
            }
        guard let features else {
            return page(
                attempt.id, session: session, form: request.form,
                problem: "Some values are not valid. See the notes below.")
        }
        return finish(attempt, features: features + form.others)
    }

    private func finish(_ attempt: Attempt, features: [UserFeature]) -> Answer {
        guard let token = flow.finish(attempt.id, features: features) else {
            return .redirect(to: "/flow/\(attempt.id)", status: 303)
        }
        guard let url = attempt.returnURL else { return .redirect(to: "/flow/\(attempt.id)", status: 303) }
        let items = Flow.Outcome.complete.items(token: attempt.deliversToken ? token : nil)
        return .redirect(to: url.adding(items), status: 303)
    }
}
#endif
