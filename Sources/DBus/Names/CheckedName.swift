/// A name or signature whose syntax the D-Bus Specification restricts (sections “Valid Names” and “Valid Signatures”).
///
/// A value of a conforming type is always valid. An invalid literal is a programming error and stops the program; untrusted
/// texts go through ``init(_:)``, which throws.
package protocol CheckedName: Sendable, Hashable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral
where StringLiteralType == StaticString {
    /// The valid text.
    var text: String { get }

    /// Validates `text`.
    ///
    /// - Throws: ``DBusError/invalidName(kind:text:problem:)``
    init(_ text: String) throws(DBusError)
}

extension CheckedName {
    package var description: String { text }

    package init(stringLiteral literal: StaticString) {
        do {
            try self.init(literal.description)
        } catch {
            // Only a literal of this program gets here: a `StaticString` cannot be made of bytes that come from outside.
            preconditionFailure(error.description)
        }
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.text < right.text
    }
}

/// The rules that bus, interface, error and member names share (section “Valid Names”).
enum NameRule {
    static let maximumLength = 255

    static func isElement(_ element: some Collection<UInt8>, mayStartWithDigit: Bool, mayHaveHyphen: Bool) -> Bool {
        guard let first = element.first, mayStartWithDigit || !isDigit(first) else { return false }
        return element.allSatisfy { isNameByte($0) || (mayHaveHyphen && $0 == UInt8(ascii: "-")) }
    }

    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
        default: isDigit(byte)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// The problem of a dotted name, or nil when it is valid.
    static func problem(ofDotted text: some StringProtocol, mayStartWithDigit: Bool, mayHaveHyphen: Bool) -> String? {
        if text.utf8.count > maximumLength { return "it is longer than 255 bytes" }
        let elements = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if elements.count < 2 { return "it needs two elements separated by a dot" }
        let areValid = elements.allSatisfy {
            isElement($0, mayStartWithDigit: mayStartWithDigit, mayHaveHyphen: mayHaveHyphen)
        }
        return areValid ? nil : "an element is empty or has an invalid character"
    }
}
