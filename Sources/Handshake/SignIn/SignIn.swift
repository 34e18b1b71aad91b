import Logging
package import OAuth

/// A sign-in that was begun: open ``page`` in a browser, and hand the redirect to
/// ``Handshake/finishSignIn(redirectURL:as:)``, in this process or in another one that uses the same vault.
public struct BegunSignIn: Sendable {
    /// The account that the sign-in will make.
    public let account: AccountID
    /// What the browser shows.
    public let page: SignInPage
    /// Seconds since 1970 after which the redirect no longer counts.
    public let expiresAt: Double

    package let request: AuthorizationRequest
}

extension Handshake {
    /// Signs a user in: opens the service's page, waits for the redirect, checks it, exchanges the code and stores the
    /// grant.
    ///
    /// - Parameters:
    ///   - name: the app's name for the account. One that exists is replaced.
    ///   - service: the service's name; needed only when there are several clients.
    ///   - browser: what shows the page.
    ///   - timeout: how long to wait for the user.
    /// - Throws: ``HandshakeError/signInAbandoned(_:)`` when the user refused, closed or did not answer;
    ///   ``HandshakeError/exchange(_:)`` when a check failed or the service answered with an error;
    ///   ``HandshakeError/network(_:)``; ``HandshakeError/vault(_:)``; `CancellationError`. After any of them nothing
    ///   is stored.
    public func signIn(
        as name: String = AccountID.defaultName, to service: String? = nil, through browser: some Browser,
        timeout: Duration = .seconds(300)
    ) async throws -> Account {
        let client = try client(of: service)
        let listener: LoopbackListener? =
            if case .loopback(let port, let path) = client.redirect {
                try LoopbackListener(port: port, path: path)
            } else { nil }
        let begun = try await begin(client, name: name, redirectURI: listener?.redirectURI, timeout: timeout)
        do {
            let redirectURL = try await withDeadline(timeout, on: environment.time.clock) {
                try await self.redirect(of: begun, through: browser, at: listener, service: client.service)
            }
            return try await finishSignIn(redirectURL: redirectURL, as: name)
        } catch {
            await forget(begun)
            throw error is DeadlineExceeded ? HandshakeError.signInAbandoned(.timedOut) : error
        }
    }

    /// Begins a sign-in whose redirect arrives somewhere else: at a server's route, through a private scheme, by hand.
    ///
    /// What the redirect will be checked against is sealed into the vault until it is used, once, or expires.
    ///
    /// - Parameters:
    ///   - name: the app's name for the account. One that exists is replaced.
    ///   - service: the service's name; needed only when there are several clients.
    ///   - timeout: how long the redirect is waited for.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when the client's redirect is a loopback listener,
    ///   which belongs to ``signIn(as:to:through:timeout:)``.
    public func beginSignIn(
        as name: String = AccountID.defaultName, to service: String? = nil, timeout: Duration = .seconds(600)
    ) async throws -> BegunSignIn {
        try await beginSignIn(as: name, to: service, timeout: timeout, noting: nil)
    }

    /// The same, with something to be known again when the redirect comes; see ``note(ofSignIn:)``.
    package func beginSignIn(
        as name: String, to service: String?, timeout: Duration = .seconds(600), noting note: String?
    ) async throws -> BegunSignIn {
        try await begin(try client(of: service), name: name, redirectURI: nil, timeout: timeout, note: note)
    }

