extension String {
    /// The text without the full stop at its end, to become part of a sentence.
    package var clause: String { hasSuffix(".") ? String(dropLast()) : self }

    /// What is wrong with a member, as a sentence without its full stop.
    ///
    /// “it is empty” and “must not be empty” become parts of one sentence with the member's name; other texts follow a colon.
    /// A rule begins with “must” or “it must”: “it has 1 to 80 bytes” would state that the member keeps it.
    package func sentence(about member: String) -> String {
        if hasPrefix("it ") { return "“\(member)” \(dropFirst(3))" }
        return hasPrefix("must ") ? "“\(member)” \(self)" : "\(member): \(self)"
    }

    /// The text in quotation marks, shortened, with everything but printable ASCII escaped.
    package var quoted: String {
        let limit = 60
        let escaped = unicodeScalars.prefix(limit).map { $0.escaped(asASCII: true) }.joined()
        return "\"" + escaped + (unicodeScalars.dropFirst(limit).isEmpty ? "" : "…") + "\""
    }
}
