/// A JSON text, read strictly (RFC 8259) and in linear time.
///
/// Foundation's decoder takes the last of two members with one name, and so lets two readers of one response see two
/// different responses. This reader rejects repeated names, names beyond 1024 bytes, numbers beyond 256 bytes, depth
/// beyond 32, anything that is not UTF-8, a byte-order mark, and text after the value. Numbers keep their spelling. In
/// strings, U+034F is inserted after 30 combining marks in a row (Unicode Standard Annex #15, section 13), so that
/// comparing them takes linear time.
public enum JSONValue: Sendable, Hashable {
    /// An object; each name occurs once.
    case object(JSONObject)
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
        /// The position of the byte at which reading stopped, from 0.
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
    public var object: JSONObject? {
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