    /// What was noted when the sign-in with a state was begun; nil when there is no such sign-in, or no note.
    ///
    /// - Throws: ``HandshakeError/vault(_:)``.
    package func note(ofSignIn state: Secret) async throws -> String? {
        do {
            return try await environment.vault.record(PendingSignIn.vaultKey(state: state))
                .flatMap { try PendingSignIn(stored: $0).note }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Finishes a sign-in with the redirect URL that came back.
    ///
    /// - Parameters:
    ///   - redirectURL: the redirect as it arrived, whole.
    ///   - name: the name that the sign-in was begun for. A server takes it from the session of the browser that brings
    ///     the redirect: otherwise anyone could begin a sign-in, lead somebody else through it, and find that person's
    ///     grant under their own name (RFC 6749, section 10.12).
    /// - Throws: `OAuthError/unmatchedRedirect(problem:)` inside ``HandshakeError/exchange(_:)`` for a redirect that
    ///   answers no pending sign-in, which changes nothing; otherwise what ``signIn(as:to:through:timeout:)`` throws,
    ///   and the attempt is used up.
    public func finishSignIn(redirectURL: String, as name: String = AccountID.defaultName) async throws -> Account {
        let (code, id) = try await takeCode(from: redirectURL, for: name)
        guard let client = clients.first(where: { AccountID($0, name: id.name) == id }) else {
            throw HandshakeError.configuration(
                member: "clients", problem: "the sign-in was begun for \(id), which is none of this app's clients")
        }
        let request = code.request
        let now = environment.time.now()
        let response = try await token(.authorizationCode(code), at: request.server, client: client, now: now)
        let identity = try await identity(in: response, for: request, client: client)
        return try await store(
            Grant(response, requested: request.scopes, identity: identity, now: now), as: id, client: client,
            server: request.server, renewal: .refreshToken, asked: request.scopes)
    }

    /// Gets an account in the client's own name, without a user (RFC 6749, section 4.4).
    ///
    /// - Throws: what ``signIn(as:to:through:timeout:)`` throws, and ``HandshakeError/configuration(member:problem:)``
    ///   for a public client.
    public func signInAsClient(
        as name: String = AccountID.defaultName, to service: String? = nil
    ) async throws -> Account {
        let client = try client(of: service)
        guard client.isConfidential else {
            throw HandshakeError.configuration(
                member: "client",
                problem: "only a confidential client can ask for a token in its own name (RFC 6749, section 4.4)")
        }
        let server = try await environment.server(of: client.service)
        let now = environment.time.now()
        let response = try await token(.clientCredentials(scopes: client.scopes), at: server, client: client, now: now)
        return try await store(
            Grant(response, requested: client.scopes, now: now), as: AccountID(client, name: name), client: client,
            server: server,
            renewal: .clientCredentials, asked: client.scopes)
    }
}

extension Handshake {
    private func begin(
        _ client: Client, name: String, redirectURI: RedirectURI?, timeout: Duration, note: String? = nil
    ) async throws -> BegunSignIn {
        let server = try await environment.server(of: client.service)
        let uri: RedirectURI
        switch (redirectURI, client.redirect) {
        case (let listening?, _): uri = listening
        case (nil, .uri(let registered)): uri = registered
        case (nil, .loopback):
            throw HandshakeError.configuration(
                member: "redirect",
                problem: "a loopback redirect is received by signIn(through:); give the client a redirect URI")
        }
        let pending = PendingSignIn(
            request: try authorizationRequest(to: server, client: client, redirectURI: uri, timeout: timeout),
            account: AccountID(client, name: name), note: note)
        do {
            let bytes = try pending.stored()
            try await environment.vault.update(pending.vaultKey) { try await $0.replace(with: bytes) }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
        return BegunSignIn(
            account: pending.account, page: SignInPage(pending.request, service: client.service),
            expiresAt: pending.request.expiresAt, request: pending.request)
    }

    private func authorizationRequest(
        to server: AuthorizationServerMetadata, client: Client, redirectURI: RedirectURI, timeout: Duration
    ) throws(HandshakeError) -> AuthorizationRequest {
        let deviations = client.service.deviations
        var options = AuthorizationRequest.Options()
        options.scopeDelimiter = deviations.scopeDelimiter
        options.resources = client.resources.map(\.string)
        options.lifetime = timeout / .seconds(1)
        for (name, value) in client.parameters where deviations.authorizationParameters[name] != nil {
            throw .configuration(
                member: name, problem: "the service sets this parameter itself; remove “\(quoted(value, limit: 80))”")
        }
        options.extras = client.parameters.merging(deviations.authorizationParameters) { own, _ in own }
        do {
            return try AuthorizationRequest(
                to: server, clientID: client.id, redirectURI: redirectURI, scopes: client.scopes, options: options,
                now: environment.time.now(), random: environment.random)
        } catch {
            throw .exchange(error)
        }
    }

    /// Shows the page and waits for the redirect, from the browser itself or at the listener.
    private func redirect(
        of begun: BegunSignIn, through browser: some Browser, at listener: LoopbackListener?, service: Service
    ) async throws -> String {
        guard let listener else {
            guard let redirectURL = try await browser.show(begun.page) else {
                throw HandshakeError.configuration(
                    member: "redirect",
                    problem:
                        "this browser cannot catch \(begun.page.redirectURI); use one that can, or a loopback redirect")
            }
            return redirectURL
        }
        let now = environment.time.now
        return try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                try await listener.redirect { Self.judge($0, request: begun.request, service: service, now: now()) }
            }
            group.addTask { try await browser.show(begun.page) }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let redirectURL = result { return redirectURL }
            }
            throw CancellationError()
        }
    }

    /// Whether a redirect at the listener is this sign-in's, and which page it deserves.
    private static func judge(
        _ redirectURL: String, request: AuthorizationRequest, service: Service, now: Double
    ) -> LoopbackListener.Verdict {
        do {
            _ = try request.code(from: redirectURL, now: now)
            return .accepted(page: ResultPage.received(service: service.displayName, language: .user).html)
        } catch .unmatchedRedirect {
            return .ignored(page: ResultPage.notForYou.html)
        } catch {
            return .accepted(page: ResultPage.refused(service: service.displayName, language: .user).html)
        }
    }

