import HTTPTypes

/// Asks the server whether a token is active, and what it is for. Source: RFC 7662, section 2.1.
public struct IntrospectionRequest: Sendable {
    private let query: TokenQuery

    /// Asks `server` about `token`. RFC 7662, section 2.1 requires authentication.
    public init(
        _ token: Secret, kind: RevocationRequest.TokenKind, at server: AuthorizationServerMetadata, clientID: String,
        authentication: ClientAuthentication
    ) {
        query = TokenQuery(
            token: token, kind: kind, server: server, clientID: clientID, authentication: authentication)
    }

    /// The request to send.
    ///
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)``, or for a server described by hand
    ///   ``OAuthError/configuration(member:problem:)``, when the server has no introspection endpoint.
    public var message: RequestMessage {
        get throws(OAuthError) {
            try query.message(
                to: \.introspectionEndpoint, named: "introspection_endpoint",
                algorithms: query.server.introspectionEndpointAuthSigningAlgorithms)
        }
    }

    /// Reads the response (RFC 7662, section 2.2).
    public func introspection(from response: ResponseMessage) throws(OAuthError) -> TokenIntrospection {
        try response.requireSuccess(.introspection, hiding: query.secrets)
        let members = try ResponseReader(step: .introspection, content: response.content, hiding: query.secrets)
        if members["active"] == nil, let error = members.serverError(status: response.head.status.code) { throw error }
        guard let isActive = try members.bool("active") else {
            throw members.malformed("active", expected: "true or false")
        }
        return TokenIntrospection(
            isActive: isActive,
            scopes: try members.string("scope")?.split(separator: " ").map(String.init) ?? [],
            clientID: try members.string("client_id"),
            username: try members.string("username"),
            subject: try members.string("sub"),
            expiresAt: try members.integer("exp").map(Double.init))
    }
}

/// What a server states about a token (RFC 7662, section 2.2).
public struct TokenIntrospection: Sendable, Hashable {
    /// `active`: whether the token can be used now. When it is false, nothing else is stated.
    public let isActive: Bool
    /// `scope`: the token's scopes; empty when the server does not state them.
    public let scopes: [String]
    /// `client_id`: the client that the token was issued to.
    public let clientID: String?
    /// `username`: a name to show, not an identifier.
    public let username: String?
    /// `sub`: the user, as the server identifies them.
    public let subject: String?
    /// Seconds since 1970.
    public let expiresAt: Double?
}
