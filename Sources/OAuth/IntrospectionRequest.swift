import HTTPTypes

/// Asks the server whether a token is alive, and what it is for (RFC 7662, section 2.1).
public struct IntrospectionRequest: Sendable {
    /// The token that is asked about.
    public let token: Secret
    /// Which kind of token it is, as a hint.
    public let kind: RevocationRequest.TokenKind
    /// The server that issued it.
    public let server: AuthorizationServerMetadata
    /// The client that asks.
    public let clientID: String
    /// How the client proves who it is.
    public let authentication: ClientAuthentication

    /// Asks `server` about `token`. RFC 7662, section 2.1 wants a client that authenticates.
    public init(
        _ token: Secret, kind: RevocationRequest.TokenKind, at server: AuthorizationServerMetadata, clientID: String,
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
    /// - Throws: ``OAuthError/configuration(member:problem:)`` when the server has no introspection endpoint.
    public var message: RequestMessage {
        get throws(OAuthError) {
            guard let endpoint = server.introspectionEndpoint else {
                throw .configuration(member: "introspection_endpoint", problem: "this server has none")
            }
            return try RequestMessage(
                about: token, kind: kind, to: endpoint, clientID: clientID, authentication: authentication)
        }
    }

    /// Reads the answer (RFC 7662, section 2.2).
    public func introspection(from response: ResponseMessage) throws(OAuthError) -> TokenIntrospection {
        try response.requireSuccess(.introspection, hiding: [token, authentication.secret].compactMap(\.self))
        let answer = try AnswerReader(step: .introspection, content: response.content)
        guard let isActive = try answer.bool("active") else { throw answer.wrong("active", expected: "true or false") }
        return TokenIntrospection(
            isActive: isActive,
            scopes: try answer.string("scope")?.split(separator: " ").map(String.init) ?? [],
            clientID: try answer.string("client_id"),
            username: try answer.string("username"),
            subject: try answer.string("sub"),
            expiresAt: try answer.integer("exp").map(Double.init))
    }
}

/// What a server says of a token (RFC 7662, section 2.2).
public struct TokenIntrospection: Sendable, Hashable {
    /// `active`: whether the token can be used now. When it is false, the server says nothing else.
    public let isActive: Bool
    /// `scope`: what the token is good for; empty when the server does not say.
    public let scopes: [String]
    /// `client_id`: whom the token was issued to.
    public let clientID: String?
    /// `username`: a name for people, not an identifier.
    public let username: String?
    /// `sub`: the user, as the server identifies them.
    public let subject: String?
    /// Seconds since 1970.
    public let expiresAt: Double?
}
