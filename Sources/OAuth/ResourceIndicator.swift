/// An API that a token is for, by its identifier (RFC 8707, section 2). It is any absolute URI without a fragment.
///
/// Many are addresses, to which the token may go; `urn:` and `api://` identifiers are names alone.
public struct ResourceIndicator: Sendable, Hashable {
    /// The identifier as it was given. Requests spell it exactly so.
    public let string: String
    /// The identifier as an address; nil when it is a name alone.
    public let url: EndpointURL?

    /// The longest identifier, in bytes.
    public static let maximumLength = 2048

    /// Reads an identifier.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for a relative one, one with a fragment, or an address that
    ///   is none; ``OAuthError/refused(_:)`` with ``Refusal/Check/insecureTransport`` for plain `http:` that is not
    ///   allowed.
    public init(_ string: String, security: TransportSecurity = .httpsOnly) throws(OAuthError) {
        try Self.check(string)
        let scheme = string.prefix { $0 != ":" }.lowercased()
        url =
            ["http", "https"].contains(scheme)
            ? try EndpointURL(string, security: security, member: "resource") : nil
        self.string = string
    }

    /// The identifier that is an address.
    public init(_ url: EndpointURL) {
        string = url.string
        self.url = url
    }

    /// Lets absolute URIs without fragment through (RFC 3986, section 4.3).
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)``.
    static func check(_ text: String) throws(OAuthError) {
        func wrong(_ problem: String) -> OAuthError { .configuration(member: "resource", problem: problem) }
        guard text.utf8.count <= maximumLength else {
            throw wrong("the identifier is longer than \(maximumLength) bytes")
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !text.utf8.contains(UInt8(ascii: "\\")) else {
            throw wrong(
                "“\(quoted(text, limit: 80))” has characters that are not allowed in a URI; percent-encode them")
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else {
            throw wrong("“\(quoted(text, limit: 80))” has a fragment, which is not allowed (RFC 8707, section 2)")
        }
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard scheme.count < text.utf8.count - 1, let first = scheme.first, isLetter(first),
            scheme.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) })
        else { throw wrong("“\(quoted(text, limit: 80))” is not an absolute URI, such as https://api.example.com/") }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}

extension ResourceIndicator: CustomStringConvertible {
    public var description: String { string }
}
