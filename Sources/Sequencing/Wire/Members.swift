import OAuth

/// Reads the members of an answer's object by the rules of dossier 9.5: a number may be spelled as a string and the
/// other way round, null is absent, and what is not asked for is ignored.
struct Members {
    /// Which answer this is, for errors.
    let answer: String
    /// Where in the answer the object stands, with a dot behind it; empty at the top.
    let place: String
    let members: JSONObject

    init(_ value: JSONValue, answer: String, place: String = "") throws(SequencingError) {
        guard let members = value.object else {
            throw .malformed(
                answer: answer, member: place.isEmpty ? "content" : place, expected: "an object", found: value.described
            )
        }
        self.answer = answer
        self.place = place.isEmpty ? "" : place + "."
        self.members = members
    }

    subscript(name: String) -> JSONValue? {
        members[name].flatMap { $0 == .null ? nil : $0 }
    }

    func wrong(_ name: String, expected: String) -> SequencingError {
        .malformed(
            answer: answer, member: place + name, expected: expected, found: self[name]?.described ?? "nothing")
    }

    /// A text, or a number in its own spelling; nil when absent or of another type.
    func lenientText(_ name: String) -> String? {
        switch self[name] {
        case .string(let text): text
        case .number(let spelling): spelling
        default: nil
        }
    }

    /// A text that must be there.
    func text(_ name: String) throws(SequencingError) -> String {
        guard let text = lenientText(name) else { throw wrong(name, expected: "a text") }
        return text
    }

    /// A whole number, or its digits as a text; nil when absent.
    func integer(_ name: String) throws(SequencingError) -> Int64? {
        guard let value = self[name] else { return nil }
        if let number = value.lenientInteger { return number }
        throw wrong(name, expected: "a whole number")
    }

    func requiredInteger(_ name: String) throws(SequencingError) -> Int64 {
        guard let number = try integer(name) else { throw wrong(name, expected: "a whole number") }
        return number
    }

    /// True or false, also as a text; nil when absent.
    func bool(_ name: String) throws(SequencingError) -> Bool? {
        switch self[name] {
        case nil: return nil
        case .bool(let truth): return truth
        case .string(let text):
            switch text.lowercased() {
            case "true": return true
            case "false": return false
            default: throw wrong(name, expected: "true or false")
            }
        default: throw wrong(name, expected: "true or false")
        }
    }

    /// The object under a name, which must be there.
    func object(_ name: String) throws(SequencingError) -> Members {
        guard let value = self[name] else { throw wrong(name, expected: "an object") }
        return try Members(value, answer: answer, place: place + name)
    }

    /// The list under a name; an absent one is empty.
    func list(_ name: String) throws(SequencingError) -> [JSONValue] {
        guard let value = self[name] else { return [] }
        guard let list = value.array else { throw wrong(name, expected: "a list") }
        return list
    }
}

extension JSONValue {
    /// A whole number, or a text that spells one, also with a fraction of zeros (dossier 5.2: `800123.0`).
    var lenientInteger: Int64? {
        if let integer { return integer }
        guard let text = string, (1...24).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D })
        else { return nil }
        return JSONValue.number(text).integer
    }

    /// The kind of value, and the value itself where it is short and harmless.
    var described: String {
        switch self {
        case .string(let text): "“\(quoted(text, limit: 60))”"
        case .number(let spelling): quoted(spelling, limit: 40)
        default: kind
        }
    }

    /// The elements of an answer that must be a list.
    func elements(of answer: String) throws(SequencingError) -> [JSONValue] {
        guard let array else {
            throw .malformed(answer: answer, member: "content", expected: "a list", found: described)
        }
        return array
    }
}
