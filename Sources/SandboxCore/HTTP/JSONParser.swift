#if Sandbox
/// Parses JSON text (RFC 8259) in linear time, whatever the bytes are.
///
/// Written for the sandbox alone: it imports nothing of the package, so that the tests of the package's own reader do not
/// share a misreading with the server that they talk to.
struct JSONParser {
    private let bytes: [UInt8]
    private var index = 0

    /// How deep arrays and objects may be nested.
    static let depthLimit = 128

    private struct Malformed: Error {}

    /// The value of a whole text; nil when it is not well-formed or nested too deep.
    static func value(of bytes: [UInt8]) -> JSON? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var parser = JSONParser(bytes: bytes)
        guard let value = try? parser.value(depth: 0) else { return nil }
        parser.skipSpace()
        // Not `? value : nil`, which would be JSON's null.
        guard parser.index == bytes.count else { return nil }
        return value
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    /// Skips white space and this byte, if it comes next.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) throws(Malformed) -> JSON {
        guard depth <= Self.depthLimit else { throw Malformed() }
        if take("{") { return .object(try members(depth: depth + 1)) }
        if take("[") { return .array(try elements(depth: depth + 1)) }
        if take("\"") { return .string(try string()) }
        for (word, value) in [("null", JSON.null), ("true", .bool(true)), ("false", .bool(false))]
        where bytes[index...].starts(with: word.utf8) {
            index += word.utf8.count
            return value
        }
        return try number()
    }

    /// The members of an object in the order of their names.
    private mutating func members(depth: Int) throws(Malformed) -> [JSON.Member] {
        var members: [JSON.Member] = []
        if take("}") { return members }
        repeat {
            guard take("\"") else { throw Malformed() }
            let name = try string()
            guard take(":") else { throw Malformed() }
            members.append(JSON.Member(name: name, value: try value(depth: depth)))
        } while take(",")
        guard take("}") else { throw Malformed() }
        return members.sorted { $0.name < $1.name }
    }

    private mutating func elements(depth: Int) throws(Malformed) -> [JSON] {
        var elements: [JSON] = []
        if take("]") { return elements }
        repeat { elements.append(try value(depth: depth)) } while take(",")
        guard take("]") else { throw Malformed() }
        return elements
    }

    /// The rest of a string after its opening quotation mark.
    private mutating func string() throws(Malformed) -> String {
        var text: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(streamSafe: text)
            case UInt8(ascii: "\\"): text += try escape()
            case ..<0x20: throw Malformed()
            default: text.append(byte)
            }
        }
        throw Malformed()
    }

    private mutating func escape() throws(Malformed) -> [UInt8] {
        guard let byte = next else { throw Malformed() }
        index += 1
        switch Unicode.Scalar(byte) {
        case "\"", "\\", "/": return [byte]
        case "b": return [0x08]
        case "f": return [0x0C]
        case "n": return [0x0A]
        case "r": return [0x0D]
        case "t": return [0x09]
        case "u": return try scalar()
        default: throw Malformed()
        }
    }

    /// The scalar of `\uXXXX`, which may be one of a surrogate pair, as UTF-8.
    private mutating func scalar() throws(Malformed) -> [UInt8] {
        var code = try hexadecimal()
        if (0xD800..<0xDC00).contains(code) {
            guard bytes[index...].starts(with: "\\u".utf8) else { throw Malformed() }
            index += 2
            let low = try hexadecimal()
            guard (0xDC00..<0xE000).contains(low) else { throw Malformed() }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw Malformed() }
        return Array(String(scalar).utf8)
    }

    private mutating func hexadecimal() throws(Malformed) -> UInt32 {
        let digits = bytes[index...].prefix(4)
        let isHexadecimal = digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        guard digits.count == 4, isHexadecimal, let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw Malformed() }
        index += 4
        return code
    }

    /// A number, as an integer where it is one.
    private mutating func number() throws(Malformed) -> JSON {
        let text = bytes[index...].prefix { "+-.0123456789eE".utf8.contains($0) }
        index = text.endIndex
        guard let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite, Self.isNumber(text) else {
            throw Malformed()
        }
        if let integer = Int(String(decoding: text, as: UTF8.self)) ?? Int(exactly: number) { return .number(integer) }
        return .decimal(number)
    }

    /// What JSON's grammar asks of a number beyond what Swift reads: no plus, no leading zero, digits around the point.
    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
        let whole = digits.prefix { (0x30...0x39).contains($0) }
        let rest = digits.dropFirst(whole.count)
        let isPointAlone =
            rest.first == UInt8(ascii: ".") && !(rest.dropFirst().first.map { (0x30...0x39).contains($0) } ?? false)
        return !whole.isEmpty && (whole.count == 1 || whole.first != 0x30) && !isPointAlone
    }
}
#endif
