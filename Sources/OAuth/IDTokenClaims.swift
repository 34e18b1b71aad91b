internal import Crypto

/// The claims of a validated ID token (OpenID Connect Core, section 2). They say who signed in, when, and at which
/// server.
///
/// Only ``IDTokenValidator`` makes one from a token. `nonce`, `at_hash` and `c_hash` are not among ``claims``: they are
/// secrets, or hashes of secrets. A digest of the nonce is kept, to check the ID tokens of refreshes.
public struct IDTokenClaims: Sendable, Hashable {
    /// `iss`: the server that issued the token.
    public let issuer: String
    /// `sub`: the user, unique at this issuer and never reassigned; 1 to 255 bytes.
    public let subject: String
    /// `aud`: the clients that the token is for, in their order; never empty.
    public let audience: [String]
    /// `azp`: the client that the token was issued to. Nil when the token does not state it.
    public let authorizedParty: String?
    /// `iat`: when the token was issued, in seconds since 1970.
    public let issuedAt: Double
    /// `exp`: when the token expires, in seconds since 1970. It says nothing about the access token.
    public let expiresAt: Double
    /// `auth_time`: when the user authenticated, in seconds since 1970. Nil when the server does not state it. A
    /// refresh does not change it.
    public let authenticatedAt: Double?
    /// All claims of the token, without `nonce`, `at_hash` and `c_hash`. The ones above are among them.
    public let claims: JSONObject
    /// The digest of the sign-in's nonce; nil when it had none.
    let nonceDigest: NonceDigest?

    /// Reads claims by the types that OpenID Connect Core, section 2 gives them.
    ///
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/tokenForm``; the expectation begins with the claim's
    ///   name.
    package init(claims all: JSONObject) throws(OAuthError) {
        try self.init(claims: all, previous: nil)
    }

    /// - Parameter previous: the sign-in's claims; a refreshed token takes the nonce, and what it leaves out of `auth_time` and
    ///   `sid`, from them: it is of the same session.
    init(claims all: consuming JSONObject, previous: IDTokenClaims?) throws(OAuthError) {
        var reader = ClaimReader(claims: consume all)
        issuer = try reader.required("iss", try reader.string("iss"))
        subject = try reader.required("sub", try reader.string("sub"))
        guard (1...255).contains(subject.utf8.count) else {
            throw reader.wrong("sub", expected: "1 to 255 bytes", found: "\(subject.utf8.count)")
        }
        audience = try reader.audience()
        authorizedParty = try reader.string("azp")
        issuedAt = try reader.required("iat", try reader.time("iat"))
        expiresAt = try reader.required("exp", try reader.time("exp"))
        notBefore = try reader.time("nbf")
        authenticatedAt = try reader.time("auth_time") ?? previous?.authenticatedAt
        nonceDigest =
            previous?.nonceDigest ?? reader.claims[Self.digestName]?.string.map(NonceDigest.init(text:))
            ?? reader.claims["nonce"]?.string.map { NonceDigest(of: Secret($0)) }
        for name in Self.hiddenNames { reader.claims[name] = nil }
        if let previous {
            for name in ["auth_time", "sid"] where reader.claims[name] == nil {
                reader.claims[name] = previous.claims[name]
            }
        }
        claims = reader.claims
    }

    /// The members that are secrets, or hashes of secrets.
    private static let hiddenNames = ["nonce", "at_hash", "c_hash", digestName]

    /// The member of ``json`` that holds the nonce's digest. A claim of this name in a token is ignored.
    static let digestName = "urn:handshake:nonce_sha256"

    /// `nbf`: the time before which the token is not valid (RFC 7519, section 4.1.5).
    private let notBefore: Double?

    /// How many seconds the clocks have to differ for this token to be valid at `now`. It is 0 when they can be equal.
    ///
    /// A token is accepted when this is within ``IDTokenValidator/leeway``. A value that stays above 0 shows a wrong
    /// clock.
    public func leewayNeeded(at now: Double) -> Double {
        max(0, now - expiresAt, issuedAt - now, (notBefore ?? now) - now)
    }

    /// The claims and the nonce's digest as JSON text, from which ``init(claims:)`` restores an equal value.
    package var json: String {
        var members = claims
        members[Self.digestName] = (nonceDigest?.text).map(JSONValue.string)
        return JSONValue.object(members).json
    }
}

/// The SHA-256 of a sign-in's nonce. It is computed where it is needed: when claims are stored, compared or hashed.
struct NonceDigest: Sendable {
    private enum Source: Sendable {
        case nonce(Secret)
        case text(String)
    }

    private let source: Source

    init(of nonce: Secret) { source = .nonce(nonce) }

    init(text: String) { source = .text(text) }

    /// The digest in Base64URL.
    var text: String {
        switch source {
        case .nonce(let nonce): Base64URL.encode(SHA256.hash(data: Array(nonce.reveal().utf8)))
        case .text(let text): text
        }
    }

    /// Compares in a time that depends on the lengths only.
    func matches(_ nonce: Secret) -> Bool {
        Secret(NonceDigest(of: nonce).text).matches(Secret(text))
    }
}

extension NonceDigest: Hashable {
    static func == (left: NonceDigest, right: NonceDigest) -> Bool {
        left.text.isIdentical(to: right.text)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(text)
    }
}

/// Reads claims one by one and names the one that is missing or of the wrong type.
struct ClaimReader {
    var claims: JSONObject

    /// The end of the year 9999: a later time is a mistake of units.
    static let latestTime: Double = 253_402_300_799

    func wrong(_ name: String, expected: String, found: String? = nil) -> OAuthError {
        .refused(
            Refusal(.tokenForm, expected: "\(name): \(expected)", found: found ?? claims[name]?.kind ?? "nothing"))
    }

    func required<Value>(_ name: String, _ value: Value?) throws(OAuthError) -> Value {
        guard let value else { throw wrong(name, expected: "a value") }
        return value
    }

    func string(_ name: String) throws(OAuthError) -> String? {
        guard let value = claims[name] else { return nil }
        guard let text = value.string else { throw wrong(name, expected: "a string") }
        return text
    }

    func time(_ name: String) throws(OAuthError) -> Double? {
        guard let value = claims[name] else { return nil }
        guard case .number(let spelling) = value, let seconds = Int64(spelling).map(Double.init) ?? Double(spelling),
            seconds >= 0, seconds <= Self.latestTime
        else { throw wrong(name, expected: "seconds since 1970, before the year 10000") }
        return seconds
    }

    /// One audience may come as a string, several as a list (RFC 7519, section 4.1.3).
    func audience() throws(OAuthError) -> [String] {
        if case .string(let only) = claims["aud"] { return [only] }
        let elements = claims["aud"]?.array ?? []
        let names = elements.compactMap(\.string)
        guard !names.isEmpty, names.count == elements.count else {
            throw wrong("aud", expected: "a string or a list of strings")
        }
        return names
    }
}
