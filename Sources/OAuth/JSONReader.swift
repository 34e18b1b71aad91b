/// Reads one JSON text for ``JSONValue/init(parsing:)``.
struct JSONReader {
    let bytes: [UInt8]
    var offset = 0

    static let maximumDepth = 32
    static let maximumNumberLength = 256

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func text() throws(JSONValue.SyntaxError) -> JSONValue {
        skipSpace()
        let value = try value(depth: 0)
        skipSpace()
        guard offset == bytes.count else { throw failure("text follows the value") }
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
        var members = JSONObject()
        offset += 1
        skipSpace()
        if next == UInt8(ascii: "}") {
            offset += 1
            return .object(members)
        }
        while true {
            guard next == UInt8(ascii: "\"") else { throw failure("a member name is missing") }
            let name = try string()
            guard name.utf8.count <= JSONObject.maximumNameLength else {
                throw failure("a member name is longer than \(JSONObject.maximumNameLength) bytes")
            }
            skipSpace()
            guard next == UInt8(ascii: ":") else { throw failure("a colon is missing") }
            offset += 1
            skipSpace()
            let value = try value(depth: depth + 1)
            guard members.insert(value, for: name) else { throw failure("a member name occurs twice") }
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
        guard offset - start <= Self.maximumNumberLength else { throw failure("a number is too long") }
        return plainText(from: start, to: offset)
    }

    mutating func digits() throws(JSONValue.SyntaxError) {
        let start = offset
        while let byte = next, (0x30...0x39).contains(byte) { offset += 1 }
        guard offset > start else { throw failure("a digit is missing") }
    }

    /// The end of what needs no decoding: the next byte that is not ASCII, or a quotation mark, a reverse solidus or a control
    /// character.
    private func endOfPlainText() -> Int {
        let slice = bytes[...]
        return slice.span.firstIndex(from: offset) { eight in
            eight.flagsOutsideASCII | eight.flags(below: 0x20) | eight.flags(of: UInt8(ascii: "\""))
                | eight.flags(of: UInt8(ascii: "\\"))
        }
    }

    /// A text of the bytes between two places, which are ASCII.
    private func plainText(from start: Int, to end: Int) -> String {
        String(unsafeUninitializedCapacity: end - start) { text in
            bytes.withUnsafeBufferPointer { text.initialize(fromContentsOf: $0[start..<end]) }
        }
    }

    mutating func string() throws(JSONValue.SyntaxError) -> String {
        offset += 1
        let end = endOfPlainText()
        if end < bytes.count, bytes[end] == UInt8(ascii: "\"") {
            defer { offset = end + 1 }
            return plainText(from: offset, to: end)
        }
        /// What stands before the last escape.
        var output: [UInt8] = []
        var start = offset
        var isASCII = true
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                let rest = bytes[start..<offset]
                offset += 1
                if isASCII && output.isEmpty { return String(decoding: rest, as: UTF8.self) }
                guard let text = String(validating: output + rest, as: UTF8.self) else { throw failure("not UTF-8") }
                return isASCII ? text : text.streamSafe
            case UInt8(ascii: "\\"):
                output += bytes[start..<offset]
                offset += 1
                if next == UInt8(ascii: "u") { isASCII = false }
                try escape(into: &output)
                start = offset
            case 0..<0x20:
                throw failure("a control character inside a string")
            default:
                if byte >= 0x80 { isASCII = false }
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
