/// The key file of a Google service account. It says who that is and where its assertions go.
///
/// The file is JSON with `type` `service_account`, `client_email`, `private_key_id`, `private_key` and `token_uri`. Its
/// content never prints.
public struct ServiceAccountKey: Sendable {
    /// `client_email`: the account, which is `iss` of its assertions.
    public let email: String
    /// `private_key`, named by `private_key_id`.
    public let key: SigningKey
    /// `token_uri`: where assertions are exchanged, and their audience.
    public let tokenEndpoint: EndpointURL

    /// Where a key file's assertions go unless the caller names another place.
    public static let googleTokenEndpoint = EndpointURL(https: "oauth2.googleapis.com", path: "/token")

    /// The longest file that is read, in bytes.
    public static let maximumLength = 65_536

    /// Reads a key file.
    ///
    /// A file from elsewhere could name any address, and would get an assertion that counts at Google. So `token_uri` has to
    /// be on Google's origin, or be the one that the caller names.
    ///
    /// - Parameters:
    ///   - content: the file.
    ///   - endpoint: the one other `token_uri` that is accepted; nil for none.
    /// - Throws: ``OAuthError/configuration(member:problem:)`` without a byte of the key; ``OAuthError/refused(_:)`` with
    ///   ``Refusal/Check/foreignTokenEndpoint`` for a foreign `token_uri`. Nothing was signed.
    public init(parsing content: [UInt8], tokenEndpoint endpoint: EndpointURL? = nil) throws(OAuthError) {
        guard content.count <= Self.maximumLength else {
            throw Self.wrong("the file has more than \(Self.maximumLength) bytes, which no key file has")
        }
        guard let members = (try? JSONValue(parsing: content))?.object else {
            throw Self.wrong("the file is not a JSON object; download it again from the Google Cloud console")
        }
        guard members["type"]?.string == "service_account" else {
            throw Self.wrong("its member “type” is not service_account; create a key of a service account")
        }
        func text(_ name: String) throws(OAuthError) -> String {
            guard let text = members[name]?.string, !text.isEmpty, text.utf8.count <= 16_384 else {
                throw Self.wrong("its member “\(name)” is missing; download the file again")
            }
            return text
        }
        email = try text("client_email")
        let stated = try text("token_uri")
        tokenEndpoint = try EndpointURL(stated, security: endpoint?.security ?? .httpsOnly, member: "token_uri")
        guard tokenEndpoint.origin == Self.googleTokenEndpoint.origin || tokenEndpoint == endpoint else {
            throw .refused(
                Refusal(
                    .foreignTokenEndpoint, expected: endpoint?.string ?? Self.googleTokenEndpoint.string,
                    found: tokenEndpoint.description))
        }
        key = try SigningKey(parsing: Array(text("private_key").utf8), keyID: text("private_key_id"))
        guard key.algorithms.contains(.rs256) else { throw Self.wrong("its key is not an RSA key") }
    }

    /// Whether a file says that it is the key file of a service account. Other files with keys do not.
    package static func isMeant(by content: [UInt8]) -> Bool {
        guard content.count <= maximumLength, content.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else {
            return false
        }
        return (try? JSONValue(parsing: content))?.object?["type"]?.string == "service_account"
    }

    /// The claims of the account's assertions.
    ///
    /// - Parameters:
    ///   - user: whom to act for, where an administrator has delegated that; nil for the account itself.
    ///   - lifetime: in seconds, at most 3600.
    public func claims(actingFor user: String? = nil, lifetime: Int = 3600) -> JWTBearerAssertion.Claims {
        var claims = JWTBearerAssertion.Claims(issuer: email, subject: user)
        claims.audience = .named(tokenEndpoint.string)
        claims.lifetime = lifetime
        claims.claimsScopes = true
        return claims
    }

    private static func wrong(_ problem: String) -> OAuthError {
        .configuration(member: "key file", problem: problem)
    }
}

extension ServiceAccountKey: CustomStringConvertible, CustomReflectable {
    /// The account, without the key.
    public var description: String { "key of \(quoted(email, limit: 200))" }

    public var customMirror: Mirror { Mirror(self, children: ["email": email], displayStyle: .struct) }
}
