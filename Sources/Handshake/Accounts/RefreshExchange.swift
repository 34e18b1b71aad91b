import OAuth

extension Account {
    /// The key that the proof of a refresh is signed with; nil for bearer tokens.
    ///
    /// The refresh tokens of a confidential client are bound to the client, so a new key serves in place of a lost one.
    /// Those of a public client are bound to the key (RFC 9449, section 5).
    ///
    /// - Throws: ``HandshakeError/signInRequired(_:_:)`` for a public client whose key was lost. Its grant stays stored.
    func proofKey(for stored: AccountRecord) async throws -> DPoPKey? {
        guard let binding = stored.binding else { return nil }
        if let key = binding.key { return key }
        guard client.isConfidential else { throw HandshakeError.signInRequired(id, .keyLost) }
        let server = try await environment.server(of: client, known: stored.server)
        return try client.newDPoPKey(at: server, isDemanded: true)
    }

    /// The certificate that a refresh binds its tokens to, by its thumbprint; nil where it binds them to none.
    ///
    /// The refresh tokens of a confidential client are bound to the client, so a renewed certificate serves in the place
    /// of the one before. Those of a public client are bound to the certificate (RFC 8705, section 4). A client's own grant
    /// needs none.
    ///
    /// - Throws: ``HandshakeError/signInRequired(_:_:)`` for a public client with another certificate. Its grant stays
    ///   stored.
    func boundCertificate(for stored: AccountRecord, provingBy key: DPoPKey?) async throws -> String? {
        let needsCertificate = !client.isConfidential && stored.refreshMethod != .clientCredentials
        guard !needsCertificate || !stored.hasOtherCertificate(than: client.certificate) else {
            throw HandshakeError.signInRequired(id, .certificateChanged)
        }
        guard client.certificate != nil else { return nil }
        let server = try await environment.server(of: client, known: stored.server)
        return client.thumbprint(boundAt: server, isProven: key != nil)
    }

    /// The request for new tokens; nil for a grant that cannot be refreshed.
    ///
    /// - Parameters:
    ///   - stored: the account's record.
    ///   - key: what the request's proof will be signed with; nil for a request without one.
    /// - Throws: what ``Environment/server(of:known:isEnding:)`` and ``Client/authentication(at:in:)`` throw.
    func refreshRequest(for stored: AccountRecord, provingBy key: DPoPKey?) async throws -> TokenRequest? {
        let server = try await environment.server(of: client, known: stored.server)
        let grantType: TokenRequest.GrantType
        switch (stored.refreshMethod, stored.grant.refreshToken) {
        case (.clientCredentials, _): grantType = client.ownGrant(at: server, in: environment)
        case (.refreshToken, let token?): grantType = .refreshToken(token)
        case (.refreshToken, nil), (.never, _): return nil
        }
        var request = try client.tokenRequest(
            grantType, at: server, provingBy: key, keeping: stored.binding, in: environment)
        request.hidden = stored.secrets
        return request
    }

    /// What a failed call means for the session.
    enum RefreshFailure: Error {
        /// The service will never accept this refresh token again. `isRepeat` says that it may have accepted it just
        /// before.
        case rejected(isRepeat: Bool)
        /// The service was not asked, or rejected the request without having processed the refresh.
        case unprocessed(HandshakeError)
        /// The service may have processed the refresh; its answer did not arrive or cannot be used.
        case uncertain(HandshakeError)
    }

    /// Calls, and retries once when the connection was cut: services that forgive a repeated refresh token do so for
    /// seconds only.
    func exchange(
        _ request: TokenRequest, provingBy key: DPoPKey?, in locked: any LockedRecord, now: Double
    ) async throws(RefreshFailure) -> TokenResponse {
        do {
            return try await attempt(request, provingBy: key, in: locked, now: now)
        } catch .uncertain(.refreshUncertain(let id, .cut(let host, let reason)?)) {
            guard client.options.retriesLostRefreshes else {
                throw .uncertain(.refreshUncertain(id, .cut(host: host, reason: reason)))
            }
            do { try await locked.confirm(for: environment.limits.timeout) } catch {
                throw .uncertain(.refreshUncertain(id, .cut(host: host, reason: reason)))
            }
            do {
                return try await attempt(request, provingBy: key, in: locked, isRepeat: true, now: now)
            } catch .unprocessed {
                // It says nothing of the first call, which may have been processed.
                throw .uncertain(.refreshUncertain(id, .cut(host: host, reason: reason)))
            }
        }
    }

    private func attempt(
        _ request: TokenRequest, provingBy key: DPoPKey?, in locked: any LockedRecord, isRepeat: Bool = false,
        now: Double
    ) async throws(RefreshFailure) -> TokenResponse {
        var pause: Duration?
        let start = ContinuousClock.now
        defer { environment.telemetry?.time("handshake_token_request_seconds", since: start, at: id.service) }
        do {
            let response = try await environment.transmit(
                provingBy: key, presenting: client.certificate,
                confirm: { try await locked.confirm(for: environment.limits.timeout) }, { try request.message })
            pause = RetryAfter.pause(in: response.head, now: environment.time.now())
            return try request.response(from: response, now: now)
        } catch let error as TransportError {
            throw error.mayHaveArrived ? .uncertain(.refreshUncertain(id, error)) : .unprocessed(.network(error))
        } catch OAuthError.server(let error) where error.isInvalidGrant && request.sendsRefreshToken {
            throw .rejected(isRepeat: isRepeat)
        } catch OAuthError.server(let error) where (error.status ?? 400) >= 500 && error.status != 503 {
            throw .uncertain(.exchange(.server(error.asking(for: pause))))
        } catch OAuthError.server(let error) where error.isUnknownClient && hasLivingRegistration {
            throw .unprocessed(.clientForgotten(id, error))
        } catch OAuthError.server(let error) {
            throw .unprocessed(.exchange(.server(error.asking(for: pause))))
        } catch let error as OAuthError {
            let isAnswer = if case .malformed = error { true } else { false }
            throw isAnswer ? .uncertain(.exchange(error)) : .unprocessed(.exchange(error))
        } catch let error as HandshakeError {
            // A certificate that cannot be presented: nothing was sent.
            throw .unprocessed(error)
        } catch let error as VaultError {
            // The server wanted a nonce, and the hold does not last for a second sending. The first was not processed.
            throw .unprocessed(.vault(error))
        } catch {
            throw .uncertain(.refreshUncertain(id, nil))
        }
    }

    /// Whether the client registered itself, and its secret has not expired: a server refuses an expired one too.
    private var hasLivingRegistration: Bool {
        client.registration.map { !$0.hasExpired(at: environment.time.now()) } ?? false
    }
}

extension TokenRequest {
    /// Whether `invalid_grant` is final. A client that asks in its own name retries with a new assertion.
    fileprivate var sendsRefreshToken: Bool { if case .refreshToken = grantType { true } else { false } }
}

extension ServerError {
    /// The same error with the pause that the response asked for, also as a date: reading that one needs a clock.
    fileprivate func asking(for pause: Duration?) -> ServerError {
        guard retryAfter == nil, let pause else { return self }
        return ServerError(
            step: step, code: code, text: text, uri: uri, status: status,
            retryAfter: Int((pause / .seconds(1)).rounded(.up)))
    }
}
