/// Asks the server to revoke a token (RFC 7009, section 2.1).
public struct RevocationRequest: Sendable {
    /// Which kind of token it is, as a hint to the server.
    public enum TokenKind: String, Sendable, Hashable, Codable {
        /// An access token.
        case accessToken = "access_token"
        /// A refresh token (RFC 7009, section 2.1). Revoking one usually revokes its access tokens.
        case refreshToken = "refresh_token"
    }

    private var query: TokenQuery

    /// What no error may show beside what is sent: other tokens of the session, which a server may quote.
    package var hidden: [Secret] {
        get { query.hidden }
        set { query.hidden = newValue }
    }

    /// Asks `server` to revoke `token` (RFC 7009, section 2.1). The client is the one that the token was issued to.
    public init(
        _ token: Secret, kind: TokenKind, at server: AuthorizationServerMetadata, clientID: String,
        authentication: ClientAuthentication
    ) {
        query = TokenQuery(
            token: token, kind: kind, server: server, clientID: clientID, authentication: authentication)
    }

    /// The request to send.
    ///
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)``, or for a server described by hand
    ///   ``OAuthError/configuration(member:problem:)``, when the server has no revocation endpoint.
    public var message: RequestMessage {
        get throws(OAuthError) {
            try query.message(
                to: \.revocationEndpoint, named: "revocation_endpoint",
                algorithms: query.server.revocationEndpointAuthSigningAlgorithms)
        }
    }

    /// Reads the response. Returning means that the token is revoked; a token that the server does not know counts as
    /// revoked (RFC 7009, section 2.2).
    ///
    /// - Throws: ``OAuthError/redirected(step:status:target:)``; ``OAuthError/server(_:)`` for every error. With status
    ///   503 the token may still be active, and the request is to be repeated after ``ServerError/retryAfter`` (RFC 7009,
    ///   section 2.2.1).
    public func confirm(_ response: ResponseMessage) throws(OAuthError) {
        try response.requireSuccess(.revocation, hiding: query.secrets)
        // Some servers send an error with status 200, and some of them as an object.
        let error = (try? JSONValue(parsing: response.content))?.object?["error"] ?? .null
        guard [.null, .bool(false), .string("")].contains(error) else {
            throw .server(ServerError(step: .revocation, response, hiding: query.secrets))
        }
    }
}
