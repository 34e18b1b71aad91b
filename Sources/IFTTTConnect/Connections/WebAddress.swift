/// An address that a page or a picture may be got from: absolute, of the scheme `https` or `http`, with a host.
///
/// What a service's answer calls an address is of this type or not there at all: `javascript:`, `data:`, `file:` and
/// relative references are no addresses here (dossier 1.2). Characters outside ASCII are percent-encoded, and nothing
/// else is changed.
public struct WebAddress: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    /// Whether the address is `https`.
    public var isSecure: Bool { rawValue.utf8.prefix(6).elementsEqual("https:".utf8, by: Self.sameLetter) }

    /// The address, or nil when the text is none. At most 8192 bytes.
    public init?(rawValue: String) {
        guard rawValue.utf8.count <= 8192 else { return nil }
        let rest: Substring
        if Self.begins(rawValue, with: "https://") {
            rest = rawValue.dropFirst(8)
        } else if Self.begins(rawValue, with: "http://") {
            rest = rawValue.dropFirst(7)
        } else {
            return nil
        }
        let authority = rest.utf8.prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
        // A user name in front of the host misleads whoever reads the address.
        guard !authority.isEmpty, !authority.contains(UInt8(ascii: "@")), authority.first != UInt8(ascii: ":") else {
            return nil
        }
        guard rawValue.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !Self.excluded.contains($0) }) else { return nil }
        self.rawValue = rawValue.utf8.contains { $0 >= 0x80 } ? QueryEncoding.encodingNonASCII(rawValue) : rawValue
    }

    /// An address that is known to be one.
    init(checked: StaticString) {
        rawValue = "\(checked)"
    }

    /// What RFC 3986 allows nowhere in an address and some reader takes for something else.
    private static let excluded = Set("\"<>\\^`{|}".utf8)

    private static func begins(_ text: String, with prefix: StaticString) -> Bool {
        let prefix = "\(prefix)".utf8
        return text.utf8.prefix(prefix.count).elementsEqual(prefix, by: sameLetter)
    }

    private static func sameLetter(_ one: UInt8, _ other: UInt8) -> Bool {
        one == other || ((0x41...0x5A).contains(one) && one | 0x20 == other)
    }
}

extension WebAddress: CustomStringConvertible {
    public var description: String { rawValue }
}
