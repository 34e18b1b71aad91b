/// A successful answer of the token endpoint (RFC 6749, section 5.1).
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

    /// Reads an answer.
    ///
    /// A number may come as a string of digits. Unknown members are skipped. A `token_type` other than `Bearer`, in any
    /// case of letters, stops: the client would not know how to use such a token (RFC 6749, section 7.1).
    public init(parsing content: [UInt8], now: Double) throws(OAuthError) {
        let answer = try AnswerReader(step: .token, content: content)
        if let error = try? answer.string("error"), !error.isEmpty {
            throw .server(
                ServerError(
                    step: .token, code: error, text: answer["error_description"]?.string,
                    uri: answer["error_uri"]?.string,
                    status: 200))
        }
        guard let accessToken = try answer.token("access_token") else {
            throw answer.wrong("access_token", expected: "a non-empty string")
        }
        let type = try answer.requiredString("token_type")
        guard type.lowercased() == "bearer" else {
            throw .malformed(
                step: .token, member: "token_type", expected: "Bearer",
                found: "“\(quoted(hidingTokens(in: type), limit: 40))”")
        }
        let lifetime = try answer.integer("expires_in")
        if let lifetime, lifetime < 0 || lifetime > Self.longestLifetime {
            throw .malformed(
                step: .token, member: "expires_in", expected: "0 to \(Self.longestLifetime) seconds",
                found: "\(lifetime)")
        }
        self.accessToken = accessToken
        expiresAt = lifetime.map { now + Double($0) }
        refreshToken = try answer.token("refresh_token")
        idToken = try answer.token("id_token")
        scopes = try Self.scopes(in: answer)
    }

    /// A hundred years, in seconds: longer lifetimes are a mistake of units.
    static let longestLifetime: Int64 = 3_155_760_000

    /// Scopes are divided by spaces; the commas and bars of some services divide too.
    private static func scopes(in answer: AnswerReader) throws(OAuthError) -> [String]? {
        guard let text = try answer.string("scope") else { return nil }
        let parts = text.split { $0 == " " || $0 == "," || $0 == "|" }.map(String.init)
        guard text.utf8.count <= 16_384, parts.allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }) else {
            throw .malformed(
                step: .token, member: "scope", expected: "a list of printable ASCII words", found: "other characters")
        }
        return parts.isEmpty ? nil : parts
    }
}
