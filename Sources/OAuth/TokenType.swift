/// A kind of token, as an exchange names it. Source: RFC 8693, section 3.
public struct TokenType: Sendable, Hashable, Codable {
    /// The identifier, a URI.
    public let identifier: String

    /// A kind that is not among the constants.
    public init(_ identifier: String) {
        self.identifier = identifier
    }

    private init(registered name: String) {
        identifier = "urn:ietf:params:oauth:token-type:" + name
    }

    /// An OAuth access token of this server.
    public static let accessToken = TokenType(registered: "access_token")
    /// An OAuth refresh token of this server.
    public static let refreshToken = TokenType(registered: "refresh_token")
    /// An ID token (OpenID Connect Core, section 2).
    public static let idToken = TokenType(registered: "id_token")
    /// A JSON Web Token.
    public static let jwt = TokenType(registered: "jwt")
    /// A SAML 1.1 assertion, in Base64URL.
    public static let saml1 = TokenType(registered: "saml1")
    /// A SAML 2.0 assertion, in Base64URL.
    public static let saml2 = TokenType(registered: "saml2")
    /// An identity assertion for another authorization server. It is used there by ``JWTBearerAssertion/init(_:scopes:)``.
    public static let identityAssertion = TokenType(registered: "id-jag")

    /// Compares bytes. Swift's own equality of texts also takes canonically equivalent spellings.
    public static func == (left: TokenType, right: TokenType) -> Bool {
        left.identifier.isIdentical(to: right.identifier)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in identifier.utf8 { hasher.combine(byte) }
    }
}

extension TokenType: CustomStringConvertible {
    public var description: String { quoted(identifier, limit: 200) }
}
