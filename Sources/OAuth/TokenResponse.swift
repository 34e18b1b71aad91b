/// A successful response of the token endpoint (RFC 6749, section 5.1).
public struct TokenResponse: Sendable {
    /// The access token: printable ASCII of at most 64 KiB, opaque to a client.
    public let accessToken: Secret
    /// Seconds since 1970 at which the access token expires; nil when the server does not say, which means unknown.
    public let expiresAt: Double?
    /// The refresh token; nil means, after a refresh, that the old one stays (RFC 6749, section 6).
    public let refreshToken: Secret?
    /// The scope that was granted; nil when the server does not say, which means as asked (RFC 6749, section 5.1).
    public let scopes: [String]?
    /// The ID token as it came: not yet checked.
    public let idToken: Secret?

    /// Reads the content of a successful response.
    ///
    /// A number may come as a string of digits. Unknown members are ignored. A `token_type` other than `Bearer`, in any
    /// case of letters, is an error: the client would not know how to use such a token (RFC 6749, section 7.1).
    ///
    /// - Throws: ``OAuthError/server(_:)`` for a content with `error`, which some servers send with status 200.
    init(parsing content: [UInt8], now: Double, hiding secrets: [Secret]) throws(OAuthError) {
        let response = try ResponseReader(step: .token, content: content, hiding: secrets)
        if let error = response.serverError(status: 200) { throw error }
        guard let accessToken = try response.token("access_token") else {
            throw response.malformed("access_token", expected: "a non-empty string")
        }
        let type = try response.requiredString("token_type")
        guard type.utf8.count == 6, type.lowercased() == "bearer" else {
            throw response.malformed("token_type", expected: "Bearer", found: type)
        }
        let lifetime = try response.integer("expires_in")
        if let lifetime, lifetime < 0 || lifetime > Self.longestLifetime {
            throw response.malformed(
                "expires_in", expected: "0 to \(Self.longestLifetime) seconds", found: "\(lifetime)")
        }
        self.accessToken = accessToken
        expiresAt = lifetime.map { now + Double($0) }
        refreshToken = try response.token("refresh_token")
        idToken = try response.token("id_token")
        scopes = try Self.scopes(in: response)
    }

    /// A hundred years, in seconds: longer lifetimes are a mistake of units.
    static let longestLifetime: Int64 = 3_155_760_000

    /// Scopes are separated by spaces, at some services by commas or bars.
    private static func scopes(in response: ResponseReader) throws(OAuthError) -> [String]? {
        guard let text = try response.string("scope") else { return nil }
        guard text.utf8.count <= 16_384, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            throw .malformed(
                step: .token, member: "scope", expected: "a list of printable ASCII words", found: "other characters")
        }
        let words = text.utf8.split { $0 == 0x20 || $0 == 0x2C || $0 == 0x7C }
        return words.isEmpty ? nil : words.map { String(Substring($0)) }
    }
}
