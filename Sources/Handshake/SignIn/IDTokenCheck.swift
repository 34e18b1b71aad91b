import Logging
import OAuth

extension Environment {
    /// Checks how the user of any sign-in was authenticated, which the ID token alone says (`oauth-security.md` D8).
    ///
    /// That none of the contexts was given which are only wished for is logged (`any-server.md` 6.5).
    ///
    /// - Parameters:
    ///   - asked: what the sign-in has asked for.
    ///   - identity: the verified claims; nil for a sign-in without an ID token.
    ///   - now: when the tokens were asked for, in seconds since 1970.
    ///   - secrets: what no error may show.
    /// - Throws: `OAuthError/refused(_:)` inside ``HandshakeError/exchange(_:)``.
    func check(
        _ asked: RequestedAuthentication, in identity: IDTokenClaims?, now: Double, hiding secrets: [Secret]
    ) throws(HandshakeError) {
        do throws(OAuthError) {
            try asked.check(identity, now: now, hiding: secrets)
        } catch {
            throw .exchange(error)
        }
        if let identity, !asked.hasContext(of: identity) {
            log.notice("the user was authenticated in none of the contexts that were asked for")
        }
    }

    /// The verified claims of a sign-in's ID token, which must be there when `openid` was asked for.
    ///
    /// - Returns: nil when `openid` was not asked for.
    func identity(
        in response: TokenResponse, of code: AuthorizationCode, client: Client
    ) async throws -> IDTokenClaims? {
        let request = code.request
        guard let nonce = request.nonce else { return nil }
        guard let token = response.idToken else { throw missing("id_token") }
        let (validator, endpoint) = try idTokenValidator(
            at: request.server, client: client, nonce: nonce, code: code.secret, accessToken: response.accessToken,
            hiding: response.secrets)
        return try await claims(of: token, by: validator, withKeysAt: endpoint)
    }

    /// The verified claims of the ID token of a device grant, which has no nonce: one that has is refused.
    ///
    /// - Returns: nil when the response has no ID token. No specification demands one of this grant.
    func identity(
        inDeviceGrant response: TokenResponse, at server: AuthorizationServerMetadata, client: Client
    ) async throws -> IDTokenClaims? {
        guard let token = response.idToken else { return nil }
        let (validator, endpoint) = try idTokenValidator(
            at: server, client: client, accessToken: response.accessToken, hiding: response.secrets)
        return try await claims(of: token, by: validator, withKeysAt: endpoint)
    }

    /// The verified claims of a refresh's ID token, which must speak of the same user as before (OpenID Connect Core,
    /// section 12.2).
    ///
    /// - Parameters:
    ///   - token: the ID token as it came.
    ///   - receivedAt: when it came, in seconds since 1970. Its own times are judged by that.
    ///   - previous: the session's claims.
    ///   - accessToken: the access token that came with it.
    ///   - secrets: what no error may show.
    func identity(
        ofRefreshed token: Secret, receivedAt: Double, previous: IDTokenClaims, accessToken: Secret,
        hiding secrets: [Secret],
        at server: AuthorizationServerMetadata, client: Client
    ) async throws -> IDTokenClaims {
        let (validator, endpoint) = try idTokenValidator(
            at: server, client: client, accessToken: accessToken, hiding: secrets)
        let now = min(time.now(), receivedAt)
        return try await verified(withKeysAt: endpoint) { keys throws(OAuthError) in
            try validator.claims(ofRefreshed: token, previous: previous, keys: keys, now: now)
        }
    }

    /// What checks a client's ID tokens, and where the server publishes its keys.
    ///
    /// A retry with a new secret may have brought another algorithm since the client was read.
    private func idTokenValidator(
        at server: AuthorizationServerMetadata, client: Client, nonce: Secret? = nil, code: Secret? = nil,
        accessToken: Secret, hiding secrets: [Secret]
    ) throws(HandshakeError) -> (IDTokenValidator, keys: EndpointURL) {
        guard let endpoint = server.keysEndpoint else { throw missing("jwks_uri") }
        var validator = IDTokenValidator(
            issuer: server.issuer, clientID: client.id, nonce: nonce, accessToken: accessToken, code: code,
            algorithms: current(client).idTokenAlgorithms(at: server), hiding: secrets)
        validator.issuerTemplate = client.service.deviations.issuerTemplate
        return (validator, endpoint)
    }

    private func claims(
        of token: Secret, by validator: IDTokenValidator, withKeysAt endpoint: EndpointURL
    ) async throws -> IDTokenClaims {
        let now = time.now()
        return try await verified(withKeysAt: endpoint) { keys throws(OAuthError) in
            try validator.claims(of: token, keys: keys, now: now)
        }
    }

    private func missing(_ member: String) -> HandshakeError {
        .exchange(
            .malformed(
                step: .idToken, member: member,
                expected: "an ID token and the keys to check it, because openid was asked for", found: "nothing"))
    }
}

extension Client {
    /// The algorithms by which an ID token is accepted: of one that is registered, that one (`any-server.md` 6.2).
    func idTokenAlgorithms(at server: AuthorizationServerMetadata) -> [SignatureAlgorithm] {
        algorithms(
            options.idTokenAlgorithm ?? registration?.idTokenAlgorithm, published: server.idTokenSigningAlgorithms)
    }
}
