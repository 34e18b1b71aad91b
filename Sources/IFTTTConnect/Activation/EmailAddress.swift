/// A syntactically valid email address (dossier 3.3).
///
/// Surrounding white space is removed: a suggested address with a trailing space is valid. The rest must be a single
/// address: `local@label.label`.
public struct EmailAddress: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    /// The address in a text, or nil when the text is not a single valid address.
    public init?(rawValue: String) {
        guard rawValue.utf8.count <= 1024 else { return nil }
        let text = rawValue.trimmed
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard text.utf8.count <= 254, parts.count == 2, Self.isLocalPart(parts[0]), Self.isDomain(parts[1]) else {
            return nil
        }
        self.rawValue = text
    }

    /// A dot-atom (RFC 5322, section 3.2.3), including letters of every script (RFC 6532).
    private static func isLocalPart(_ text: Substring) -> Bool {
        guard (1...64).contains(text.utf8.count) else { return false }
        return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.unicodeScalars.allSatisfy { isLetterOrDigit($0) || atomMarks.contains($0) }
        }
    }

    private static let atomMarks = Set("!#$%&'*+-/=?^_`{|}~".unicodeScalars)

    /// At least two labels, the last one with a letter.
    private static func isDomain(_ text: Substring) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, let last = labels.last, last.contains(where: \.isLetter) else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.unicodeScalars.allSatisfy { isLetterOrDigit($0) || $0 == "-" }
        }
    }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber:
            return true
        default: return false
        }
    }
}

extension String {
    /// The text without surrounding white space.
    var trimmed: String {
        // Fast path: nearly every text begins and ends with a visible ASCII character.
        let visible: ClosedRange<UInt8> = 0x21...0x7E
        guard let first = utf8.first, let last = utf8.last, !visible.contains(first) || !visible.contains(last)
        else { return self }
        guard let start = firstIndex(where: { !$0.isWhitespace }), let end = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[start...end])
    }
}

extension EmailAddress: CustomStringConvertible {
    public var description: String { rawValue }
}
