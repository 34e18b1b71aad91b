import HTTPTypes

/// Asks the server whether a token is alive, and what it is for (RFC 7662, section 2.1).
public struct IntrospectionRequest: Sendable {
    public let token: Secret
    public let kind: RevocationRequest.TokenKind
    public let server: AuthorizationServerMetadata
    public let clientID: String
    public let authentication: ClientAuthentication

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
            var parameters = Parameters()
            try parameters.add("token", token.reveal())
            try parameters.add("token_type_hint", kind.rawValue)
            var headers = HTTPFields()
            try authentication.apply(clientID: clientID, to: &parameters, &headers)
            return RequestMessage(form: parameters, to: endpoint, headers: headers)
        }
    }

    /// Reads the answer (RFC 7662, section 2.2).
    public func introspection(from response: ResponseMessage) throws(OAuthError) -> TokenIntrospection {
        try response.requireSuccess(.introspection)
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
    public let isActive: Bool
    public let scopes: [String]
    public let clientID: String?
    public let username: String?
    public let subject: String?
    /// Seconds since 1970.
    public let expiresAt: Double?
}
