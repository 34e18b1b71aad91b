/// A stretch of text in one style. Texts are made of runs, never of markup.
public struct TextRun: Sendable, Hashable, Codable {
    /// How a run is set.
    public enum Style: String, Sendable, Hashable, Codable {
        case plain
        /// The word mark, heavy.
        case mark
        /// A link; what it opens is known from where it is.
        case link
    }

    /// The text.
    public let text: String
    /// How it is set.
    public let style: Style

    /// A stretch of text in one style.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - style: How it is set.
    public init(_ text: String, _ style: Style = .plain) {
        self.text = text
        self.style = style
    }

    /// `template` in runs, with its word marks heavy. A text without one is a single plain run.
    static func marking(_ text: String) -> [TextRun] {
        var runs: [TextRun] = []
        for (index, part) in text.split(separator: "IFTTT", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { runs.append(TextRun("IFTTT", .mark)) }
            if !part.isEmpty { runs.append(TextRun(String(part))) }
        }
        return runs
    }
}
