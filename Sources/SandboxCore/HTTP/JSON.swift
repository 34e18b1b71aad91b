#if Sandbox
/// A JSON value whose objects keep the order of their members, which `JSONEncoder` does not.
package enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Int)
    /// A finite number that is not an integer.
    case decimal(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    /// One member of an object.
    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: JSON

        package init(name: String, value: JSON) {
            self.name = name
            self.value = value
        }
    }

    package init(_ text: String?) {
        self = text.map(JSON.string) ?? .null
    }

    package init(_ texts: [String]) {
        self = .array(texts.map(JSON.string))
    }

    /// The object with more members at its end; any other value stays as it is.
    package func adding(_ name: String, _ value: JSON?) -> JSON {
        guard case .object(let members) = self, let value else { return self }
        return .object(members + [Member(name: name, value: value)])
    }

    /// RFC 8259 text without white space.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let value): String(value)
        case .decimal(let value): value.isFinite ? String(value) : "null"
        case .string(let value): Self.quoted(value)
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.name)):\($0.value.text)" }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .number(value) }
    package init(floatLiteral value: Double) { self = .decimal(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(nilLiteral: ()) { self = .null }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member(name: $0.0, value: $0.1) })
    }
}
#endif
