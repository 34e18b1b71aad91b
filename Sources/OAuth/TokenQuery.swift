/// What revocation and introspection send: a token and the client that asks (RFC 7009, section 2.1; RFC 7662, section 2.1).
struct TokenQuery: Sendable {
    let token: Secret
    /// Which kind of token it is, as a hint.
    let kind: RevocationRequest.TokenKind
    let server: AuthorizationServerMetadata
    let clientID: String
    let authentication: ClientAuthentication
    /// What no error may show beside what is sent.
    var hidden: [Secret] = []

    /// What no error may show.
    var secrets: [Secret] {
        [token] + authentication.secrets(clientID: clientID) + hidden
    }

    /// The request to one of the server's endpoints.
    ///
    /// - Parameter algorithms: what the endpoint takes for assertions; nil stands for the token endpoint's.
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)``, or for a server described by hand
    ///   ``OAuthError/configuration(member:problem:)``, when the server has no such endpoint.
    func message(
        to endpoint: KeyPath<AuthorizationServerMetadata, EndpointURL?>, named name: String,
        algorithms: [String]?
    ) throws(OAuthError) -> RequestMessage {
        guard let endpoint = server[keyPath: endpoint] else { throw server.lacks(name) }
        var parameters = Parameters()
        try parameters.add("token", token.reveal())
        try parameters.add("token_type_hint", kind.rawValue)
        return try authentication.message(
            parameters, clientID: clientID,
            for: AuthenticatedCall(
                server: server, endpoint: endpoint,
                algorithms: algorithms ?? server.tokenEndpointAuthSigningAlgorithms))
    }
}
