/// Whether a JSON text can be handed to a decoder that compares member names as Swift does.
///
/// Comparing two names takes quadratic time in the combining marks that follow each other in them. This admits at most 30
/// in a row (Unicode Standard Annex #15, section 13), in linear time. It admits UTF-8 only (RFC 8259, section 8.1).
///
/// - Parameters:
///   - content: the text, which need not be JSON.
///   - everywhere: whether the bound holds outside names too, for decoders that take names without quotation marks.
package func hasBoundedMemberNames(_ content: [UInt8], everywhere: Bool = false) -> Bool {
    // The other encodings of Unicode have this byte in each character of JSON's own.
    guard !content.contains(0) else { return false }
    var reader = MemberNameReader(scalars: String(decoding: content, as: UTF8.self).unicodeScalars)
    return reader.areBounded(everywhere: everywhere)
}

private struct MemberNameReader {
    private var scalars: ArraySlice<Unicode.Scalar>
    private var run = 0

    init(scalars: String.UnicodeScalarView) {
        self.scalars = Array(scalars)[...]
    }

    mutating func areBounded(everywhere: Bool) -> Bool {
        while let scalar = scalars.popFirst() {
            let isBounded = scalar == "\"" ? string(everywhere: everywhere) : count(scalar)
            guard isBounded else { return false }
        }
        return true
    }

    /// Reads a string behind its quotation mark.
    ///
    /// - Returns: false when it is a name, or `everywhere` is true, and it has too many marks in a row.
    private mutating func string(everywhere: Bool) -> Bool {
        var isBounded = true
        run = 0
        while let scalar = scalars.popFirst(), scalar != "\"" {
            isBounded = count(scalar == "\\" ? escaped() : scalar) && isBounded
        }
        run = 0
        let isName = scalars.first { !$0.properties.isWhitespace } == ":"
        return isBounded || !(isName || everywhere)
    }

    /// Counts the marks that follow each other.
    private mutating func count(_ scalar: Unicode.Scalar) -> Bool {
        run = scalar.isCombiningMark ? run + 1 : 0
        return run <= String.maximumMarks
    }

    /// The character of an escape, behind its backslash.
    private mutating func escaped() -> Unicode.Scalar {
        guard let letter = scalars.popFirst() else { return " " }
        guard letter == "u", let unit = codeUnit() else { return letter }
        guard UTF16.isLeadSurrogate(unit), scalars.starts(with: ["\\", "u"]) else { return Unicode.Scalar(unit) ?? " " }
        let rest = scalars
        scalars = scalars.dropFirst(2)
        guard let second = codeUnit(), UTF16.isTrailSurrogate(second) else {
            scalars = rest
            return " "
        }
        return UTF16.decode(UTF16.EncodedScalar([unit, second]))
    }

    private mutating func codeUnit() -> UInt16? {
        let digits = scalars.prefix(4)
        guard let unit = UInt16(String(digits.map(Character.init)), radix: 16) else { return nil }
        scalars = scalars.dropFirst(digits.count)
        return unit
    }
}
