extension JSONValue {
    /// The value as compact JSON text: members sorted by name, numbers as they were spelled (RFC 8259).
    ///
    /// `JSONEncoder` would write numbers in its own spelling.
    package var json: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .object(let members):
            text += "{"
            var separator = ""
            for (name, value) in members.sorted() {
                text += separator
                Self.write(name, to: &text)
                text += ":"
                value.write(to: &text)
                separator = ","
            }
            text += "}"
        case .array(let elements):
            text += "["
            var separator = ""
            for element in elements {
                text += separator
                element.write(to: &text)
                separator = ","
            }
            text += "]"
        case .string(let string): Self.write(string, to: &text)
        case .number(let spelling): text += spelling
        case .bool(let truth): text += truth ? "true" : "false"
        case .null: text += "null"
        }
    }

    /// Adds a string as JSON to bytes.
    static func append(_ string: String, to bytes: inout [UInt8]) {
        guard !string.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) else {
            bytes.append(contentsOf: JSONValue.string(string).json.utf8)
            return
        }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: string.utf8)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a string. Escapes only what RFC 8259, section 7 requires.
    private static func write(_ string: String, to text: inout String) {
        text += "\""
        defer { text += "\"" }
        guard string.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) else {
            text += string
            return
        }
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\u{0}"..<"\u{10}": text += "\\u000" + String(scalar.value, radix: 16)
            case "\u{10}"..<"\u{20}": text += "\\u00" + String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
