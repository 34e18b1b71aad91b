import AsyncSupport
public import OAuth

extension Handshake {
    /// Signs a user in through a browser. It opens the service's page, waits for the redirect, checks it, exchanges the
    /// code and stores the grant.
    ///
    /// The grant of an earlier sign-in under the same name is revoked once the new one is stored, as far as the service
    /// allows it. Where that would end the new one too, the same user's is left
    /// (``Service/Deviations/revokesWholeAuthorization``).
    ///
    /// - Parameters:
    ///   - name: the app's name for the account. An existing account is replaced.
    ///   - service: the service's name; needed only when there are several clients.
    ///   - browser: what shows the page.
    ///   - timeout: how long to wait for the user.
    /// - Throws: ``HandshakeError/signInAbandoned(_:)`` when the user declined, closed or did not act in time;
    ///   ``HandshakeError/exchange(_:)`` when a check failed or the service answered with an error;
    ///   ``HandshakeError/configuration(member:problem:)`` when the client cannot sign in this way, or there is no such
    ///   client; ``HandshakeError/undiscovered(issuer:failures:)``; ``HandshakeError/network(_:)``;
    ///   ``HandshakeError/vault(_:)``; `CancellationError`. After any of them nothing is stored.
    public func signIn(
        as name: String = AccountID.defaultName, to service: String? = nil, through browser: some Browser,
        timeout: Duration = .seconds(300)
    ) async throws -> Account {
        try await signIn(try client(of: service), as: name, through: browser, timeout: timeout)
    }

    /// The same with a client that may ask for more than its account's usual one.
    ///
    /// - Parameters:
    ///   - user: who has to sign in; nil for anyone.
    ///   - subject: what the service's API has to name that user; nil for anything.
    ///   - ownDemands: what the client itself demands of the authentication. Without an ID token only this must be proven; nil
    ///     for all that is asked for.
    func signIn(
        _ client: Client, as name: String, through browser: some Browser, timeout: Duration, user: IDTokenClaims? = nil,
        subject: String? = nil, ownDemands: RequestedAuthentication? = nil
    ) async throws -> Account {
        try await measuringSignIn(to: client.service.name) {
            try await signInUnmeasured(
                client, as: name, through: browser, timeout: timeout, user: user, subject: subject,
                ownDemands: ownDemands)
        }
    }

    private func signInUnmeasured(
        _ client: Client, as name: String, through browser: some Browser, timeout: Duration, user: IDTokenClaims?,
        subject: String?, ownDemands: RequestedAuthentication?
    ) async throws -> Account {
        let listener = try listener(for: client)
        let attempt = try await begin(
            client, name: name, redirectURI: listener?.redirectURI, timeout: timeout, ownDemands: ownDemands)
        do {
            let code = try await withDeadline(timeout, on: environment.time.clock) {
                try await self.code(for: attempt, through: browser, at: listener, of: client)
            }
            try await consume(attempt)
            return try await finish(
                with: code, as: attempt.account, provingBy: attempt.key, user: user, subject: subject,
                ownDemands: ownDemands)
        } catch {
            await forget(attempt)
            throw error is DeadlineExceeded ? HandshakeError.signInAbandoned(.timedOut) : error
        }
    }

    /// The listener of a client with a loopback redirect. Where the port of its registration is taken now, any port may do
    /// (RFC 8252, section 7.3).
    private func listener(for client: Client) throws -> LoopbackListener? {
        guard case .loopback(let port, let path) = client.redirect else { return nil }
        do {
            return try LoopbackListener(port: port, path: path, log: environment.log)
        } catch {
            guard port != nil, client.registration != nil else { throw error }
            return try LoopbackListener(path: path, log: environment.log)
        }
    }

    /// Begins a sign-in whose redirect arrives elsewhere. That is at a server's route, through a private scheme, or by
    /// hand.
    ///
    /// What the redirect will be checked against is sealed into the vault until it is used, once, or expires.
    ///
    /// - Parameters:
    ///   - name: the app's name for the account. An existing account is replaced.
    ///   - service: the service's name; needed only when there are several clients.
    ///   - timeout: how long the redirect is accepted.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when the client's redirect is a loopback listener,
    ///   which belongs to ``signIn(as:to:through:timeout:)``.
    public func beginSignIn(
        as name: String = AccountID.defaultName, to service: String? = nil, timeout: Duration = .seconds(600)
    ) async throws -> SignInAttempt {
        try await beginSignIn(as: name, to: service, timeout: timeout, noting: nil)
    }

