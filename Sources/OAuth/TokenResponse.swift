/// A successful response of the token endpoint (RFC 6749, section 5.1).
public struct TokenResponse: Sendable {
    /// The access token: printable ASCII of at most 64 KiB, opaque to a client.
    public let accessToken: Secret
    /// When the access token expires, in seconds since 1970. Nil when the server does not say, which means unknown.
    public let expiresAt: Double?
    /// The refresh token (RFC 6749, section 6). Nil means, after a refresh, that the old one stays.
    public internal(set) var refreshToken: Secret?
    /// When the refresh token expires, in seconds since 1970. Nil when the server does not say, which means unknown.
    ///
    /// RFC 6749 has no member for it. `refresh_token_expires_in`, `refresh_expires_in` and `x_refresh_token_expires_in` are read.
    public let refreshTokenExpiresAt: Double?
    /// The scope that was granted (RFC 6749, section 5.1). Nil when the server does not say, which means as asked.
    ///
    /// Divided at spaces alone. Where a service separates scopes by commas or bars, ``Grant`` divides them further.
    public let scopes: [String]?
    /// What the token authorizes in detail (RFC 9396, section 7). Nil when the server does not say.
    public let authorizationDetails: [AuthorizationDetail]?
    /// The ID token as it came: not yet checked.
    public let idToken: Secret?
    /// Whether the access token is bound to a key (RFC 9449, section 5). Its `token_type` is then `DPoP`.
    public let isBound: Bool
    /// `issued_token_type`: what an exchange has issued. Source: RFC 8693, section 2.2.1. Nil for other grants.
    public let issuedTokenType: TokenType?
    /// What no error about this response may show: what the exchange sent, and the response's own tokens.
    package let secrets: [Secret]

    /// Reads the content of a successful response.
    ///
    /// A number may come as a string of digits. Unknown members are ignored. A `token_type` other than those that the client
    /// accepts, in any case of letters, is an error: it would not know how to use such a token (RFC 6749, section 7.1).
    ///
    /// - Throws: ``OAuthError/server(_:)`` for a content with `error`, which some servers send with status 200.
    init(
        parsing content: [UInt8], now: Double, hiding secrets: [Secret],
        deviations: TokenDeviations = TokenDeviations(), accepting: TokenRequest.AccessTokenKinds = .bearer
    ) throws(OAuthError) {
        let response = try ResponseReader(step: .token, content: content, hiding: secrets, deviations: deviations)
        if let error = response.serverError(status: 200) { throw error }
        let member = deviations.tokenMember
        guard let accessToken = try response.token(member) else {
            throw response.malformed(member, expected: "a non-empty string")
        }
        isBound = try Self.isBound(response, accepting: accepting, deviations.tokenTypes)
        self.accessToken = accessToken
        expiresAt = try Self.expiry(in: response, now: now, deviations)
        refreshToken = try response.token("refresh_token")
        refreshTokenExpiresAt = Self.refreshTokenExpiry(in: response, now: now)
        idToken = deviations.ignoresIDToken ? nil : try response.token("id_token")
        issuedTokenType = try response.string("issued_token_type").map(TokenType.init)
        authorizationDetails = try Self.authorizationDetails(in: response)
        scopes = try deviations.listsScopes ? Self.listedScopes(in: response) : Self.scopes(in: response)
        self.secrets = secrets + [accessToken, refreshToken, idToken].compactMap(\.self)
    }

    /// Whether the token is bound to a key, by its type.
    ///
    /// - Parameter others: the service's own words for a bearer token.
    private static func isBound(
        _ response: ResponseReader, accepting kinds: TokenRequest.AccessTokenKinds, _ others: [String]
    ) throws(OAuthError) -> Bool {
        if response["token_type"] == nil, others.contains(""), kinds != .bound { return false }
        let type = try response.requiredString("token_type")
        // Of bounded length: lowercasing a text from outside may cost more than its length.
        let word = type.utf8.count <= 64 ? type.lowercased() : ""
        if kinds != .bearer, word == "dpop" { return true }
        if kinds != .bound, (["Bearer"] + others).contains(where: { $0.lowercased() == word }), !word.isEmpty {
            return false
        }
        throw response.malformed("token_type", expected: kinds == .bearer ? "Bearer" : "DPoP", found: type)
    }

