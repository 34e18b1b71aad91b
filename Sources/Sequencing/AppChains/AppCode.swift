/// The code of an app chain on the wire (dossier 5.2, `AppCode`). It is `Chain9`, in older documents also a symbolic
/// name.
public struct AppCode: Sendable, Hashable, Codable {
    public let string: String

    /// The code of the chain with this number.
    public init(_ number: Int) {
        string = "Chain\(number)"
    }

    /// Parses a code as users write it. `Chain9`, `chain9` and `9` are the same; other words are kept unchanged.
    ///
    /// - Returns: nil unless the text is 1 to 100 ASCII letters, digits, hyphens and underscores.
    public init?(_ text: some StringProtocol) {
        let word = text.lowercased().hasPrefix("chain") ? text.dropFirst(5) : text[...]
        if let number = Int(word), number > 0, word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            self.init(number)
            return
        }
        guard (1...100).contains(text.utf8.count), text.utf8.allSatisfy(Self.isWordByte) else { return nil }
        self.init(checked: String(text))
    }

    private init(checked string: String) {
        self.string = string
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let code = AppCode(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the code of an app chain")
        }
        self = code
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension AppCode: CustomStringConvertible {
    public var description: String { string }
}
