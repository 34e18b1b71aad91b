internal import Crypto

/// A signed assertion by which a client authenticates (RFC 7523, section 2.2). Each request gets a new one.
///
/// By a private key it is `private_key_jwt`, by the client's secret `client_secret_jwt` (OpenID Connect Core, section
/// 9). The form ``Form/secret(_:)`` is sent in place of a client's secret.
public struct ClientAssertion: Sendable {
    /// What signs.
    public enum Signer: Sendable {
        /// The client's private key.
        case key(SigningKey)
        /// The client's secret (OpenID Connect Core, section 10.1). Its UTF-8 octets are the key of an HMAC.
        case secret(Secret)
    }

    /// Whom the assertion is addressed to.
    public enum Audience: String, Sendable, Hashable, Codable, CaseIterable {
        /// The issuer identifier, at every endpoint: the standard's rule.
        case issuer
        /// The token endpoint's address: a deviation of some servers.
        case tokenEndpoint = "token_endpoint"
        /// The address of the endpoint that is called: a deviation of some servers.
        case endpoint
    }

    /// How the assertion is built and sent.
    public enum Form: Sendable, Hashable {
        /// As `client_assertion` (RFC 7521, section 4.2). `type` is the header's `typ`:
        /// `client-authentication+jwt`, at servers of older standards `JWT`.
        case assertion(audience: Audience = .issuer, type: String = "client-authentication+jwt")
        /// As `client_secret`, at services that want a signed secret.
        case secret(SignedSecret)
    }

    /// A client secret that is a signed text, as Sign in with Apple has it.
    public struct SignedSecret: Sendable, Hashable, Codable {
        /// `iss`: who made the key, such as a developer team.
        public var issuer: String
        /// `aud`: the service.
        public var audience: String

        /// States a signed secret.
        public init(issuer: String, audience: String) {
            self.issuer = issuer
            self.audience = audience
        }
    }

    /// What signs.
    public let signer: Signer
    /// How the assertion is built and sent.
    public let form: Form
    private let now: @Sendable () -> Double
    private let random: RandomSource

    /// Prepares assertions.
    ///
    /// - Parameters:
    ///   - signer: what signs.
    ///   - form: how the assertion is built and sent.
    ///   - now: seconds since 1970, as the server counts them.
    ///   - random: the source of `jti`.
    public init(
        by signer: Signer, form: Form = .assertion(), now: @escaping @Sendable () -> Double,
        random: RandomSource = .system
    ) {
        self.signer = signer
        self.form = form
        self.now = now
        self.random = random
    }

    /// The registered name of the method (RFC 7591, section 2; OpenID Connect Core, section 9).
    var method: String {
        switch (form, signer) {
        case (.secret, _): "client_secret_post"
        case (.assertion, .key): "private_key_jwt"
        case (.assertion, .secret): "client_secret_jwt"
        }
    }

    /// What no error may show.
    var secrets: [Secret] {
        if case .secret(let secret) = signer { [secret] } else { [] }
    }

    /// How long an assertion counts, in seconds: long enough for one request.
    private static let lifetime = 60
    /// How long a signed secret counts, in seconds. Apple allows up to six months.
    private static let secretLifetime = 300

    /// Whether an assertion can be made for a server; nothing is signed.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` when the key or secret fits none of the server's
    ///   algorithms, or the audience would be another server's.
    package func check(at server: AuthorizationServerMetadata) throws(OAuthError) {
        _ = try audience(at: server.tokenEndpoint, of: server)
        _ = try algorithm(among: server.tokenEndpointAuthSigningAlgorithms)
    }

