#if Sandbox
/// Reading of JSON request bodies.
extension JSON {
    /// Reads RFC 8259 text, nested 128 levels deep at most; nil when it is not that.
    ///
    /// The members of an object come in the order of their names.
    package init?(parsing bytes: [UInt8]) {
        guard let value = JSONParser.value(of: bytes) else { return nil }
        self = value
    }

    /// A member of an object; nil when it is missing, null, or there is no object.
    package subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name && $0.value != .null }?.value
    }

    /// The elements of an array.
    package var elements: [JSON]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    /// A string, or a number as text.
    package var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let number): String(number)
        case .decimal(let number): String(number)
        default: nil
        }
    }

    /// A number, or a string of digits.
    package var integer: Int? {
        scalarText.flatMap { Int($0) }
    }
}
#endif
