/// The URL of a page or a picture. It is absolute, with the scheme `https` or `http` and a host.
///
/// URLs in the service's answers are of this type or dropped: `javascript:`, `data:`, `file:` and relative references are
/// rejected (dossier 1.2). Characters outside ASCII are percent-encoded; nothing else changes.
public struct WebAddress: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    /// The URL, or nil when the text is invalid. At most 8192 bytes.
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
        // A user name before the host would mislead users.
        guard !authority.isEmpty, !authority.contains(UInt8(ascii: "@")), authority.first != UInt8(ascii: ":") else {
            return nil
        }
        guard rawValue.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !Self.excluded.contains($0) }) else { return nil }
        self.rawValue = rawValue.utf8.contains { $0 >= 0x80 } ? QueryEncoding.encodingNonASCII(rawValue) : rawValue
    }

    /// A URL that is a constant of the code.
    init(checked: StaticString) {
        rawValue = "\(checked)"
    }

    /// Characters that RFC 3986 excludes and some parsers misinterpret.
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
