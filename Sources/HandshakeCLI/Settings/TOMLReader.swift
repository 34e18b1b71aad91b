#if CommandLine
import OAuth

/// Reads TOML 1.0 (https://toml.io/en/v1.0.0) without its dates, times, infinities and NaN, which no setting has.
///
/// By hand, because toml++, the parser behind TOMLKit, ends the process at a file such as `[=]` or `a = [}`. Time is linear in the length.
struct TOMLReader {
    /// What is wrong. Lines count from 1.
    struct SyntaxError: Error {
        let line: Int
        let problem: String
    }

    let bytes: [UInt8]
    var position = 0
    /// How many arrays and tables the next value lies in, not counting those of the last header.
    private var depth = 0

    /// How deep arrays and tables may lie in one another, and how many names a key may have. They are followed on the stack.
    static let maximumDepth = 32

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The document's members.
    ///
    /// - Parameter bytes: text in UTF-8.
    static func members(of bytes: [UInt8]) throws(SyntaxError) -> JSONObject {
        var reader = TOMLReader(bytes)
        // A mark of the byte order.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        let root = TOMLTable(.header)
        var table = root
        while reader.position < bytes.count {
            reader.skipSpace()
            if reader.byte == UInt8(ascii: "[") {
                table = try reader.header(in: root)
            } else if !reader.isAtEndOfLine {
                let key = try reader.keyAndSign()
                let value = try reader.value(of: key)
                try reader.placed { () throws(TOMLTable.Conflict) in try table.insert(value, at: key) }
            }
            try reader.endLine()
        }
        return root.object
    }

    // What the parts share

    var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    func error(_ problem: String) -> SyntaxError {
        SyntaxError(line: bytes[..<min(position, bytes.count)].count { $0 == 0x0A } + 1, problem: problem)
    }

    /// Takes bytes if they come next.
    mutating func take(_ text: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes[position...].starts(with: wanted) else { return false }
        position += wanted.count
        return true
    }

    mutating func skipSpace() {
        while byte == 0x20 || byte == 0x09 { position += 1 }
    }

    private var isAtEndOfLine: Bool {
        switch byte {
        case nil, 0x0A, 0x0D, UInt8(ascii: "#"): true
        default: false
        }
    }

    /// Takes what may follow a value or a header on its line, and the line's end.
    private mutating func endLine() throws(SyntaxError) {
        skipSpace()
        try skipComment()
        guard byte == nil || takeLineBreak() else {
            throw error("there is more text after the value or the header")
        }
    }

    private mutating func takeLineBreak() -> Bool { take("\n") || take("\r\n") }

    private mutating func skipComment() throws(SyntaxError) {
        guard byte == UInt8(ascii: "#") else { return }
        while let next = byte, next != 0x0A, !(next == 0x0D && bytes[position...].dropFirst().first == 0x0A) {
            guard Self.isPrintable(next) else { throw error("a comment contains a control character") }
            position += 1
        }
    }

    static func isPrintable(_ byte: UInt8) -> Bool { (byte >= 0x20 && byte != 0x7F) || byte == 0x09 }

    private func placed<Value>(_ body: () throws(TOMLTable.Conflict) -> Value) throws(SyntaxError) -> Value {
        do { return try body() } catch {
            let name = String(decoding: error.name, as: UTF8.self)
            throw self.error("“\(quoted(name, limit: 80))” is already defined, or is not a table")
        }
    }

    // Headers and keys

    private mutating func header(in root: TOMLTable) throws(SyntaxError) -> TOMLTable {
        let isElement = take("[[")
        if !isElement { position += 1 }
        let key = try key()
        guard isElement ? take("]]") : take("]") else {
            throw error("a header is written [name], or [[name]] for an element of a list")
        }
        return try placed { () throws(TOMLTable.Conflict) in try root.open(key, isElement: isElement) }
    }

    private mutating func keyAndSign() throws(SyntaxError) -> [[UInt8]] {
        let key = try key()
        guard take("=") else { throw error("expected = and a value after the name") }
        skipSpace()
        return key
    }

    /// The names between dots, with the space around them.
    private mutating func key() throws(SyntaxError) -> [[UInt8]] {
        var names: [[UInt8]] = []
        repeat {
            skipSpace()
            names.append(try name())
            skipSpace()
            guard names.count <= Self.maximumDepth else {
                throw error("a name has more than \(Self.maximumDepth) parts")
            }
        } while take(".")
        return names
    }

    private mutating func name() throws(SyntaxError) -> [UInt8] {
        let name: [UInt8]
        switch byte {
        // Stream-safe, because comparing it takes quadratic time otherwise.
        case UInt8(ascii: "\"")?, UInt8(ascii: "'")?:
            name = Array(String(decoding: try line(of: "a name"), as: UTF8.self).streamSafe.utf8)
        default:
            let word = bytes[position...].prefix { $0 < 0x80 && Self.isWordByte($0) }
            guard !word.isEmpty else {
                throw error("expected a name; put one that has more than letters, digits, - and _ in quotation marks")
            }
            position = word.endIndex
            name = Array(word)
        }
        guard name.count <= JSONObject.maximumNameLength else {
            throw error("a name has more than \(JSONObject.maximumNameLength) bytes")
        }
        return name
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    // Values

    /// The value of a key. Every part of a dotted key but the last is a table around it.
    private mutating func value(of key: [[UInt8]]) throws(SyntaxError) -> JSONValue {
        depth += key.count - 1
        defer { depth -= key.count - 1 }
        try checkDepth()
        return try value()
    }

    private func checkDepth() throws(SyntaxError) {
        guard depth <= Self.maximumDepth else {
            throw error("lists and tables are nested deeper than \(Self.maximumDepth) levels")
        }
    }

    private mutating func value() throws(SyntaxError) -> JSONValue {
        switch byte {
        case UInt8(ascii: "\"")?, UInt8(ascii: "'")?: return .string(try string())
        case UInt8(ascii: "[")?: return .array(try elements())
        case UInt8(ascii: "{")?: return .object(try inlineMembers())
        default: return try scalar()
        }
    }

    /// Takes an opening bracket.
    private mutating func open() throws(SyntaxError) {
        depth += 1
        try checkDepth()
        position += 1
    }

    /// The elements of an array, over any number of lines.
    private mutating func elements() throws(SyntaxError) -> [JSONValue] {
        try open()
        defer { depth -= 1 }
        var elements: [JSONValue] = []
        try skipSpaceAndLines()
        while !take("]") {
            elements.append(try value())
            try skipSpaceAndLines()
            guard take(",") || byte == UInt8(ascii: "]") else { throw error("expected a comma or ] in a list") }
            try skipSpaceAndLines()
        }
        return elements
    }

    private mutating func skipSpaceAndLines() throws(SyntaxError) {
        repeat {
            skipSpace()
            try skipComment()
        } while takeLineBreak()
    }

    /// The members of an inline table, which is on one line and complete.
    private mutating func inlineMembers() throws(SyntaxError) -> JSONObject {
        try open()
        defer { depth -= 1 }
        let table = TOMLTable(.header)
        skipSpace()
        if take("}") { return table.object }
        repeat {
            let key = try keyAndSign()
            let value = try value(of: key)
            try placed { () throws(TOMLTable.Conflict) in try table.insert(value, at: key) }
            skipSpace()
        } while take(",")
        guard take("}") else { throw error("expected a comma or } in a table in braces, which has to be on one line") }
        return table.object
    }
}
#endif