    private static let maximumDetailsLength = 65_536

    private static func authorizationDetails(
        in response: ResponseReader
    ) throws(OAuthError) -> [AuthorizationDetail]? {
        guard let value = response["authorization_details"] else { return nil }
        // They are stored with the grant, as text within text: long ones could make a record that no vault takes.
        guard let details = AuthorizationDetail.list(value),
            AuthorizationDetail.json(details).utf8.count <= maximumDetailsLength
        else {
            throw response.malformed(
                "authorization_details",
                expected: "a list of at most \(AuthorizationDetail.maximumCount) objects with a type, "
                    + "and \(maximumDetailsLength) bytes")
        }
        return details
    }

    /// Seconds since 1970 at which the access token expires; nil when the response does not say.
    static func expiry(
        in response: ResponseReader, now: Double, _ deviations: TokenDeviations
    ) throws(OAuthError) -> Double? {
        let member = deviations.expiryMember
        if deviations.expiryUnit == .dateTime, let text = try response.string(member) {
            guard let time = DateTime.seconds(text) else {
                throw response.malformed(member, expected: "a date and time of RFC 3339", found: text)
            }
            return time
        }
        guard deviations.expiryUnit != .dateTime, let value = try response.integer(member) else {
            return deviations.absentLifetime.map { now + Double($0) }
        }
        if value == 0, deviations.zeroExpiryIsNever { return nil }
        let isTime = deviations.expiryUnit == .millisecondsSince1970
        let lifetime = isTime ? Double(value) / 1_000 - now : Double(value)
        guard value >= 0, lifetime <= Double(maximumLifetime) else {
            throw response.malformed(member, expected: "0 to \(maximumLifetime) seconds", found: "\(value)")
        }
        return now + lifetime
    }

    /// The members that say for how many seconds the refresh token lives, at GitHub and LinkedIn, at Keycloak, at Intuit.
    private static let refreshLifetimeMembers = [
        "refresh_token_expires_in", "refresh_expires_in", "x_refresh_token_expires_in",
    ]

    /// Only says when to refresh: a value that makes no sense counts as none, and ends no sign-in. 0 is Keycloak's for no end.
    private static func refreshTokenExpiry(in response: ResponseReader, now: Double) -> Double? {
        for member in refreshLifetimeMembers {
            guard let value = try? response.integer(member), (1...maximumLifetime).contains(value) else { continue }
            return now + Double(value)
        }
        return nil
    }

    /// A hundred years, in seconds: longer lifetimes are a mistake of units.
    static let maximumLifetime: Int64 = 3_155_760_000

    /// The longest list of scopes, in bytes. It is stored with the grant.
    private static let maximumScopesLength = 16_384

    private static func listedScopes(in response: ResponseReader) throws(OAuthError) -> [String]? {
        guard let words = try response.strings("scope")?.filter(Scope.isToken) else { return nil }
        guard words.joined(separator: " ").utf8.count <= maximumScopesLength else {
            throw response.malformed("scope", expected: "a list of scopes of at most \(maximumScopesLength) bytes")
        }
        return words
    }

    /// Scopes are separated by spaces. A comma or a bar may be part of one (RFC 6749, section 3.3).
    private static func scopes(in response: ResponseReader) throws(OAuthError) -> [String]? {
        guard let text = try response.string("scope") else { return nil }
        guard text.utf8.count <= maximumScopesLength, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            throw .malformed(
                step: .token, member: "scope", expected: "a list of printable ASCII words", found: "other characters")
        }
        let words = text.split(separator: " ").map(String.init)
        return words.isEmpty ? nil : words
    }
}
