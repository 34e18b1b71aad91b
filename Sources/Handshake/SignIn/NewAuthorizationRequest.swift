import OAuth

extension Environment {
    /// A new authorization request, as the service wants it.
    ///
    /// - Parameter key: what the code is bound to by the request itself (RFC 9449, section 10); nil for none, and for a request
    ///   that is pushed with a proof.
    func authorizationRequest(
        to server: AuthorizationServerMetadata, client: Client, redirectURI: RedirectURI, boundTo key: DPoPKey?,
        timeout: Duration
    ) throws(HandshakeError) -> AuthorizationRequest {
        let deviations = client.service.deviations
        var options = AuthorizationRequest.Options()
        options.scopeDelimiter = deviations.scopeDelimiter
        options.scopeParameter = deviations.scopeParameter
        options.expectsIDToken = !deviations.token.ignoresIDToken
        options.resources = client.resources.map(\.string)
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
            guard request.nonce == nil || server.keysEndpoint != nil else { throw server.lacks("jwks_uri") }
            return request
        } catch {
            throw .exchange(error)
        }
    }
}
