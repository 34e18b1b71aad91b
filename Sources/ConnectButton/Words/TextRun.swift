/// A text in one style. Texts consist of runs, never of markup.
public struct TextRun: Sendable, Hashable, Codable {
    /// The style of a run.
    public enum Style: String, Sendable, Hashable, Codable {
        case plain
        /// The word mark, heavy.
        case mark
        /// A link; its target depends on its place.
        case link
    }

    /// The text.
    public let text: String
    /// The style.
    public let style: Style

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - style: The style.
    public init(_ text: String, _ style: Style = .plain) {
        self.text = text
        self.style = style
    }

    /// Splits a text into runs, with word marks in heavy weight. A text without one is a single plain run.
    static func marking(_ text: String) -> [TextRun] {
        var runs: [TextRun] = []
        for (index, part) in text.split(separator: "IFTTT", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { runs.append(TextRun("IFTTT", .mark)) }
            if !part.isEmpty { runs.append(TextRun(String(part))) }
        }
        return runs
    }
}
