/// A JSON text, read strictly (RFC 8259).
///
/// Foundation's decoder takes the last of two members with one name, and so lets two readers of one answer see two
/// different answers. This reader refuses doubled names, depth beyond 32, anything that is not UTF-8, a byte-order
/// mark, and text behind the value. Numbers keep their spelling.
public enum JSONValue: Sendable, Hashable {
    /// An object; each name stands in it once.
    case object([String: JSONValue])
    /// A list.
    case array([JSONValue])
    /// A string, with its escapes decoded.
    case string(String)
    /// A number as it was spelled.
    case number(String)
    /// `true` or `false`.
    case bool(Bool)
    /// `null`.
    case null

    /// Where and why a text is not JSON.
    public struct SyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The byte at which reading stopped, from 0.
        public let offset: Int
        /// What is wrong there.
        public let problem: String
        public var description: String { "\(problem) at byte \(offset)" }
    }

    /// Reads one JSON text.
    public init(parsing bytes: [UInt8]) throws(SyntaxError) {
        var reader = JSONReader(bytes: bytes)
        self = try reader.text()
    }

    /// The members, when this is an object.
    public var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements, when this is an array.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text, when this is a string.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The truth value, when this is one.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number, when this is a number without a fraction that fits 64 bits. `3600.0` and `36e2` count.
    public var integer: Int64? {
        guard case .number(let spelling) = self else { return nil }
        if let exact = Int64(spelling) { return exact }
        guard let value = Double(spelling), value.rounded() == value, abs(value) < 9e15 else { return nil }
        return Int64(value)
    }

    /// What kind of value this is, for messages.
    public var kind: String {
        switch self {
        case .object: "an object"
        case .array: "a list"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }
}

private struct JSONReader {
    let bytes: [UInt8]
    var offset = 0

    static let maximumDepth = 32

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func text() throws(JSONValue.SyntaxError) -> JSONValue {
        skipSpace()
        let value = try value(depth: 0)
        skipSpace()
        guard offset == bytes.count else { throw failure("text behind the value") }
        return value
    }

    func failure(_ problem: String) -> JSONValue.SyntaxError {
        .init(offset: offset, problem: problem)
    }

    var next: UInt8? {
        offset < bytes.count ? bytes[offset] : nil
    }

    mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    mutating func value(depth: Int) throws(JSONValue.SyntaxError) -> JSONValue {
        guard depth <= Self.maximumDepth else { throw failure("nested deeper than \(Self.maximumDepth)") }
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw failure("the text ends early")
        case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte): return .number(try number())
        default: throw failure("not a JSON value")
        }
    }

    mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONValue.SyntaxError) -> JSONValue {
        let end = offset + word.utf8CodeUnitCount
        guard end <= bytes.count,
            bytes[offset..<end].elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        else { throw failure("not a JSON value") }
        offset = end
        return value
    }

    mutating func object(depth: Int) throws(JSONValue.SyntaxError) -> JSONValue {
        var members: [String: JSONValue] = [:]
        offset += 1
        skipSpace()
        if next == UInt8(ascii: "}") {
            offset += 1
            return .object(members)
        }
        while true {
            guard next == UInt8(ascii: "\"") else { throw failure("a member name is missing") }
            let name = try string()
            skipSpace()
            guard next == UInt8(ascii: ":") else { throw failure("a colon is missing") }
            offset += 1
            skipSpace()
            let value = try value(depth: depth + 1)
            guard members.updateValue(value, forKey: name) == nil else {
                throw failure("the member “\(quoted(name, limit: 60))” comes twice")
            }
            skipSpace()
            if try endsList(with: UInt8(ascii: "}")) { return .object(members) }
        }
    }

    mutating func array(depth: Int) throws(JSONValue.SyntaxError) -> JSONValue {
        var elements: [JSONValue] = []
        offset += 1
        skipSpace()
        if next == UInt8(ascii: "]") {
            offset += 1
            return .array(elements)
        }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if try endsList(with: UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    /// Steps over a comma, or over the closing bracket and says so.
    mutating func endsList(with bracket: UInt8) throws(JSONValue.SyntaxError) -> Bool {
        switch next {
        case bracket:
            offset += 1
            return true
        case UInt8(ascii: ","):
            offset += 1
            skipSpace()
            return false
        case nil: throw failure("the text ends early")
        default: throw failure("a comma is missing")
        }
    }

    mutating func number() throws(JSONValue.SyntaxError) -> String {
        let start = offset
        if next == UInt8(ascii: "-") { offset += 1 }
        if next == UInt8(ascii: "0") { offset += 1 } else { try digits() }
        if next == UInt8(ascii: ".") {
            offset += 1
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            offset += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    mutating func digits() throws(JSONValue.SyntaxError) {
        let start = offset
        while let byte = next, (0x30...0x39).contains(byte) { offset += 1 }
        guard offset > start else { throw failure("a digit is missing") }
    }

    mutating func string() throws(JSONValue.SyntaxError) -> String {
        offset += 1
        var output: [UInt8] = []
        var start = offset
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                output += bytes[start..<offset]
                guard let text = String(validating: output, as: UTF8.self) else { throw failure("not UTF-8") }
                offset += 1
                return text
            case UInt8(ascii: "\\"):
                output += bytes[start..<offset]
                offset += 1
                try escape(into: &output)
                start = offset
            case 0..<0x20:
                throw failure("a control character inside a string")
            default:
                offset += 1
            }
        }
        throw failure("the text ends early")
    }

    mutating func escape(into output: inout [UInt8]) throws(JSONValue.SyntaxError) {
        guard let kind = next else { throw failure("the text ends early") }
        offset += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): output.append(kind)
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0C)
        case UInt8(ascii: "n"): output.append(0x0A)
        case UInt8(ascii: "r"): output.append(0x0D)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "u"): output += Array(String(Character(try unicodeEscape())).utf8)
        default: throw failure("an unknown escape")
        }
    }

    mutating func unicodeEscape() throws(JSONValue.SyntaxError) -> Unicode.Scalar {
        let unit = try codeUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(unit), next == UInt8(ascii: "\\") else { throw failure("half a surrogate pair") }
        offset += 1
        guard next == UInt8(ascii: "u") else { throw failure("half a surrogate pair") }
        offset += 1
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second) else { throw failure("half a surrogate pair") }
        let value = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
        guard let scalar = Unicode.Scalar(value) else { throw failure("half a surrogate pair") }
        return scalar
    }

    mutating func codeUnit() throws(JSONValue.SyntaxError) -> UInt16 {
        guard offset + 4 <= bytes.count,
            let digits = String(validating: bytes[offset..<offset + 4], as: UTF8.self),
            !digits.hasPrefix("+"), !digits.hasPrefix("-"), let unit = UInt16(digits, radix: 16)
        else { throw failure("an escape without four hexadecimal digits") }
        offset += 4
        return unit
    }
}
