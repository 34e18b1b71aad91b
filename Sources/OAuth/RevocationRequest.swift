import HTTPTypes

/// Asks the server to revoke a token (RFC 7009, section 2.1).
public struct RevocationRequest: Sendable {
    /// Which kind of token it is, as a hint to the server.
    public enum TokenKind: String, Sendable, Hashable, Codable {
        /// An access token.
        case accessToken = "access_token"
        /// A refresh token; revoking one usually revokes its access tokens (RFC 7009, section 2.1).
        case refreshToken = "refresh_token"
    }

    /// The token that is revoked.
    public let token: Secret
    /// Which kind of token it is, as a hint.
    public let kind: TokenKind
    /// The server that issued it.
    public let server: AuthorizationServerMetadata
    /// The client that asks.
    public let clientID: String
    /// How the client authenticates.
    public let authentication: ClientAuthentication

    /// Asks `server` to revoke `token`, by the client that the token was issued to (RFC 7009, section 2.1).
    public init(
        _ token: Secret, kind: TokenKind, at server: AuthorizationServerMetadata, clientID: String,
        authentication: ClientAuthentication
    ) {
        self.token = token
        self.kind = kind
        self.server = server
        self.clientID = clientID
        self.authentication = authentication
    }

    /// What this exchange sends and no error may show.
    private var secrets: [Secret] {
        [token] + authentication.secrets(clientID: clientID)
    }

    /// The request to send.
    ///
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)``, or for a server described by hand
    ///   ``OAuthError/configuration(member:problem:)``, when the server has no revocation endpoint.
    public var message: RequestMessage {
        get throws(OAuthError) {
            guard let endpoint = server.revocationEndpoint else {
                throw server.lacks("revocation_endpoint")
            }
            return try RequestMessage(
                about: token, kind: kind, to: endpoint, clientID: clientID, authentication: authentication)
        }
    }

    /// Reads the response. Returning means that the token is revoked; a token that the server does not know counts as
    /// revoked (RFC 7009, section 2.2).
    ///
    /// - Throws: ``OAuthError/server(_:)`` for every error; with status 503 the token may still be active and the
    ///   request is to be repeated after ``ServerError/retryAfter`` (RFC 7009, section 2.2.1).
    public func confirm(_ response: ResponseMessage) throws(OAuthError) {
        try response.requireSuccess(.revocation, hiding: secrets)
    }
}

extension RequestMessage {
    /// A request about a token: the form that revocation and introspection share (RFC 7009, section 2.1; RFC 7662,
    /// section 2.1).
    init(
        about token: Secret, kind: RevocationRequest.TokenKind, to endpoint: EndpointURL, clientID: String,
        authentication: ClientAuthentication
    ) throws(OAuthError) {
        var parameters = Parameters()
        try parameters.add("token", token.reveal())
        try parameters.add("token_type_hint", kind.rawValue)
        var headers = HTTPFields()
        try authentication.apply(clientID: clientID, to: &parameters, &headers)
        self.init(form: parameters, to: endpoint, headers: headers)
    }
}
