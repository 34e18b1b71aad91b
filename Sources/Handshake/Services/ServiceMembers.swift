import OAuth

/// The members of a service's description, with values in place of its placeholders.
///
/// Those of a line of `ServiceLines.swift` are read when they are asked for: a sign-in needs half of them.
struct ServiceMembers: Sendable {
    private enum Source: Sendable {
        case line(UnreadObject)
        case object(JSONObject)
    }

    private let source: Source
    /// The values of the placeholders; nil where there are none.
    private var values: [String: String]?

    init(_ line: UnreadObject) { source = .line(line) }

    init(_ object: JSONObject) { source = .object(object) }

    /// The same with values in place of the placeholders, which are no member then.
    func filled(with values: [String: String]) -> ServiceMembers {
        var filled = self
        filled.values = values
        return filled
    }

    subscript(name: String) -> JSONValue? {
        guard let values else { return described(name) }
        guard name != Self.placeholders, let value = described(name) else { return nil }
        return value.holdsBrace ? value.filled(with: values) : value
    }

    /// A member as the description has it.
    private func described(_ name: String) -> JSONValue? {
        switch source {
        case .line(let line): line[name]
        case .object(let object): object[name]
        }
    }

    /// All members.
    var all: JSONObject {
        var all =
            switch source {
            case .line(let line): line.all
            case .object(let object): object
            }
        guard let values else { return all }
        all[Self.placeholders] = nil
        for (name, value) in all where value.holdsBrace { all[name] = value.filled(with: values) }
        return all
    }

    private static let placeholders = "placeholders"
}

extension JSONValue {
    /// Whether a string in it may have a placeholder.
    fileprivate var holdsBrace: Bool {
        switch self {
        case .string(let text): text.utf8.contains(UInt8(ascii: "{"))
        case .array(let elements): elements.contains(where: \.holdsBrace)
        case .object(let members): members.contains { $0.value.holdsBrace }
        default: false
        }
    }

    /// The value with the placeholders `{name}` in all its strings replaced. Names of members stay.
    fileprivate func filled(with values: [String: String]) -> JSONValue {
        switch self {
        case .string(let text): .string(text.filled(with: values))
        case .array(let elements): .array(elements.map { $0.filled(with: values) })
        case .object(let members):
            .object(JSONObject(members.map { (key: $0.key, value: $0.value.filled(with: values)) }))
        default: self
        }
    }
}

extension String {
    /// The text with `{name}` replaced where `values` has the name. A value is never searched for further ones.
    fileprivate func filled(with values: [String: String]) -> String {
        var filled = ""
        var rest = Substring(self).utf8
        while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
            let name = rest.index(after: open)
            guard let end = rest[name...].firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") })
            else { break }
            if rest[end] == UInt8(ascii: "}"), let value = values[String(Substring(rest[name..<end]))] {
                filled += Substring(rest[..<open]) + value
                rest = rest[rest.index(after: end)...]
            } else {
                filled += Substring(rest[..<end])
                rest = rest[end...]
            }
        }
        return filled + Substring(rest)
    }
}
