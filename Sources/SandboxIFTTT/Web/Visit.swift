#if Sandbox
public import SandboxCore

extension Sandbox {
    /// Accepts every step of IFTTT's web flow as the user.
    ///
    /// It goes through the same checks as the pages, without HTTP, faults or request log: the user opens the mail,
    /// signs in to the partner, consents, and takes the configuration that the fixtures have.
    ///
    /// - Parameters:
    ///   - url: an address at which the web flow begins.
    ///   - userName: the e-mail address of the user at the partner, used when the URL names none; nil for
    ///     the first one.
    /// - Returns: the redirect URL exactly as the browser would get it.
    /// - Throws: ``SandboxError``, among others when the browser would have been shown an error page.
    public func activate(_ url: String, as userName: String? = nil) async throws -> String {
        let store = standIn(IFTTTStandIn.self).store
        let visit = try Visit(store: store, url: url)
        return try visit.redirect(as: userName, users: store.partnerServer.dialect.users)
    }
}

/// One attempt in the web flow without its pages (IFTTT Connect dossier, section 11.3).
private struct Visit {
    let store: Store
    let attempt: Attempt

    private var flow: Flow { Flow(store: store) }

    /// Steps 1 and 2.
    init(store: Store, url: String) throws(SandboxError) {
        self.store = store
        let entrances: [(String, FlowRequest.Entrance)] = [
            ("/access/api/", .sdk), ("/connect/", .publicURL), ("/app/connections/", .app),
        ]
        let found = entrances.first { url.hasPrefix(store.origin + $0.0) }
        guard let (path, entrance) = found else { throw .notOurs(url: url) }
        var request = IncomingRequest(method: "GET", target: String(url.dropFirst(store.origin.count)))
        request.variables["id"] = String(request.path.dropFirst(path.count))
        let now = store.now
        let visited = request
        let parsed = store.read { state in
            Result { () throws(FlowRequest.Refusal) in
                try FlowRequest(visited, entrance, in: state, now: now)
            }
        }
        switch parsed {
        case .success(let begun):
            attempt = Flow(store: store).begin(
                begun, sessionID: RandomText.base64URL(bytes: 24), cookieLogin: nil)
        case .failure(let refusal): throw .pageInsteadOfRedirect(status: 400, text: refusal.detail)
        }
    }

    /// Steps 2 to 6.
    func redirect(as userName: String?, users: [SandboxUser]) throws(SandboxError) -> String {
        let named = users.first { $0.name == (userName ?? attempt.hint?.text) } ?? (userName == nil ? users.first : nil)
        guard let user = named else { throw .unknownUser(name: userName ?? "", known: users.map(\.name)) }
        identify(user)
        flow.tryCode(attempt.id)
        if step == .partner { flow.link(user, to: attempt.id) }
        let token = flow.finish(attempt.id, features: attempt.skipsConfiguration ? [] : features())
        guard let token, let returnURL = attempt.returnURL else {
            throw .pageInsteadOfRedirect(status: 200, text: "The flow stands at \(step.map { "\($0)" } ?? "no page").")
        }
        return returnURL.adding(Flow.Outcome.complete.items(token: attempt.deliversToken ? token : nil))
    }

    private var step: Attempt.Step? {
        store.read { state in state.web.attempts[attempt.id]?.step(in: state) }
    }

    /// Opens the mail, or signs in; and consents.
    private func identify(_ user: SandboxUser) {
        store.change { state in
            guard var attempt = state.web.attempts[attempt.id] else { return }
            let hinted = attempt.hint.flatMap { state.account(email: $0.text) ?? state.account(login: $0.text) }
            attempt.login = attempt.login ?? (hinted ?? state.account(email: user.name))?.login
            attempt.isIdentityConfirmed = true
            attempt.consents = Set(attempt.connection.serviceIDs)
            state.web.set(attempt)
        }
    }

    /// What the fixtures have for the connection, with identifiers of its own.
    private func features() -> [UserFeature] {
        let fixture = UserConnectionFixtures.all.first { key, own in
            key.connectionID == attempt.connection.id && !own.isPending
        }
        return store.change { state in
            (fixture?.value.features ?? []).map { feature in
                UserFeature(
                    id: state.identifiers.uuid(), featureID: feature.featureID, isEnabled: feature.isEnabled,
                    fields: feature.fields,
                    capabilities: feature.capabilities.map {
                        UserCapability(
                            id: state.identifiers.uuid(), capabilityID: $0.capabilityID, kind: $0.kind,
                            fields: $0.fields)
                    })
            }
        }
    }
}
#endif
