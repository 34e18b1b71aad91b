import Logging
import OAuth

/// The steps of a sign-in, in their order.
extension Handshake {
    /// Seals a new attempt into the vault.
    ///
    /// - Parameter ownDemands: what the client itself demands of the authentication. Without an ID token only this must be
    ///   proven; nil for all that is asked for.
    func begin(
        _ client: Client, name: String, redirectURI: RedirectURI?, timeout: Duration, note: String? = nil,
        ownDemands: RequestedAuthentication? = nil
    ) async throws -> SignInAttempt {
        try client.checkRedirect(listening: redirectURI)
        let server = try await environment.server(of: client)
        let uri: RedirectURI
        switch (redirectURI, client.redirect) {
        case (let listening?, _): uri = listening
        case (nil, .uri(let registered)): uri = registered
        case (nil, .loopback):
            throw HandshakeError.configuration(
                member: "redirect",
                problem: "A loopback redirect is received by signIn(through:). Give the client a redirect URI.")
        }
        guard !client.options.responseMode.isPosted || (redirectURI == nil && uri.kind == .claimed) else {
            throw HandshakeError.configuration(
                member: "response_mode",
                problem: "form_post needs a redirect URI on a web server; use query or jwt with \(uri.string)")
        }
        // An error has to come before the user sees a page.
        _ = try client.authentication(at: server, in: environment)
        var key = try client.newDPoPKey(at: server)
        let isPushed = try client.pushes(to: server)
        let signer = try client.requestKey(at: server)
        // A proof at the push binds the code as well (RFC 9449, section 10.1).
        let newRequest = { [environment] () throws(HandshakeError) in
            try environment.authorizationRequest(
                to: server, client: client, redirectURI: uri, boundTo: isPushed ? nil : key, signedBy: signer,
                timeout: timeout)
        }
        var request = try newRequest()
        // Without a nonce no ID token comes, so nothing will say how the user was authenticated.
        if request.nonce == nil {
            let asked = ownDemands ?? request.authentication
            try environment.check(asked, in: nil, now: environment.time.now(), hiding: [])
        }
        if isPushed {
            do {
                request = try await push(request, provingBy: key, of: client)
            } catch HandshakeError.exchange(.server(let error))
                where key == nil && error.demandsProof && client.options.dpop == .automatic
            {
                // The server takes no request of this client without a proof, and has processed none.
                key = try client.newDPoPKey(at: server, isDemanded: true)
                request = try await push(try newRequest(), provingBy: key, of: client)
            }
        }
        let pending = PendingSignIn(request: request, account: AccountID(client, name: name), note: note, key: key)
        do {
            let bytes = try pending.stored()
            try await environment.vault.update(pending.vaultKey) { try await $0.replace(with: bytes) }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
        return SignInAttempt(
            account: pending.account, page: SignInPage(pending.request, service: client.service),
            expiresAt: pending.request.expiresAt, request: pending.request, key: key)
    }

    /// Hands a request to the server before the browser opens (RFC 9126).
    private func push(
        _ request: AuthorizationRequest, provingBy key: DPoPKey?, of client: Client
    ) async throws -> AuthorizationRequest {
        try await environment.retryingRotatedSecret(of: client) {
            let push = PushedAuthorizationRequest(
                request, authentication: try client.authentication(at: request.server, in: environment))
            return try await environment.exchange(
                provingBy: key, presenting: client.certificate, { try push.message },
                { try push.pushed($0, repeating: client.service.deviations.repeatedWhenPushed) })
        }
    }

    /// What a redirect of this request holds.
    private enum Redirected: Sendable {
        case code(AuthorizationCode)
        /// A signed text of which nothing is verified but the state that it states (JARM, section 2.4).
        case signed(AuthorizationResponse)
    }

    /// Shows the page, and takes the code out of the redirect, which comes from the browser itself or to the listener.
    func code(
        for attempt: SignInAttempt, through browser: some Browser, at listener: LoopbackListener?, of client: Client
    ) async throws -> AuthorizationCode {
        let now = environment.time.now
        let service = client.service
        let browserCode: @Sendable () async throws -> Result<Redirected, OAuthError>? = {
            try await browser.show(attempt.page).map {
                Self.code(from: $0, for: attempt.request, of: service, now: now())
            }
        }
        let outcome: Result<Redirected, OAuthError>
        if let listener {
            outcome = try await first([
                browserCode, { try await listener.redirect { Self.judge($0, for: attempt, of: service, now: now()) } },
            ])
        } else if let code = try await browserCode() {
            outcome = code
        } else {
            throw HandshakeError.configuration(
                member: "redirect",
                problem:
                    "this browser cannot receive the redirect to \(attempt.page.redirectURI); use another browser, or a loopback redirect"
            )
        }
        do {
            switch try outcome.get() {
            case .code(let code): return code
            case .signed(let response):
                let verified = try await environment.verified(response, for: attempt.request, of: client)
                return try attempt.request.code(from: service.reading(verified), now: now())
            }
        } catch let error as OAuthError {
            throw Self.handshakeError(error)
        }
    }

    /// The first value that one of several concurrent operations returns. The others are cancelled.
    private func first<Value: Sendable>(_ operations: [@Sendable () async throws -> Value?]) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            for operation in operations { group.addTask { try await operation() } }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private static func code(
        from redirectURL: String, for request: AuthorizationRequest, of service: Service, now: Double
    ) -> Result<Redirected, OAuthError> {
        Result { () throws(OAuthError) in
            let response = service.reading(try AuthorizationResponse(redirectURL: redirectURL))
            guard request.responseMode.isSigned else { return .code(try request.code(from: response, now: now)) }
            try request.check(response, now: now)
            return .signed(response)
        }
    }

    /// Whether a redirect at the listener is this attempt's, and the page that answers it.
    private static func judge(
        _ redirectURL: String, for attempt: SignInAttempt, of service: Service, now: Double
    ) -> LoopbackListener.Verdict<Result<Redirected, OAuthError>> {
        let outcome = code(from: redirectURL, for: attempt.request, of: service, now: now)
        return switch outcome {
        case .success:
            .accepted(outcome, page: ResultPage.received(service: service.displayName, language: .user).html)
        case .failure(.unmatchedRedirect): .ignored(page: ResultPage.notForYou(language: .user).html)
        case .failure:
            .accepted(outcome, page: ResultPage.refused(service: service.displayName, language: .user).html)
        }
    }

    /// Removes the record of an attempt whose redirect came back in this process: it counts once.
    func consume(_ attempt: SignInAttempt) async throws {
        do {
            try await environment.vault.update(PendingSignIn.vaultKey(state: attempt.request.state)) { locked in
                guard await locked.contents != nil else {
                    throw HandshakeError.exchange(
                        .unmatchedRedirect(problem: "its sign-in attempt has expired or is finished"))
                }
                try await locked.remove()
            }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Checks a redirect against the pending attempt with its state, and removes the attempt.
    ///
    /// - Returns: the code, or why there is none; the account; the key that the code is bound to.
    /// - Throws: ``HandshakeError`` when the redirect fits no attempt.
    func takeCode(
        from response: AuthorizationResponse, for name: String
    ) async throws -> (Result<AuthorizationCode, HandshakeError>, AccountID, DPoPKey?) {
        let now = environment.time.now()
        guard let state = response.returnedState else {
            throw HandshakeError.exchange(.unmatchedRedirect(problem: "it has no state"))
        }
        do {
            let response = try await verified(response, with: state, for: name)
            let (outcome, account, key) = try await environment.vault.update(PendingSignIn.vaultKey(state: state)) {
                locked in
                guard let bytes = await locked.contents else {
                    throw OAuthError.unmatchedRedirect(problem: "no pending sign-in has its state")
                }
                let pending = try PendingSignIn(stored: bytes)
                guard pending.account.isNamed(name) else {
                    throw OAuthError.unmatchedRedirect(problem: "its sign-in was started for another account name")
                }
                let outcome = Result { () throws(OAuthError) in try pending.request.code(from: response, now: now) }
                if case .failure(.unmatchedRedirect(let problem)) = outcome {
                    throw OAuthError.unmatchedRedirect(problem: problem)
                }
                try await locked.remove()
                return (outcome, pending.account, pending.key)
            }
            return (outcome.mapError(Self.handshakeError), account, key)
        } catch let error as OAuthError {
            throw Self.handshakeError(error)
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// The response itself when it is plain; what is inside when it is signed and verified. Both in the standard's words.
    ///
    /// A signed text that does not verify changes nothing: the attempt whose state it states is still pending.
    private func verified(
        _ response: AuthorizationResponse, with state: Secret, for name: String
    ) async throws -> AuthorizationResponse {
        guard let bytes = try await environment.vault.record(PendingSignIn.vaultKey(state: state)) else {
            return response
        }
        let pending = try PendingSignIn(stored: bytes)
        guard pending.account.isNamed(name) else { return response }
        guard pending.request.responseMode.isSigned else {
            // A missing client is reported when the sign-in is finished.
            return (try? client(of: pending.account).service)?.reading(response) ?? response
        }
        let client = try client(of: pending.account)
        return client.service.reading(try await environment.verified(response, for: pending.request, of: client))
    }

    /// The client that a sign-in was started for.
    private func client(of id: AccountID) throws(HandshakeError) -> Client {
        guard let client = client(where: { AccountID($0, name: id.name) == id }) else {
            throw .configuration(
                member: "clients", problem: "The sign-in was started for \(id), which no client of this app matches.")
        }
        return client
    }

    /// A failure of the redirect. A user who declines abandons the sign-in: the service did not fail.
    private static func handshakeError(_ error: OAuthError) -> HandshakeError {
        if case .server(let error) = error, error.step == .authorization, error.code == "access_denied" {
            return .signInAbandoned(.denied)
        }
        return .exchange(error)
    }

    /// Exchanges a code, checks the ID token, and stores the grant.
    ///
    /// - Parameters:
    ///   - key: what the code is bound to; nil for bearer tokens.
    ///   - user: who has to have signed in, at the same issuer; nil for anyone.
    ///   - subject: what the service's API has to name the user; nil for anything.
    ///   - ownDemands: what the client itself demands of the authentication. Without an ID token only this must be proven; nil
    ///     for all that was asked for.
    func finish(
        with code: AuthorizationCode, as id: AccountID, provingBy key: DPoPKey?, user: IDTokenClaims? = nil,
        subject: String? = nil, ownDemands: RequestedAuthentication? = nil
    ) async throws -> Account {
        let client = try client(of: id)
        let request = code.request
        let now = environment.time.now()
        let response = try await token(
            .authorizationCode(code), at: request.server, client: client, provingBy: key, now: now)
        let identity = try await environment.identity(in: response, of: code, client: client)
        if let user, identity?.isAbout(user) != true {
            throw HandshakeError.exchange(
                .refused(Refusal(.subject, expected: "the user who is signed in", found: "another user")))
        }
        let asked = identity == nil ? ownDemands ?? request.authentication : request.authentication
        try environment.check(asked, in: identity, now: now, hiding: response.secrets)
        if let subject {
            let grant = Grant(response, requested: request.scopes, now: now)
            try await check(grant, TokenBinding(key, response), of: subject, as: id, client: client)
        }
        return try await store(
            Grant(response, requested: request.scopes, identity: identity, now: now), as: id, client: client,
            server: request.server, refreshMethod: .refreshToken, binding: TokenBinding(key, response),
            asked: request.scopes)
    }

    /// Refuses a grant that is not stored yet if the service's API names another user for it, or none.
    private func check(
        _ grant: Grant, _ binding: TokenBinding?, of subject: String, as id: AccountID, client: Client
    ) async throws {
        let record = AccountRecord(
            id: id, grant: grant, state: .signedIn, refreshMethod: .refreshToken, generation: 1, binding: binding)
        let unstored = Account(record, client: client, environment: environment, refreshMargin: refreshMargin)
        guard try await unstored.identity(isStored: false).subject.isIdentical(to: subject) else {
            throw HandshakeError.exchange(
                .refused(Refusal(.subject, expected: "the user who is signed in", found: "another user")))
        }
    }

    /// Stores the tokens of a sign-in that had no browser here.
    ///
    /// - Parameters:
    ///   - identity: the checked claims of the ID token; nil without one.
    ///   - now: when the request was sent, in seconds since 1970.
    func store(
        _ response: TokenResponse, identity: IDTokenClaims?, as name: String, client: Client,
        server: AuthorizationServerMetadata, provingBy key: DPoPKey?, now: Double,
        refreshMethod: AccountRecord.RefreshMethod = .refreshToken
    ) async throws -> Account {
        try await store(
            Grant(response, requested: client.scopes, identity: identity, now: now), as: AccountID(client, name: name),
            client: client, server: server, refreshMethod: refreshMethod, binding: TokenBinding(key, response),
            asked: client.scopes)
    }

    func token(
        _ grantType: TokenRequest.GrantType, at server: AuthorizationServerMetadata, client: Client,
        provingBy key: DPoPKey?, now: Double
    ) async throws -> TokenResponse {
        try await environment.retryingRotatedSecret(of: client) {
            let request = try client.tokenRequest(grantType, at: server, provingBy: key, in: environment)
            return try await environment.exchange(
                provingBy: key, presenting: client.certificate, { try request.message },
                { try request.response(from: $0, now: now) })
        }
    }

    /// Stores a first grant before it is used, then revokes the grant that it replaces, stored or not.
    func store(
        _ grant: Grant, as id: AccountID, client: Client, server: AuthorizationServerMetadata,
        refreshMethod: AccountRecord.RefreshMethod, binding: TokenBinding?, asked: [String]
    ) async throws -> Account {
        let isDiscovered = if case .discovered = client.service.authorizationServer { true } else { false }
        do {
            let (account, replaced) = try await environment.vault.update(id.vaultKey) { locked in
                let stored = await locked.contents.flatMap { try? AccountRecord(stored: $0, expected: id) }
                let unstored = self.held(id)?.unstored
                let isNewest = unstored.map { unstored in stored.map(unstored.follows) ?? true } ?? false
                let before = isNewest ? unstored?.record : stored
                let record = AccountRecord(
                    id: id, grant: grant, state: .signedIn, refreshMethod: refreshMethod,
                    generation: (before?.generation ?? 0) + 1,
                    server: isDiscovered ? server : nil, serverAt: environment.time.now(), binding: binding,
                    certificate: refreshMethod == .never
                        ? nil : client.thumbprint(boundAt: server, isProven: binding != nil))
                try await locked.replace(with: record.stored())
                let account = self.hold(record, client: client)
                account.adopt(record)
                return (account, before)
            }
            account.announce(.signedIn(scopes: grant.scopes, asked: asked))
            if let replaced { await account.revoke(replaced: replaced) }
            return account
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Removes an attempt that will not be finished, also when the reason is that the task was cancelled. What cannot be
    /// removed expires.
    func forget(_ attempt: SignInAttempt) async {
        let key = PendingSignIn.vaultKey(state: attempt.request.state)
        let vault = environment.vault
        do {
            try await Task { _ = try await vault.remove(key) }.value
        } catch {
            environment.log.warning("a pending sign-in could not be removed", metadata: ["reason": "\(error)"])
        }
    }
}

extension Service {
    /// A response in the standard's words, where the service has words of its own for a user who declined.
    fileprivate func reading(_ response: AuthorizationResponse) -> AuthorizationResponse {
        response.reading(denials: deviations.denialCodes, parameter: deviations.denialParameter)
    }
}

extension IDTokenClaims {
    /// Whether both are about the same user: a subject is unique at its issuer alone (OpenID Connect Core, section 5.7).
    func isAbout(_ user: IDTokenClaims) -> Bool {
        issuer.isIdentical(to: user.issuer) && subject.isIdentical(to: user.subject)
    }
}
