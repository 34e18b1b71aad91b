extension BeaconLayout {
    /// Parses a layout.
    ///
    /// - Throws: ``BeaconsError/layout(term:problem:)`` with the first invalid term, or for a layout that matches everything, or that
    ///   has no identifier and is no extra frame.
    public init(parsing text: String) throws(BeaconsError) {
        self.init()
        // No structure is longer than 255 bytes, so a longer text has no meaning.
        guard text.utf8.count <= 2_048 else { throw .layout(term: text, problem: "is longer than 2048 bytes") }
        for term in text.split(separator: ",", omittingEmptySubsequences: false) {
            try take(Term(term))
        }
        guard service != nil || !matches.isEmpty else {
            throw .layout(term: text, problem: "matches every frame. Add a term m or s")
        }
        guard isExtra || !identifiers.isEmpty else {
            throw .layout(term: text, problem: "has no identifier. Add a term i, or x for an extra frame")
        }
    }

    private mutating func take(_ term: Term) throws(BeaconsError) {
        switch term.kind {
        case "x":
            guard term.rest.isEmpty else { throw term.error("must have no value") }
            isExtra = true
        case "m":
            let (range, bytes) = try term.rangeAndBytes()
            matches.append(Match(range: range, bytes: bytes))
        case "s":
            let (range, bytes) = try term.rangeAndBytes()
            guard service == nil, range.lowerBound == 0, bytes.count == 2 || bytes.count == 16 else {
                throw term.error("must be one UUID of 2 or 16 bytes at the start")
            }
            service = bytes.reversed()
        case "i": identifiers.append(try term.field(options: "lv"))
        case "d": data.append(try term.field(options: "l"))
        case "p":
            guard power == nil else { throw term.error("comes twice") }
            (power, powerCorrection) = try term.power()
        default: throw term.error("must be one of m, s, i, p, d, x")
        }
    }

    /// One term of a layout: `i:4-19l` has the kind `i`.
    private struct Term {
        let text: Substring
        let kind: Substring
        /// The text after the first colon.
        let rest: Substring

        init(_ text: Substring) {
            self.text = text
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            kind = parts.first ?? ""
            rest = parts.count > 1 ? parts[1] : ""
        }

        func error(_ problem: String) -> BeaconsError {
            .layout(term: String(text), problem: problem)
        }

        /// `4-19`
        private func range(_ text: Substring) throws(BeaconsError) -> ClosedRange<Int> {
            let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Self.offset($0) }
            guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < 254 else {
                throw error("needs two offsets from 0 to 253, such as 4-19")
            }
            return first...last
        }

        /// `Int` would also accept a sign.
        private static func offset(_ text: Substring) -> Int? {
            text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
        }

        /// `2-3=beac`
        func rangeAndBytes() throws(BeaconsError) -> (ClosedRange<Int>, [UInt8]) {
            let parts = rest.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw error("needs a value, such as 2-3=beac") }
            let range = try range(parts[0])
            guard let bytes = Hexadecimal.decode(parts[1].utf8), bytes.count == range.count else {
                throw error("needs as many hexadecimal bytes as its range")
            }
            return (range, bytes)
        }

        /// `4-19`, followed by letters of `options`.
        func field(options: String) throws(BeaconsError) -> Field {
            var rest = rest
            var field: (isLittleEndian: Bool, isVariable: Bool) = (false, false)
            while let letter = rest.last, options.contains(letter) {
                if letter == "l" { field.isLittleEndian = true } else { field.isVariable = true }
                rest.removeLast()
            }
            return Field(
                range: try range(rest), isLittleEndian: field.isLittleEndian, isVariable: field.isVariable)
        }

        /// `24-24` or `3-3:-41`
        func power() throws(BeaconsError) -> (Field, correction: Int) {
            let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
            let range = try range(parts.first ?? "")
            guard range.count == 1 else { throw error("must be one byte") }
            guard parts.count > 1 else { return (Field(range: range), 0) }
            guard parts.count == 2, let correction = Int(parts[1]), (-127...127).contains(correction) else {
                throw error("needs a correction from -127 to 127, such as 3-3:-41")
            }
            return (Field(range: range), correction)
        }
    }
}
