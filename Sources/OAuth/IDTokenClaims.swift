/// Who signed in, when and by whose word: the claims of an ID token whose signature was checked (OpenID Connect Core,
/// section 2).
///
/// Only ``IDTokenValidator`` makes one out of a token. The claims that serve the checking itself, `nonce`, `at_hash`
/// and `c_hash`, are not kept: they are secrets, or hashes of secrets, and mean nothing later.
public struct IDTokenClaims: Sendable, Hashable {
    /// `iss`: the server that vouches for the rest.
    public let issuer: String
    /// `sub`: the user, unique at this issuer and never reassigned; 1 to 255 bytes.
    public let subject: String
    /// `aud`: the clients that the token is for, as listed; never empty.
    public let audience: [String]
    /// `azp`: the client that the token was issued to, when it says so.
    public let authorizedParty: String?
    /// `iat`: when the token was issued, in seconds since 1970.
    public let issuedAt: Double
    /// `exp`: when the token expires, in seconds since 1970. It says nothing of the access token's life.
    public let expiresAt: Double
    /// `auth_time`: when the user proved who they are, in seconds since 1970; nil when the server does not say.
    public let authenticatedAt: Double?
    /// All claims as they came, the ones above among them, without `nonce`, `at_hash` and `c_hash`.
    public let claims: [String: JSONValue]

    /// Reads claims by the types that OpenID Connect Core, section 2 gives them.
    ///
    /// - Throws: ``OAuthError/refused(_:)`` with ``Refusal/Check/tokenForm``; the expectation begins with the claim's
    ///   name.
    package init(claims all: [String: JSONValue]) throws(OAuthError) {
        let reader = ClaimReader(claims: all)
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
        authenticatedAt = try reader.time("auth_time")
        claims = all.filter { !["nonce", "at_hash", "c_hash"].contains($0.key) }
    }

    /// `nbf`: before when the token does not count (RFC 7519, section 4.1.5).
    private let notBefore: Double?

    /// How far, in seconds, the two clocks have to be apart for this token to be valid at `now`; 0 when they can agree.
    ///
    /// A token is accepted when this is within ``IDTokenValidator/leeway``; a value that stays above 0 tells of a wrong
    /// clock.
    public func leewayNeeded(at now: Double) -> Double {
        max(0, now - expiresAt, issuedAt - now, (notBefore ?? now) - now)
    }

    /// The claims as JSON text, from which ``init(claims:)`` restores an equal value.
    package var json: String {
        JSONValue.object(claims).json
    }
}

/// Reads claims one by one and names the one that is missing or of the wrong type.
private struct ClaimReader {
    let claims: [String: JSONValue]

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
        guard case .number(let spelling) = value, let seconds = Double(spelling), seconds >= 0,
            seconds <= Self.latestTime
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
