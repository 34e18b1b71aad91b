/// A signed statement that is exchanged for an access token. Source: RFC 7523, section 2.1.
///
/// By a key it is made anew for each request; one that another server has issued is used as it came.
public struct JWTBearerAssertion: Sendable {
    /// Whom a statement is addressed to (RFC 7523, section 3).
    public enum Audience: Sendable, Hashable {
        /// The issuer identifier.
        case issuer
        /// The token endpoint's address.
        case tokenEndpoint
        /// What the server's manual says. The statement counts there, so take it from nobody else.
        case named(String)
    }

    /// What a client states and signs.
    public struct Statement: Sendable {
        /// `iss`: who makes the statement.
        public let issuer: String
        /// `sub`: whom it is about, such as the user to act for. Nil leaves it out, where a server wants that.
        public var subject: String?
        /// `aud`: whom it is addressed to.
        public var audience = Audience.issuer
        /// How long it counts, in seconds, from 1 to 3600. 60 by default.
        public var lifetime = 60
        /// Whether the scopes are a claim of the statement. Otherwise they are a parameter of the request.
        public var claimsScopes = false
        /// The header's `typ`.
        public var type = "JWT"

        /// States who speaks, and whom the statement is about.
        public init(issuer: String, subject: String?) {
            self.issuer = issuer
            self.subject = subject
        }
    }

    private enum Source: Sendable {
        case issued(Secret)
        case made(Statement, SigningKey, now: @Sendable () -> Double, RandomSource)
    }

    /// The scopes to ask for.
    public let scopes: [String]
    private let source: Source

    static let longestLifetime = 3600

    /// Uses a statement that another server has issued. ``TokenType/identityAssertion`` is the kind of one.
    public init(_ assertion: Secret, scopes: [String] = []) {
        source = .issued(assertion)
        self.scopes = scopes
    }

    /// Makes statements.
    ///
    /// - Parameters:
    ///   - statement: what is said.
    ///   - key: what signs it.
    ///   - scopes: the scopes to ask for.
    ///   - now: seconds since 1970, as the server counts them.
    ///   - random: the source of `jti`.
    public init(
        _ statement: Statement, signedBy key: SigningKey, scopes: [String] = [],
        now: @escaping @Sendable () -> Double, random: RandomSource = .system
    ) {
        source = .made(statement, key, now: now, random)
        self.scopes = scopes
    }

    /// Whether each request gets a new statement.
    var isMadeAnew: Bool { if case .made = source { true } else { false } }

    /// Whether the client's own statement has this name for the client.
    func names(_ clientID: String) -> Bool {
        if case .made(let statement, _, _, _) = source { statement.issuer.isIdentical(to: clientID) } else { false }
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
        case .made(let statement, let key, let now, let random):
            try parameters.add(
                "assertion", try signed(statement, by: key, now: now(), random, at: server, scopeDelimiter).reveal())
            if !statement.claimsScopes { try parameters.add("scope", scopes.joined(separator: scopeDelimiter)) }
        }
    }

    private func signed(
        _ statement: Statement, by key: SigningKey, now: Double, _ random: RandomSource,
        at server: AuthorizationServerMetadata, _ scopeDelimiter: String
    ) throws(OAuthError) -> Secret {
        guard !statement.issuer.isEmpty else { throw .configuration(member: "iss", problem: "it is empty") }
        guard (1...Self.longestLifetime).contains(statement.lifetime) else {
            throw .configuration(
                member: "lifetime",
                problem: "a statement counts from 1 to \(Self.longestLifetime) seconds, not \(statement.lifetime)")
        }
        // A clock that is no time of this epoch would make a number that no server reads.
        guard now >= 0, now < 1e12 else {
            throw .configuration(member: "clock", problem: "its time is not plausible")
        }
        let audience =
            switch statement.audience {
            case .issuer: server.issuer.string
            case .tokenEndpoint: server.tokenEndpoint.string
            case .named(let name): name
            }
        var claims: JSONObject = [
            "iss": .string(statement.issuer), "aud": .string(audience), "iat": .number("\(Int(now))"),
            "exp": .number("\(Int(now) + statement.lifetime)"),
            "jti": .string(Base64URL.encode(random.bytes(16))),
        ]
        claims["sub"] = statement.subject.map { .string($0) }
        if statement.claimsScopes { claims["scope"] = .string(scopes.joined(separator: scopeDelimiter)) }
        var header: JSONObject = ["typ": .string(statement.type)]
        header["kid"] = key.keyID.map { .string($0) }
        return try key.sign(claims, header: header, by: key.algorithms[0])
    }
}

extension JWTBearerAssertion: CustomReflectable {
    /// The scopes alone.
    public var customMirror: Mirror { Mirror(self, children: ["scopes": scopes], displayStyle: .struct) }
}
