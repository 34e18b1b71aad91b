#if CommandLine
import Foundation
import OAuth

/// A JSON text to print, with its members in the order they were written.
///
/// Not `JSONEncoder`, which keeps no order of members: the columns of the commands' contract come in a stable order. Not
/// `JSONValue`, which sorts them.
indirect enum JSONText {
    case object([(String, JSONText)])
    case array([JSONText])
    case string(String)
    case integer(Int64)
    /// A measured number, to two places; null when it is not finite.
    case decimal(Double)
    /// A number as a service spelled it.
    case number(String)
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
        case .number(let spelling): spelling
        case .decimal(let value): value.isFinite ? String(format: "%.2f", value) : "null"
        case .bool(let value): value ? "true" : "false"
        case .null: "null"
        }
    }

    /// A string or null.
    static func optional(_ value: String?) -> JSONText {
        value.map { .string($0) } ?? .null
    }

    /// Whole seconds; null for none, and for what 64 bits do not hold.
    static func seconds(_ value: Double?) -> JSONText {
        value.flatMap { Int64(exactly: $0.rounded(.down)) }.map { .integer($0) } ?? .null
    }

    /// A value that came from a service.
    init(_ value: JSONValue) {
        switch value {
        case .object(let members):
            self = .object(members.sorted { $0.key < $1.key }.map { ($0.key, JSONText($0.value)) })
        case .array(let elements): self = .array(elements.map(JSONText.init))
        case .string(let text): self = .string(text)
        case .number(let spelling): self = .number(spelling)
        case .bool(let truth): self = .bool(truth)
        case .null: self = .null
        }
    }

    private static let shortEscapes: [Unicode.Scalar: String] = [
        "\"": #"\""#, "\\": #"\\"#, "\n": #"\n"#, "\r": #"\r"#, "\t": #"\t"#,
    ]

    private static func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if let short = shortEscapes[scalar] {
                quoted += short
            } else if mayBeShown(scalar) {
                quoted.unicodeScalars.append(scalar)
            } else {
                quoted += escaped(scalar)
            }
        }
        return quoted + "\""
    }

    /// Whether a character is shown as it is: none that controls a terminal or changes the direction of text.
    private static func mayBeShown(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return false
        default: return true
        }
    }

    /// The escapes of one character: two beyond the basic plane (RFC 8259, section 7).
    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        scalar.utf16.map { unit in
            let hexadecimal = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
        }
        .joined()
    }
}
#endif