    /// Adds a new assertion to a request.
    func add(clientID: String, for call: AuthenticatedCall, to parameters: inout Parameters) throws(OAuthError) {
        let assertion = try assertion(clientID: clientID, for: call)
        try parameters.add("client_id", clientID)
        switch form {
        case .secret:
            try parameters.add("client_secret", assertion.reveal())
        case .assertion:
            try parameters.add("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            try parameters.add("client_assertion", assertion.reveal())
        }
    }

    private func assertion(clientID: String, for call: AuthenticatedCall) throws(OAuthError) -> Secret {
        let time = now()
        try OAuthError.checkClock(time)
        let issuedAt = Int(time)
        var header = JSONObject()
        var claims: JSONObject = [
            "sub": .string(clientID), "iat": .number("\(issuedAt)"),
            "aud": .string(try audience(at: call.endpoint, of: call.server)),
        ]
        switch form {
        case .assertion(_, let type):
            header["typ"] = .string(type)
            claims["iss"] = .string(clientID)
            claims["jti"] = .string(Base64URL.encode(random.bytes(16)))
            claims["exp"] = .number("\(issuedAt + Self.lifetime)")
        case .secret(let secret):
            claims["iss"] = .string(secret.issuer)
            claims["exp"] = .number("\(issuedAt + Self.secretLifetime)")
        }
        switch (try algorithm(among: call.algorithms), signer) {
        case (.asymmetric(let algorithm), .key(let key)):
            header["kid"] = key.keyID.map { .string($0) }
            return try key.sign(claims, header: header, by: algorithm)
        case (.hash(let hash), .secret(let secret)):
            header["alg"] = .string(hash.rawValue)
            return hash.sign(claims, header: header, with: secret)
        default: throw SigningKey.wrong("it cannot sign with this algorithm")
        }
    }

    private func audience(
        at endpoint: EndpointURL, of server: AuthorizationServerMetadata
    ) throws(OAuthError) -> String {
        let address: EndpointURL
        switch form {
        case .secret(let secret): return secret.audience
        case .assertion(.issuer, _): return server.issuer.string
        case .assertion(.tokenEndpoint, _): address = server.tokenEndpoint
        case .assertion(.endpoint, _): address = endpoint
        }
        // Otherwise an assertion that this server asked for would count at another one.
        guard address.origin == server.issuer.url.origin else {
            throw .configuration(
                member: "assertion-audience",
                problem: "\(address) is not on the origin of the issuer \(server.issuer); use the audience issuer")
        }
        return address.string
    }

    private enum Algorithm {
        case asymmetric(SignatureAlgorithm)
        case hash(MessageAuthentication)
    }

    private func algorithm(among supported: [String]?) throws(OAuthError) -> Algorithm {
        switch signer {
        case .key(let key): return .asymmetric(try key.algorithm(among: supported))
        case .secret(let secret):
            let octets = secret.reveal().utf8.count
            let listed = MessageAuthentication.allCases.filter { supported?.contains($0.rawValue) ?? true }
            guard let hash = listed.first else {
                throw .configuration(
                    member: "client_secret",
                    problem: "the server accepts only signatures by "
                        + "\(quoted(supported?.joined(separator: ", ") ?? "", limit: 200)), which need a key")
            }
            guard octets >= hash.minimumLength else {
                throw .configuration(
                    member: "client_secret",
                    problem:
                        "it has \(octets) bytes, and \(hash.rawValue) needs \(hash.minimumLength); ask the service "
                        + "for a longer secret")
            }
            return .hash(hash)
        }
    }
}

extension ClientAssertion: CustomReflectable {
    /// The method alone.
    public var customMirror: Mirror { Mirror(self, children: ["method": method], displayStyle: .struct) }
}

/// One call of an endpoint at which the client authenticates.
struct AuthenticatedCall {
    let server: AuthorizationServerMetadata
    let endpoint: EndpointURL
    /// The algorithms that this endpoint takes for assertions; nil when the server states none.
    let algorithms: [String]?
}

/// A message authentication code by which a client's secret signs (RFC 7518, section 3.2).
private enum MessageAuthentication: String, CaseIterable {
    case sha256 = "HS256"
    case sha384 = "HS384"
    case sha512 = "HS512"

    /// The shortest key, in bytes: as long as the hash (RFC 7518, section 3.2).
    var minimumLength: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    func sign(_ payload: JSONObject, header: JSONObject, with secret: Secret) -> Secret {
        let text =
            Base64URL.encode(JSONValue.object(header).json.utf8) + "."
            + Base64URL.encode(JSONValue.object(payload).json.utf8)
        let bytes = Array(text.utf8)
        let key = SymmetricKey(data: Array(secret.reveal().utf8))
        let code: [UInt8] =
            switch self {
            case .sha256: Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
            case .sha384: Array(HMAC<SHA384>.authenticationCode(for: bytes, using: key))
            case .sha512: Array(HMAC<SHA512>.authenticationCode(for: bytes, using: key))
            }
        return Secret(text + "." + Base64URL.encode(code))
    }
}
