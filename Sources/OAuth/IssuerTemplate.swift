/// The issuers of a server that serves many tenants under one address.
///
/// An example is `https://login.example.com/{tenantid}/v2.0`.
///
/// The metadata at such an address names the template in place of an issuer. Each ID token names the issuer of its own
/// tenant, and the tenant in a claim. The tenant's identifier is a UUID (RFC 9562, section 4), as at Microsoft Entra. It stands
/// in the path, so that all tenants are on one origin. Source: `oauth-security.md` H1.
///
/// Nothing is ever replaced in a text from outside: the tenant is read from a claim, checked, and the issuer that it makes is
/// compared byte for byte.
public struct IssuerTemplate: Sendable, Hashable {
    /// The template as the server's metadata spells it.
    public let string: String
    /// The claim that names the tenant.
    public let claim: String
    /// The origin that all tenants share.
    let origin: Origin

    private let prefix: String
    private let suffix: String

    /// The identifier of a tenant.
    struct Tenant: Sendable, Hashable {
        let string: String

        /// Reads a UUID of 36 characters; nil for anything else.
        init?(_ text: some StringProtocol) {
            guard text.utf8.count == 36 else { return nil }
            for (index, byte) in text.utf8.enumerated() {
                let isHyphen = [8, 13, 18, 23].contains(index)
                switch byte {
                case 0x2D where isHyphen: continue
                case 0x30...0x39, 0x41...0x46, 0x61...0x66: if isHyphen { return nil }
                default: return nil
                }
            }
            string = String(text)
        }
    }

    /// Reads a template.
    ///
    /// - Parameters:
    ///   - string: an issuer in which one whole segment of the path is a name in braces.
    ///   - claim: the claim of an ID token that names its tenant.
    ///   - security: the rules for the address.
    /// - Throws: ``OAuthError/configuration(member:problem:)`` when it is no such text; otherwise what an issuer throws.
    public init(
        _ string: String, claim: String = "tid", security: TransportSecurity = .httpsOnly
    ) throws(OAuthError) {
        let wrong = OAuthError.configuration(
            member: "issuer-template",
            problem: "it must be an issuer with one name in braces, which is a whole segment of its path, such as "
                + "https://login.example.com/{tenantid}/v2.0")
        let parts = string.split(separator: "{", omittingEmptySubsequences: false)
        guard string.utf8.count <= 2048, parts.count == 2 else { throw wrong }
        let rest = parts[1].split(separator: "}", omittingEmptySubsequences: false)
        guard rest.count == 2, Self.isName(rest[0]), parts[0].hasSuffix("/"),
            rest[1].isEmpty || rest[1].hasPrefix("/")
        else { throw wrong }
        guard (1...64).contains(claim.utf8.count), claim != "iss" else {
            throw .configuration(member: "tenant-claim", problem: "it must be a claim of 1 to 64 bytes other than iss")
        }
        (prefix, suffix) = (String(parts[0]), String(rest[1]))
        // The name is in the path: what stands before it is an address of its own.
        let origin = try Issuer(prefix, security: security).url.origin
        _ = try Issuer(prefix + "00000000-0000-0000-0000-000000000000" + suffix, security: security)
        self.string = string
        self.claim = claim
        self.origin = origin
    }

    private static func isName(_ text: Substring) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == 0x5F || byte == 0x2D
            }
    }

    /// The tenant whose issuer this is; nil for any other text.
    func tenant(ofIssuer text: String) -> Tenant? {
        let bytes = text.utf8
        guard bytes.count == prefix.utf8.count + 36 + suffix.utf8.count, bytes.starts(with: prefix.utf8),
            bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        else { return nil }
        let segment = bytes.dropFirst(prefix.utf8.count).prefix(36)
        return String(segment).flatMap { Tenant($0) }
    }

    /// The issuer of one tenant, as its tokens spell it.
    func issuer(of tenant: Tenant) -> String { prefix + tenant.string + suffix }

    /// Whether an issuer is the address that many tenants share: it is at the same origin, and names no tenant.
    package func isShared(_ issuer: Issuer) -> Bool {
        issuer.url.origin == origin && tenant(ofIssuer: issuer.string) == nil
    }

    /// Whether `issuer` is one of a tenant.
    package func hasTenant(_ issuer: String) -> Bool { tenant(ofIssuer: issuer) != nil }

    /// Whether `text` is this template, byte for byte.
    func isSpelled(_ text: String) -> Bool { string.utf8.elementsEqual(text.utf8) }

    /// The same template at another origin, such as a sandbox's.
    package func at(_ base: EndpointURL) -> IssuerTemplate {
        let path = string.utf8.dropFirst(origin.description.utf8.count)
        let moved = try? IssuerTemplate(
            base.origin.description + String(decoding: path, as: UTF8.self), claim: claim,
            security: .allowingInsecureLoopback)
        return moved ?? self
    }
}

extension IssuerTemplate: CustomStringConvertible {
    public var description: String { string }
}

extension IssuerTemplate: Codable {
    private enum CodingKeys: String, CodingKey {
        case template, claim
    }

    /// Decodes a template, and checks it again.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            try values.decode(String.self, forKey: .template), claim: try values.decode(String.self, forKey: .claim),
            security: .allowingInsecureLoopback)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(string, forKey: .template)
        try values.encode(claim, forKey: .claim)
    }
}

extension IssuerTemplate {
    /// The issuer that a token has to name: that of the tenant which its claim states.
    ///
    /// - Returns: nil when the claim is missing or names no tenant.
    func issuer(statedBy claims: JSONObject) -> String? {
        claims[claim]?.string.flatMap { Tenant($0) }.map(issuer(of:))
    }

    /// What ``claim`` has to be, for an error.
    var expectation: String { "\(claim): the UUID of a tenant, as in iss: \(string)" }
}
