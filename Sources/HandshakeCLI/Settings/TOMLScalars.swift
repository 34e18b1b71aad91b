#if CommandLine
import OAuth

// Texts, numbers and truth values.
extension TOMLReader {
    /// A text of one of the four kinds.
    mutating func string() throws(SyntaxError) -> String {
        let text =
            if take("\"\"\"") {
                try lines(endingWith: "\"\"\"", hasEscapes: true)
            } else if take("'''") {
                try lines(endingWith: "'''", hasEscapes: false)
            } else {
                try line(of: "a text")
            }
        return String(decoding: text, as: UTF8.self).streamSafe
    }

    /// The text between quotation marks of one kind on one line.
    mutating func line(of what: String) throws(SyntaxError) -> [UInt8] {
        let quote = byte
        position += 1
        var text: [UInt8] = []
        while let next = byte, next != quote {
            if next == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                text += try escape()
            } else {
                guard Self.isPrintable(next) else {
                    throw error("\(what) is not closed on its line, or contains a control character")
                }
                text.append(next)
                position += 1
            }
        }
        guard byte != nil else { throw error("\(what) is not closed") }
        position += 1
        return text
    }

    /// The text of several lines. One or two more quotation marks at its end belong to it.
    private mutating func lines(endingWith end: StaticString, hasEscapes: Bool) throws(SyntaxError) -> [UInt8] {
        if !take("\n") { _ = take("\r\n") }
        var text: [UInt8] = []
        while let next = byte {
            if take(end) {
                for _ in 0..<2 where byte == end.utf8Start[0] {
                    text.append(end.utf8Start[0])
                    position += 1
                }
                return text
            }
            if hasEscapes, next == UInt8(ascii: "\\") {
                if !skipFoldedLine() { text += try escape() }
                continue
            }
            let isLineBreak = next == 0x0A || (next == 0x0D && bytes[position...].dropFirst().first == 0x0A)
            guard isLineBreak || Self.isPrintable(next) else { throw error("a text contains a control character") }
            text.append(next)
            position += 1
        }
        throw error("a text of several lines is not closed")
    }

    /// Takes a backslash at the end of a line with all space and line breaks behind it; false for another backslash.
    private mutating func skipFoldedLine() -> Bool {
        let space = bytes[position...].dropFirst().prefix { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard space.first(where: { $0 != 0x20 && $0 != 0x09 }) != nil else { return false }
        position = space.endIndex
        return true
    }

    private mutating func escape() throws(SyntaxError) -> [UInt8] {
        position += 1
        defer { position += 1 }
        switch byte {
        case UInt8(ascii: "b")?: return [0x08]
        case UInt8(ascii: "t")?: return [0x09]
        case UInt8(ascii: "n")?: return [0x0A]
        case UInt8(ascii: "f")?: return [0x0C]
        case UInt8(ascii: "r")?: return [0x0D]
        case UInt8(ascii: "\"")?: return [0x22]
        case UInt8(ascii: "\\")?: return [0x5C]
        case UInt8(ascii: "u")?: return try scalar(digits: 4)
        case UInt8(ascii: "U")?: return try scalar(digits: 8)
        default: throw error(#"unknown escape after \; put text with backslashes in single quotation marks"#)
        }
    }

    private mutating func scalar(digits: Int) throws(SyntaxError) -> [UInt8] {
        let text = bytes[position...].dropFirst().prefix(digits)
        guard text.count == digits, text.allSatisfy({ Self.value(ofDigit: $0) < 16 }),
            let value = UInt32(String(decoding: text, as: UTF8.self), radix: 16), let scalar = Unicode.Scalar(value)
        else { throw error(#"\u needs the four hexadecimal digits of a character, and \U eight"#) }
        position += digits
        return Array(String(scalar).utf8)
    }

    /// A number, true or false.
    mutating func scalar() throws(SyntaxError) -> JSONValue {
        let word = bytes[position...].prefix { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "+-_.:".utf8.contains(byte)
            }
        }
        let text = String(decoding: word, as: UTF8.self)
        switch text {
        case "true", "false":
            position = word.endIndex
            return .bool(text == "true")
        default:
            guard let number = Self.number(text) else {
                throw error(
                    "expected text in quotation marks, a number, true, false, a list in brackets or a table in braces"
                )
            }
            position = word.endIndex
            return .number(number)
        }
    }

    /// A number as JSON spells it; nil for a text that is none.
    private static func number(_ text: String) -> String? {
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.hasPrefix(prefix) {
            return digits(text.dropFirst(2), radix: radix).flatMap { Int64($0, radix: radix) }.map(String.init)
        }
        let unsigned = text.first == "+" || text.first == "-" ? text.dropFirst() : text[...]
        let exponent = unsigned.firstIndex { $0 == "e" || $0 == "E" } ?? unsigned.endIndex
        let point = unsigned[..<exponent].firstIndex(of: ".") ?? exponent
        guard let whole = digits(unsigned[..<point], radix: 10), whole == "0" || !whole.hasPrefix("0") else {
            return nil
        }
        let sign = text.first == "-" ? "-" : ""
        if point == unsigned.endIndex { return Int64(sign + whole).map(String.init) }
        var spelling = sign + whole
        if point != exponent {
            guard let fraction = digits(unsigned[point..<exponent].dropFirst(), radix: 10) else { return nil }
            spelling += "." + fraction
        }
        guard exponent != unsigned.endIndex else { return spelling }
        let power = unsigned[exponent...].dropFirst()
        let isSigned = power.first == "+" || power.first == "-"
        guard let value = digits(isSigned ? power.dropFirst() : power, radix: 10) else { return nil }
        return spelling + "e" + (isSigned ? String(power.prefix(1)) : "") + value
    }

    /// The digits without the underscores between them; nil where there are none, or an underscore is not between two.
    private static func digits(_ text: Substring, radix: Int) -> String? {
        let groups = text.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard groups.allSatisfy({ !$0.isEmpty && $0.allSatisfy { value(ofDigit: $0) < radix } }) else { return nil }
        return groups.map { String(Substring($0)) }.joined()
    }

    /// The value of a digit of any base; 255 for another byte.
    private static func value(ofDigit byte: UInt8) -> Int {
        switch byte {
        case 0x30...0x39: Int(byte) - 0x30
        case 0x41...0x46: Int(byte) - 0x41 + 10
        case 0x61...0x66: Int(byte) - 0x61 + 10
        default: .max
        }
    }
}
#endif
