/// The identifier of a file: decimal digits. Names are not unique (dossier 4.1).
public struct FileID: Sendable, Hashable, Codable {
    /// The identifier without the prefix of version 1.
    public let string: String

    /// Parses an identifier of any version of the service (dossier 9.5). `FILE:227001` is `227001`.
    ///
    /// - Returns: nil for an empty text, a control character, or more than 200 bytes.
    public init?(_ text: some StringProtocol) {
        let bare = text.lastIndex(of: ":").map { String(text[text.index(after: $0)...]) } ?? String(text)
        guard (1...200).contains(bare.utf8.count), bare.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        string = bare
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = FileID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the identifier of a file")
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension FileID: CustomStringConvertible {
    public var description: String { string }
}
