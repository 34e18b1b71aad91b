/// A JSON object whose members are read when they are asked for.
///
/// For texts of this package's own, whose readers need few of many members. It finds where the members stand, and neither reads nor
/// checks a value before it is asked for. What comes from outside is read by ``JSONValue/init(parsing:)``.
package struct UnreadObject: Sendable {
    private struct Member: Sendable {
        let name: Range<Int>
        /// The name's length and first bytes.
        let mark: UInt64
        /// Where the value begins.
        let value: Int
    }

    private let bytes: [UInt8]
    private var members: [Member] = []
    /// A bit for each mark: most names of absent members have none here, and are not looked for.
    private var marks: UInt64 = 0

    /// Finds the members of an object that has some, without white space between them, and without escapes in their names.
    ///
    /// - Returns: nil for a text of another form.
    package init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        let slice = bytes[...]
        let text = slice.span
        guard bytes.first == UInt8(ascii: "{") else { return nil }
        members.reserveCapacity(24)
        var end = 0
        repeat {
            let start = end + 1
            guard start < text.count, text[start] == UInt8(ascii: "\"") else { return nil }
            let nameEnd = text.firstIndex(from: start + 1) { $0.flags(of: UInt8(ascii: "\"")) }
            guard nameEnd + 1 < text.count, text[nameEnd + 1] == UInt8(ascii: ":"),
                let valueEnd = Self.endOfValue(from: nameEnd + 2, in: text)
            else { return nil }
            let name = (start + 1)..<nameEnd
            let mark = text.extracting(name).mark
            members.append(Member(name: name, mark: mark, value: nameEnd + 2))
            marks |= mark.markBit
            end = valueEnd
        } while bytes[end] == UInt8(ascii: ",")
        guard bytes[end] == UInt8(ascii: "}"), end == bytes.count - 1 else { return nil }
    }

    /// The value of a member; nil when there is none, or what stands there is no value.
    package subscript(name: String) -> JSONValue? {
        guard let start = start(of: name, name.mark) else { return nil }
        var reader = JSONReader(bytes: bytes)
        reader.offset = start
        return try? reader.value(depth: 1)
    }

    /// Where a member's value begins.
    private func start(of name: String, _ mark: UInt64) -> Int? {
        guard marks & mark.markBit != 0 else { return nil }
        for member in members where member.mark == mark {
            if name.isWhollyMarked || bytes[member.name].span.hasBytes(of: name) { return member.value }
        }
        return nil
    }

    /// All members; none where the text is not JSON.
    package var all: JSONObject { (try? JSONValue(parsing: bytes))?.object ?? [:] }

    /// The comma or bracket behind a value.
    private static func endOfValue(from start: Int, in bytes: Span<UInt8>) -> Int? {
        var (depth, offset) = (0, start)
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                guard let end = endOfString(from: offset + 1, in: bytes) else { return nil }
                offset = end
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ","):
                if depth == 0 { return offset }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return offset }
                depth -= 1
            default: break
            }
            offset += 1
        }
        return nil
    }

    /// The quotation mark that ends a string.
    private static func endOfString(from start: Int, in bytes: Span<UInt8>) -> Int? {
        var offset = start
        while true {
            offset = bytes.firstIndex(from: offset) {
                $0.flags(of: UInt8(ascii: "\"")) | $0.flags(of: UInt8(ascii: "\\"))
            }
            guard offset < bytes.count else { return nil }
            if bytes[offset] == UInt8(ascii: "\"") { return offset }
            offset += 2
        }
    }
}
