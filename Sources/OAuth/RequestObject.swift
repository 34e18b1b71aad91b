extension AuthorizationRequest {
    /// The same request as one signed text (RFC 9101). The browser cannot change it.
    ///
    /// Signs a new request, before it is pushed or opened. All parameters are inside; beside the text the browser's
    /// address has `client_id`, and for OpenID servers `response_type` and `scope` (OpenID Connect Core, section 6.1).
    /// The text counts for five minutes.
    ///
    /// - Parameters:
    ///   - key: the client's key, whose public half the server knows.
    ///   - now: seconds since 1970, as the server counts them.
    ///   - random: the source of `jti`.
    /// - Throws: ``OAuthError/configuration(member:problem:)`` when the key fits none of the server's algorithms, when a
    ///   parameter that is to be a JSON value is none, or for a request that was signed, pushed or stored before.
    public func signed(
        by key: SigningKey, now: Double, random: RandomSource = .system
    ) throws(OAuthError) -> AuthorizationRequest {
        guard object == nil, !parameters.pairs.isEmpty else {
            throw .configuration(member: "request", problem: "it was signed or pushed already; begin a new sign-in")
        }
        try OAuthError.checkClock(now)
        var header: JSONObject = ["typ": .string("oauth-authz-req+jwt")]
        header["kid"] = key.keyID.map { .string($0) }
        let object = try key.sign(
            try requestClaims(now: now, random: random), header: header,
            by: try key.algorithm(among: server.requestObjectSigningAlgorithms))
        return try carrying(object, repeating: scopes.contains("openid") ? ["response_type", "scope"] : [])
    }

    /// How long a request object counts, in seconds.
    private static let objectLifetime = 300

    /// The names that belong to the text itself (RFC 7519, section 4.1). With a subject, the text could serve as the client's
    /// authentication (RFC 9101, section 10.8).
    private static let registeredClaims: Set<String> = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"]

    /// What every signed request says: from whom, for whom, and for how long (RFC 9101, section 4; CIBA Core, section 7.1.1).
    static func objectClaims(
        clientID: String, issuer: Issuer, now: Double, random: RandomSource
    ) -> JSONObject {
        let issuedAt = Int(now)
        return [
            "iss": .string(clientID), "aud": .string(issuer.string), "iat": .number("\(issuedAt)"),
            "nbf": .number("\(issuedAt)"), "exp": .number("\(issuedAt + objectLifetime)"),
            "jti": .string(Base64URL.encode(random.bytes(16))),
        ]
    }

    private func requestClaims(now: Double, random: RandomSource) throws(OAuthError) -> JSONObject {
        var claims = Self.objectClaims(clientID: clientID, issuer: server.issuer, now: now, random: random)
        for (name, values) in parameters.grouped {
            guard !Self.registeredClaims.contains(name) else {
                throw .configuration(
                    member: name, problem: "a signed request cannot have a parameter of this name; remove it")
            }
            claims[name] = try Self.claim(name, values)
        }
        return claims
    }

    /// The value of a parameter with the JSON type that its definition gives it (RFC 9101, section 4).
    static func claim(_ name: String, _ values: [String]) throws(OAuthError) -> JSONValue {
        guard values.count == 1, let text = values.first else { return .array(values.map { .string($0) }) }
        switch name {
        case "max_age":
            guard let seconds = wholeNumber(text) else {
                throw .configuration(member: name, problem: "it has to be a whole number of seconds")
            }
            return .number("\(seconds)")
        case "claims", "authorization_details":
            guard let value = try? JSONValue(parsing: Array(text.utf8)) else {
                throw .configuration(member: name, problem: "it is not JSON")
            }
            return value
        default: return .string(text)
        }
    }
}