    /// Checks a redirect against the pending sign-in of its state, which it uses up.
    private func takeCode(from redirectURL: String, for name: String) async throws -> (AuthorizationCode, AccountID) {
        let now = environment.time.now()
        do {
            let response = try AuthorizationResponse(redirectURL: redirectURL)
            guard let state = response.returnedState else {
                throw OAuthError.unmatchedRedirect(problem: "it has no state")
            }
            let outcome = try await environment.vault.update(PendingSignIn.vaultKey(state: state)) { locked in
                guard let bytes = await locked.contents else {
                    throw OAuthError.unmatchedRedirect(problem: "no pending sign-in has its state")
                }
                let pending = try PendingSignIn(stored: bytes)
                guard pending.account.name == name else {
                    throw OAuthError.unmatchedRedirect(problem: "its sign-in was begun for another account name")
                }
                let code: Result<AuthorizationCode, OAuthError>
                do {
                    code = .success(try pending.request.code(from: response, now: now))
                } catch let OAuthError.unmatchedRedirect(problem) {
                    throw OAuthError.unmatchedRedirect(problem: problem)
                } catch let error as OAuthError {
                    code = .failure(error)
                }
                try await locked.remove()
                return (code, pending.account)
            }
            return (try outcome.0.get(), outcome.1)
        } catch OAuthError.server(let error) where error.step == .authorization && error.code == "access_denied" {
            throw HandshakeError.signInAbandoned(.denied)
        } catch let error as OAuthError {
            throw HandshakeError.exchange(error)
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    private func token(
        _ grantType: TokenRequest.GrantType, at server: AuthorizationServerMetadata, client: Client, now: Double
    ) async throws -> TokenResponse {
        let request = TokenRequest(
            grantType, at: server, clientID: client.id, authentication: try client.authentication(at: server),
            resources: client.resources.map(\.string), scopeDelimiter: client.service.deviations.scopeDelimiter)
        return try await environment.exchange({ try request.message }, { try request.response(from: $0, now: now) })
    }

    /// The verified claims of the ID token, which must be there when `openid` was asked for.
    private func identity(
        in response: TokenResponse, for request: AuthorizationRequest, client: Client
    ) async throws -> IDTokenClaims? {
        guard let nonce = request.nonce else { return nil }
        guard let token = response.idToken, let endpoint = request.server.keysEndpoint else {
            throw HandshakeError.exchange(
                .malformed(
                    step: .idToken, member: response.idToken == nil ? "id_token" : "jwks_uri",
                    expected: "an ID token and the keys to check it, because openid was asked for", found: "nothing"))
        }
        let keysRequest = KeySetRequest(at: endpoint)
        let keys = try await environment.exchange({ keysRequest.message }, keysRequest.keys)
        let validator = IDTokenValidator(
            issuer: request.server.issuer, clientID: client.id, nonce: nonce, accessToken: response.accessToken)
        do {
            return try validator.claims(of: token, keys: keys, now: environment.time.now())
        } catch {
            throw HandshakeError.exchange(error)
        }
    }

    /// Makes a first grant durable and only then visible.
    func store(
        _ grant: Grant, as id: AccountID, client: Client, server: AuthorizationServerMetadata,
        renewal: AccountRecord.Renewal, asked: [String]
    ) async throws -> Account {
        let isDiscovered = if case .discovered = client.service.authorizationServer { true } else { false }
        do {
            let account = try await environment.vault.update(id.vaultKey) { locked in
                let before = await locked.contents.flatMap { try? AccountRecord(stored: $0, expected: id) }
                let record = AccountRecord(
                    id: id, grant: grant, state: .signedIn, renewal: renewal, generation: (before?.generation ?? 0) + 1,
                    server: isDiscovered ? server : nil)
                try await locked.replace(with: record.stored())
                let account = self.hold(record, client: client)
                account.adopt(record)
                return account
            }
            account.announce(.signedIn(scopes: grant.scopes, asked: asked))
            return account
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }

    /// Removes a pending sign-in that will not be finished, also when the reason is that the task was cancelled. What
    /// cannot be removed expires.
    private func forget(_ begun: BegunSignIn) async {
        let key = PendingSignIn.vaultKey(state: begun.request.state)
        let vault = environment.vault
        do {
            try await Task { _ = try await vault.remove(key) }.value
        } catch {
            environment.log.warning("a pending sign-in could not be removed", metadata: ["reason": "\(error)"])
        }
    }
}
