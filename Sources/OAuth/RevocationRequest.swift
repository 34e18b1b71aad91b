import HTTPTypes

/// Asks the server to void a token (RFC 7009, section 2.1).
public struct RevocationRequest: Sendable {
    /// Which kind of token it is, as a hint to the server.
    public enum TokenKind: String, Sendable, Hashable, Codable {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
    }

    public let token: Secret
    public let kind: TokenKind
    public let server: AuthorizationServerMetadata
    public let clientID: String
    public let authentication: ClientAuthentication

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

    /// The request to send.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` when the server has no revocation endpoint.
    public var message: RequestMessage {
        get throws(OAuthError) {
            guard let endpoint = server.revocationEndpoint else {
                throw .configuration(member: "revocation_endpoint", problem: "this server has none")
            }
            var parameters = Parameters()
            try parameters.add("token", token.reveal())
            try parameters.add("token_type_hint", kind.rawValue)
            var headers = HTTPFields()
            try authentication.apply(clientID: clientID, to: &parameters, &headers)
            return RequestMessage(form: parameters, to: endpoint, headers: headers)
        }
    }

    /// Reads the answer. Returning means that the token is void; a token the server does not know counts as void (RFC 7009,
    /// section 2.2).
    ///
    /// - Throws: ``OAuthError/server(_:)`` for every error; with status 503 the token may still live and the request is to be
    ///   repeated after ``ServerError/retryAfter`` (RFC 7009, section 2.2.1).
    public func confirm(_ response: ResponseMessage) throws(OAuthError) {
        try response.requireSuccess(.revocation)
    }
}
