import HTTPTypes

/// Asks for a token in exchange for another one. Source: RFC 8693, section 2.1.
///
/// It is a grant: ``TokenRequest/GrantType/tokenExchange(_:)``. Where only an access token will do, read the response with
/// ``TokenRequest/response(from:now:)``; otherwise with ``TokenRequest/exchangedToken(from:now:)``.
public struct TokenExchange: Sendable {
    /// A token with its kind.
    public struct TypedToken: Sendable {
        /// The token.
        public let token: Secret
        /// What it is.
        public let type: TokenType

        /// States a token and its kind.
        public init(_ token: Secret, _ type: TokenType = .accessToken) {
            self.token = token
            self.type = type
        }
    }

    /// `subject_token`: represents the party for which the new token will be used.
    public let subject: TypedToken
    /// `actor_token`: represents the party that will use the new token. Nil where the subject uses it itself.
    public let actor: TypedToken?
    /// `requested_token_type`: what to issue. Nil leaves it to the server.
    public let requestedType: TokenType?
    /// `audience`: the services that the new token is for. Each by a name that the server knows.
    public let audiences: [String]
    /// The scopes to ask for.
    public let scopes: [String]

    /// States an exchange. The APIs that the new token is for are ``TokenRequest/resources``.
    public init(
        of subject: TypedToken, actor: TypedToken? = nil, for requestedType: TokenType? = .accessToken,
        audiences: [String] = [], scopes: [String] = []
    ) {
        self.subject = subject
        self.actor = actor
        self.requestedType = requestedType
        self.audiences = audiences
        self.scopes = scopes
    }

    /// What no error may show.
    var secrets: [Secret] { [subject.token, actor?.token].compactMap(\.self) }

    func add(to parameters: inout Parameters, scopeDelimiter: String) throws(OAuthError) {
        try Scope.check(scopes)
        for token in secrets where token.isEmpty {
            throw .configuration(member: "subject_token", problem: "a token to exchange is empty")
        }
        try parameters.add("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
        try parameters.add("subject_token", subject.token.reveal())
        try parameters.add("subject_token_type", subject.type.identifier)
        try parameters.add("actor_token", actor?.token.reveal())
        try parameters.add("actor_token_type", actor?.type.identifier)
        try parameters.add("requested_token_type", requestedType?.identifier)
        try parameters.addEach("audience", audiences)
        try parameters.add("scope", scopes.joined(separator: scopeDelimiter))
    }

    /// Checks that the issued kind is the requested one (`oauth-security.md` C13).
    func check(_ issued: TokenType?) throws(OAuthError) {
        guard let issued else {
            throw .malformed(
                step: .token, member: "issued_token_type", expected: "the kind of the issued token", found: "nothing")
        }
        guard requestedType == nil || requestedType == issued else {
            throw .malformed(
                step: .token, member: "issued_token_type", expected: requestedType?.identifier ?? "",
                found: "“\(Redaction(secrets)(issued.identifier, limit: 100))”")
        }
    }

    func check(_ response: TokenResponse) throws(OAuthError) {
        try check(response.issuedTokenType)
    }
}

/// What an exchange has issued. Source: RFC 8693, section 2.2.1.
public enum ExchangedToken: Sendable {
    /// A token that authorizes requests.
    case accessToken(TokenResponse)
    /// A token that is no access token, such as an ID token: `token_type` is `N_A`. It is never sent in `Authorization`.
    /// `expiresAt` is in seconds since 1970; nil when the server does not say.
    case other(TokenExchange.TypedToken, expiresAt: Double?)
}

extension TokenRequest {
    /// Reads the response to an exchange. The token may be another one than an access token.
    ///
    /// - Parameters:
    ///   - response: the token endpoint's response.
    ///   - now: seconds since 1970 when the request was sent.
    /// - Throws: what ``response(from:now:)`` throws; ``OAuthError/malformed(step:member:expected:found:)`` for
    ///   `issued_token_type` when the server has issued another kind than was asked for, or does not say which.
    public func exchangedToken(from response: ResponseMessage, now: Double) throws(OAuthError) -> ExchangedToken {
        guard case .tokenExchange(let exchange) = grantType else {
            throw .configuration(member: "grant_type", problem: "this request is not a token exchange")
        }
        guard response.head.status.kind == .successful,
            let members = (try? deviations.members(of: response.content))?.object,
            let type = members["token_type"]?.string, type.utf8.count <= 8, type.lowercased() == "n_a"
        else { return .accessToken(try self.response(from: response, now: now)) }
        let answer = try ResponseReader(
            step: .token, content: response.content, hiding: secrets, deviations: deviations)
        if let error = answer.serverError(status: response.head.status.code) { throw error }
        let issued = try answer.string("issued_token_type").map(TokenType.init)
        try exchange.check(issued)
        guard let issued, let token = try answer.token("access_token") else {
            throw answer.malformed("access_token", expected: "a non-empty string")
        }
        guard issued != .accessToken else {
            throw answer.malformed("token_type", expected: "a kind of access token", found: type)
        }
        return .other(.init(token, issued), expiresAt: try TokenResponse.expiry(in: answer, now: now, deviations))
    }
}
