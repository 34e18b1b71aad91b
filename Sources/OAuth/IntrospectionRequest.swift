import HTTPTypes

/// Asks the server whether a token is active, and what it is for. Source: RFC 7662, section 2.1.
public struct IntrospectionRequest: Sendable {
    private let query: TokenQuery
    /// Whether the response is asked for as a signed text (RFC 9701, section 4).
    public let isSigned: Bool

    /// The media type of a signed response.
    static let signedType = "application/token-introspection+jwt"

    /// Asks `server` about `token`. RFC 7662, section 2.1 requires authentication.
    ///
    /// With `signed`, read the response with ``introspection(from:keys:now:algorithms:leeway:)``.
    public init(
        _ token: Secret, kind: RevocationRequest.TokenKind, at server: AuthorizationServerMetadata, clientID: String,
        authentication: ClientAuthentication, signed isSigned: Bool = false
    ) {
        self.isSigned = isSigned
        query = TokenQuery(
            token: token, kind: kind, server: server, clientID: clientID, authentication: authentication)
    }

    /// The request to send.
    ///
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)``, or for a server described by hand
    ///   ``OAuthError/configuration(member:problem:)``, when the server has no introspection endpoint.
    public var message: RequestMessage {
        get throws(OAuthError) {
            var message = try query.message(
                to: \.introspectionEndpoint, named: "introspection_endpoint",
                algorithms: query.server.introspectionEndpointAuthSigningAlgorithms)
            if isSigned { message.head.headerFields[.accept] = Self.signedType }
            return message
        }
    }

    /// Reads the response (RFC 7662, section 2.2).
    ///
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)`` also where a signed response was asked for.
    public func introspection(from response: ResponseMessage) throws(OAuthError) -> TokenIntrospection {
        guard !isSigned else { throw Self.unsigned }
        try response.requireSuccess(.introspection, hiding: query.secrets)
        let members = try ResponseReader(step: .introspection, content: response.content, hiding: query.secrets)
        if members["active"] == nil, let error = members.serverError(status: response.head.status.code) { throw error }
        guard let isActive = try members.bool("active") else {
            throw members.malformed("active", expected: "true or false")
        }
        return try TokenIntrospection(members, isActive: isActive)
    }

    /// Reads a signed response (RFC 9701, section 5). Only its claim `token_introspection` is about the token.
    ///
    /// - Parameters:
    ///   - response: the server's answer.
    ///   - keys: the issuer's keys.
    ///   - now: seconds since 1970.
    ///   - algorithms: the client's policy; all asymmetric algorithms by default.
    ///   - leeway: seconds by which the server's clock may be ahead.
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/signedText``;
    ///   ``OAuthError/malformed(step:member:expected:found:)``, also for a plain response;
    ///   ``OAuthError/server(_:)``. Where ``Refusal/Check/mayNeedNewKeys`` is true, fetch the keys once and try again.
    public func introspection(
        from response: ResponseMessage, keys: JSONWebKeySet, now: Double,
        algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases, leeway: Double = 60
    ) throws(OAuthError) -> TokenIntrospection {
        try response.requireSuccess(.introspection, hiding: query.secrets)
        let type = response.head.headerFields[.contentType] ?? ""
        guard type.utf8.count <= 200,
            type.lowercased().split(separator: ";").first.map({ $0.filter { $0 != " " } }) == Self.signedType,
            let text = String(validating: response.content, as: UTF8.self)
        else { throw Self.unsigned }
        let rules = SignedTextRules(
            kind: .introspection, types: ["token-introspection+jwt"], needsType: true, issuer: query.server.issuer,
            clientID: query.clientID, expiry: .ignored, algorithms: algorithms, leeway: leeway, secrets: query.secrets)
        let claims = try rules.claims(of: Secret(text), keys: keys, now: now)
        guard let inner = claims["token_introspection"]?.object else {
            throw rules.refusal(
                .tokenForm, "token_introspection: an object", found: claims["token_introspection"]?.kind ?? "nothing")
        }
        let members = try ResponseReader(
            step: .introspection, content: Array(JSONValue.object(inner).json.utf8), hiding: query.secrets)
        guard let isActive = try members.bool("active") else {
            throw members.malformed("active", expected: "true or false")
        }
        return try TokenIntrospection(members, isActive: isActive)
    }

    private static let unsigned = OAuthError.malformed(
        step: .introspection, member: "content",
        expected: "a signed response (\(signedType)), as was asked for", found: "another one")
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
    /// `aud`: the APIs that the token is for. Empty when the server does not state them.
    public let audience: [String]
    /// Seconds since 1970.
    public let expiresAt: Double?
    /// `token_type`, as the server writes it: `Bearer` or `DPoP`. Nil when the server does not state it.
    public let tokenType: String?
    /// `cnf`: what the token is bound to. Nil for a token that counts for each of its bearers.
    public let confirmation: TokenConfirmation?

    fileprivate init(_ members: ResponseReader, isActive: Bool) throws(OAuthError) {
        self.isActive = isActive
        scopes = try members.string("scope")?.split(separator: " ").map(String.init) ?? []
        clientID = try members.string("client_id")
        username = try members.string("username")
        subject = try members.string("sub")
        if let single = members["aud"]?.string {
            audience = [single]
        } else {
            audience = try members.strings("aud") ?? []
        }
        expiresAt = try members.integer("exp").map(Double.init)
        tokenType = try members.string("token_type")
        confirmation = try TokenConfirmation(members)
    }
}
