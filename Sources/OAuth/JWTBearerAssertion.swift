/// A signed assertion that is exchanged for an access token. Source: RFC 7523, section 2.1.
///
/// With a key, one is made for each request. One that another server has issued is used as it came.
public struct JWTBearerAssertion: Sendable {
    /// Whom an assertion is addressed to (RFC 7523, section 3).
    public enum Audience: Sendable, Hashable {
        /// The issuer identifier.
        case issuer
        /// The token endpoint's address.
        case tokenEndpoint
        /// What the server's manual says. The assertion counts there, so take the name from no other source.
        case named(String)
    }

    /// The claims that a client signs (RFC 7523, section 3).
    public struct Claims: Sendable {
        /// `iss`: who makes the assertion.
        public var issuer: String
        /// `sub`: whom it is about, such as the user to act for. Nil leaves it out, where a server wants that.
        public var subject: String?
        /// `aud`: whom it is addressed to.
        public var audience = Audience.issuer
        /// How long it counts, in seconds, from 1 to 3600. 60 by default.
        public var lifetime = 60
        /// Whether the scopes are a claim too. Otherwise they are a parameter of the request.
        public var claimsScopes = false
        /// The header's `typ`.
        public var type = "JWT"

        /// States who makes the assertion, and whom it is about.
        public init(issuer: String, subject: String?) {
            self.issuer = issuer
            self.subject = subject
        }
    }

    private enum Source: Sendable {
        case issued(Secret)
        case made(Claims, SigningKey, now: @Sendable () -> Double, RandomSource)
    }

    /// The scopes to ask for.
    public let scopes: [String]
    private let source: Source

    static let maximumLifetime = 3600

    /// Uses an assertion that another server has issued. ``TokenType/identityAssertion`` is the kind of one.
    public init(_ assertion: Secret, scopes: [String] = []) {
        source = .issued(assertion)
        self.scopes = scopes
    }

    /// Makes an assertion for each request.
    ///
    /// - Parameters:
    ///   - claims: what it says.
    ///   - key: what signs it.
    ///   - scopes: the scopes to ask for.
    ///   - now: seconds since 1970, as the server counts them.
    ///   - random: the source of `jti`.
    public init(
        _ claims: Claims, signedBy key: SigningKey, scopes: [String] = [],
        now: @escaping @Sendable () -> Double, random: RandomSource = .system
    ) {
        source = .made(claims, key, now: now, random)
        self.scopes = scopes
    }

    /// Whether each request gets a new assertion.
    var isMadeForEachRequest: Bool { if case .made = source { true } else { false } }

    /// Whether the client's own assertion has this name for the client.
    func names(_ clientID: String) -> Bool {
        if case .made(let claims, _, _, _) = source { claims.issuer.isIdentical(to: clientID) } else { false }
    }

    /// What no error may show.
    var secrets: [Secret] { if case .issued(let assertion) = source { [assertion] } else { [] } }

    func add(
        to parameters: inout Parameters, at server: AuthorizationServerMetadata, scopeDelimiter: String
    ) throws(OAuthError) {
        try Scope.check(scopes)
        try parameters.add("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
        switch source {
        case .issued(let assertion):
            guard !assertion.isEmpty else { throw .configuration(member: "assertion", problem: "it is empty") }
            try parameters.add("assertion", assertion.reveal())
            try parameters.add("scope", scopes.joined(separator: scopeDelimiter))
        case .made(let claims, let key, let now, let random):
            try parameters.add(
                "assertion", try signed(claims, by: key, now: now(), random, at: server, scopeDelimiter).reveal())
            if !claims.claimsScopes { try parameters.add("scope", scopes.joined(separator: scopeDelimiter)) }
        }
    }

    private func signed(
        _ claims: Claims, by key: SigningKey, now: Double, _ random: RandomSource,
        at server: AuthorizationServerMetadata, _ scopeDelimiter: String
    ) throws(OAuthError) -> Secret {
        guard !claims.issuer.isEmpty else { throw .configuration(member: "iss", problem: "it is empty") }
        guard (1...Self.maximumLifetime).contains(claims.lifetime) else {
            throw .configuration(
                member: "lifetime",
                problem: "it must be from 1 to \(Self.maximumLifetime) seconds, not \(claims.lifetime)")
        }
        try OAuthError.checkClock(now)
        let audience =
            switch claims.audience {
            case .issuer: server.issuer.string
            case .tokenEndpoint: server.tokenEndpoint.string
            case .named(let name): name
            }
        var payload: JSONObject = [
            "iss": .string(claims.issuer), "aud": .string(audience), "iat": .number("\(Int(now))"),
            "exp": .number("\(Int(now) + claims.lifetime)"),
            "jti": .string(Base64URL.encode(random.bytes(16))),
        ]
        payload["sub"] = claims.subject.map { .string($0) }
        if claims.claimsScopes { payload["scope"] = .string(scopes.joined(separator: scopeDelimiter)) }
        var header: JSONObject = ["typ": .string(claims.type)]
        header["kid"] = key.keyID.map { .string($0) }
        return try key.sign(payload, header: header, by: key.algorithms[0])
    }
}

extension JWTBearerAssertion: CustomReflectable {
    /// The scopes alone.
    public var customMirror: Mirror { Mirror(self, children: ["scopes": scopes], displayStyle: .struct) }
}
