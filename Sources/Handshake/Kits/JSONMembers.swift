package import OAuth

/// The members of a JSON object in a service's answer: null is absent, unknown members are ignored, and an error names the place.
///
/// How strictly a value is read is the service's own affair: each kit adds its readers.
package struct JSONMembers<Failure: KitError>: Sendable {
    /// The operation's name, for errors.
    package let answer: String
    /// The object's place in the answer, with a dot behind it; empty at the top.
    package let place: String
    package let members: JSONObject

    package init(_ value: JSONValue, answer: String, place: String = "") throws(Failure) {
        guard let members = value.object else {
            throw .malformed(
                answer: answer, member: place.isEmpty ? "content" : place, expected: "an object", found: value.described
            )
        }
        self.init(members, answer: answer, place: place)
    }

    package init(_ members: JSONObject, answer: String = "", place: String = "") {
        self.answer = answer
        self.place = place.isEmpty ? "" : place + "."
        self.members = members
    }

    /// The elements of an answer that must be a list.
    package static func list(_ value: JSONValue, answer: String) throws(Failure) -> [JSONValue] {
        guard let array = value.array else {
            throw .malformed(answer: answer, member: "content", expected: "a list", found: value.described)
        }
        return array
    }

    package subscript(name: String) -> JSONValue? {
        members[name].flatMap { $0 == .null ? nil : $0 }
    }

    package func wrong(_ name: String, expected: String) -> Failure {
        .malformed(answer: answer, member: place + name, expected: expected, found: self[name]?.described ?? "nothing")
    }

    /// A text, or a number in its own spelling; nil when absent or of another type.
    package func lenientText(_ name: String) -> String? {
        switch self[name] {
        case .string(let text): text
        case .number(let spelling): spelling
        default: nil
        }
    }

    /// The objects of the list under a name, each with its place; everything else in it is left out.
    package func elements(_ name: String) -> [Self] {
        (self[name]?.array ?? []).enumerated().compactMap { index, value in
            value.object.map { Self($0, answer: answer, place: "\(place)\(name)[\(index)]") }
        }
    }
}

extension JSONValue {
    /// A whole number, or a text that spells one, also with a fraction of zeros (`800123.0`).
    package var lenientInteger: Int64? {
        if let integer { return integer }
        guard let text = string, (1...24).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D })
        else { return nil }
        return JSONValue.number(text).integer
    }

    /// The kind of value, and the value itself where it is short; tokens in it are hidden.
    package var described: String {
        switch self {
        // By scalars: one character may have megabytes of them.
        case .string(let text): "“\(quoted(hidingTokens(in: String(text.unicodeScalars.prefix(200))), limit: 60))”"
        case .number(let spelling): quoted(spelling, limit: 40)
        default: kind
        }
    }
}
