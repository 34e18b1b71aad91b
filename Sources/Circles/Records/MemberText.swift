/// A member's name or batch, as other members see it (circles dossier 3, limits).
public enum MemberText {
    /// The maximum length of a name in bytes.
    public static let maximumNameLength = 80
    /// The maximum length of a batch in bytes.
    public static let maximumBatchLength = 40

    /// Whether a text can be a name.
    ///
    /// A name has 1 to 80 bytes, and no control, line or bidirectional characters.
    public static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumNameLength && isPlain(text)
    }

    /// Whether a text can be a batch: at most 40 bytes without such characters.
    public static func isBatch(_ text: String) -> Bool {
        text.utf8.count <= maximumBatchLength && isPlain(text)
    }

    /// The text as a name, batch or greeting, cut at a character. What it may not have is left out.
    public static func clean(_ text: String, limit: Int) -> String {
        var cleaned = ""
        for character in text {
            let plain = String(String.UnicodeScalarView(character.unicodeScalars.filter(isPlain)))
            guard cleaned.utf8.count + plain.utf8.count <= limit else { break }
            cleaned += plain
        }
        return cleaned
    }

    static func isPlain(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isPlain) }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        default: !scalar.properties.isBidiControl
        }
    }
}
