import OAuth

extension Environment {
    /// A new authorization request, as the service wants it.
    ///
    /// - Parameters:
    ///   - key: what the code is bound to by the request itself (RFC 9449, section 10); nil for none, and for a request that is
    ///     pushed with a proof.
    ///   - signer: what signs the request (RFC 9101); nil for a plain one.
    func authorizationRequest(
        to server: AuthorizationServerMetadata, client: Client, redirectURI: RedirectURI, boundTo key: DPoPKey?,
        signedBy signer: SigningKey? = nil, timeout: Duration
    ) throws(HandshakeError) -> AuthorizationRequest {
        let deviations = client.service.deviations
        var options = AuthorizationRequest.Options()
        options.scopeDelimiter = deviations.scopeDelimiter
        options.scopeParameter = deviations.scopeParameter
        options.expectsIDToken = !deviations.token.ignoresIDToken
        options.resources = client.sentResources
        options.responseMode = client.options.responseMode
        options.authorizationDetails = client.options.authorizationDetails
        options.requiresIssuer = client.options.fapi2
        options.demandsContext = client.options.requiresAuthenticationContext
        options.keyThumbprint = key?.thumbprint
        options.lifetime = timeout / .seconds(1)
        for (name, value) in client.parameters where deviations.authorizationParameters[name] != nil {
            throw .configuration(
                member: name, problem: "the service sets this parameter itself; remove “\(quoted(value, limit: 80))”")
        }
        options.extras = deviations.offlineParameters.merging(client.parameters) { $1 }
            .merging(deviations.authorizationParameters) { own, _ in own }
        do throws(OAuthError) {
            let request = try AuthorizationRequest(
                to: server, clientID: client.id, redirectURI: redirectURI, scopes: client.scopes, options: options,
                now: time.now(), random: random)
            // Better now than when the user has consented and the code is redeemed.
            let isVerified = request.nonce != nil || request.responseMode.isSigned
            guard !isVerified || server.keysEndpoint != nil else { throw server.lacks("jwks_uri") }
            guard let signer else { return request }
            let now = proofs.time(of: server, now: time.now())
            return try request.signed(by: signer, now: now, random: random)
        } catch {
            throw .exchange(error)
        }
    }
}
