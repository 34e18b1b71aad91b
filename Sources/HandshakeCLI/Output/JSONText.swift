import Foundation
import OAuth

/// A JSON text to print, with its members in the order they were written.
indirect enum JSONText {
    case object([(String, JSONText)])
    case array([JSONText])
    case string(String)
    case integer(Int64)
    case bool(Bool)
    case null

    /// The text on one line.
    var text: String {
        switch self {
        case .object(let members):
            "{" + members.map { Self.quote($0.0) + ":" + $0.1.text }.joined(separator: ",") + "}"
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .string(let value): Self.quote(value)
        case .integer(let value): String(value)
        case .bool(let value): value ? "true" : "false"
        case .null: "null"
        }
    }

    /// A string or null.
    static func optional(_ value: String?) -> JSONText {
        value.map { .string($0) } ?? .null
    }

    /// Whole seconds or null.
    static func seconds(_ value: Double?) -> JSONText {
        value.map { .integer(Int64($0.rounded(.down))) } ?? .null
    }

    /// A value that came from a service.
    init(_ value: JSONValue) {
        switch value {
        case .object(let members):
            self = .object(members.sorted { $0.key < $1.key }.map { ($0.key, JSONText($0.value)) })
        case .array(let elements): self = .array(elements.map(JSONText.init))
        case .string(let text): self = .string(text)
        case .number(let spelling): self = value.integer.map { .integer($0) } ?? .string(spelling)
        case .bool(let truth): self = .bool(truth)
        case .null: self = .null
        }
    }

    private static func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            // Control characters, and those that turn the writing round or cannot be seen.
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{61C}", "\u{200B}"..."\u{200F}", "\u{2028}"..."\u{202E}",
                "\u{2060}"..."\u{206F}", "\u{FEFF}":
                let hexadecimal = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