    /// The same, with a note that ``note(ofSignIn:)`` returns when the redirect arrives.
    package func beginSignIn(
        as name: String, to service: String?, timeout: Duration = .seconds(600), noting note: String?
    ) async throws -> SignInAttempt {
        try await begin(try client(of: service), name: name, redirectURI: nil, timeout: timeout, note: note)
    }

    /// The note of the sign-in attempt with a state; nil when there is no such attempt, or no note.
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
    ///   - redirectURL: the redirect as it arrived, whole. On a server, the registered redirect URI with the request's
    ///     query: behind a reverse proxy the request has another scheme and host.
    ///   - name: the name that the sign-in was begun for. A server takes it from the session of the browser that brings
    ///     the redirect: otherwise an attacker could begin a sign-in, lead another user through it, and find that user's
    ///     grant under the attacker's name (RFC 6749, section 10.12).
    /// - Throws: `OAuthError/unmatchedRedirect(problem:)` inside ``HandshakeError/exchange(_:)`` for a redirect that
    ///   answers no pending sign-in, which changes nothing; otherwise what ``signIn(as:to:through:timeout:)`` throws,
    ///   and the attempt is over.
    public func finishSignIn(redirectURL: String, as name: String = AccountID.defaultName) async throws -> Account {
        let response: AuthorizationResponse
        do {
            response = try AuthorizationResponse(redirectURL: redirectURL)
        } catch {
            throw HandshakeError.exchange(error)
        }
        return try await finishSignIn(with: response, as: name)
    }

    /// Finishes a sign-in with a redirect that was parsed already. It does what ``finishSignIn(redirectURL:as:)`` does.
    public func finishSignIn(
        with response: AuthorizationResponse, as name: String = AccountID.defaultName
    ) async throws -> Account {
        let (code, id, key): (Result<AuthorizationCode, HandshakeError>, AccountID, DPoPKey?)
        do { (code, id, key) = try await takeCode(from: response, for: name) } catch {
            // Which service it was for says only the attempt, which there may not be.
            telemetry?.count("handshake_sign_ins_total", at: "unknown", ["outcome": Telemetry.kind(of: error)])
            throw error
        }
        return try await measuringSignIn(to: id.service) {
            try await finish(with: code.get(), as: id, provingBy: key)
        }
    }

    /// Runs a sign-in within a span, and counts one that fails; one that succeeds counts where it is announced.
    private func measuringSignIn(
        to service: String, _ body: () async throws -> Account
    ) async throws -> Account {
        guard let telemetry else { return try await body() }
        do {
            return try await telemetry.span("handshake.sign_in", at: service, body)
        } catch {
            telemetry.count("handshake_sign_ins_total", at: service, ["outcome": Telemetry.kind(of: error)])
            throw error
        }
    }

    /// Signs in the client itself, without a user (RFC 6749, section 4.4). A client that makes signed assertions does it
    /// with these (RFC 7523, section 2.1).
    ///
    /// - Throws: what ``signIn(as:to:through:timeout:)`` throws, and ``HandshakeError/configuration(member:problem:)``
    ///   for a public client.
    public func signInAsClient(
        as name: String = AccountID.defaultName, to service: String? = nil
    ) async throws -> Account {
        let client = try client(of: service)
        guard client.isConfidential || client.assertion != nil else {
            throw HandshakeError.configuration(
                member: "client",
                problem: "Only a confidential client can ask for a token of its own (RFC 6749, section 4.4).")
        }
        let server = try await environment.server(of: client)
        let now = environment.time.now()
        let key = try client.newDPoPKey(at: server)
        let response = try await token(
            client.ownGrant(at: server, in: environment), at: server, client: client, provingBy: key, now: now)
        return try await store(
            response, identity: nil, as: name, client: client, server: server, provingBy: key, now: now,
            refreshMethod: .clientCredentials)
    }
}
