import OAuth

/// Reads the members of an answer's object tolerantly (dossier 4.3): null is absent, a number may be spelled as a string and
/// the other way round, and a member of the wrong type counts as absent unless it must be there.
struct Members {
    /// Which answer this is, for errors.
    let answer: String
    /// Where in the answer the object stands, with a dot behind it; empty at the top.
    let place: String
    let members: JSONObject

    init(_ value: JSONValue, answer: String, place: String = "") throws(RecurseCenterError) {
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

    func wrong(_ name: String, expected: String) -> RecurseCenterError {
        .malformed(
            answer: answer, member: place + name, expected: expected, found: self[name]?.described ?? "nothing")
    }

    /// A text that says something, or a number in its own spelling.
    func text(_ name: String) -> String? {
        switch self[name] {
        case .string(let text): text.isEmpty ? nil : text
        case .number(let spelling): spelling
        default: nil
        }
    }

    /// A whole number, or its digits as a text.
    func integer(_ name: String) -> Int64? {
        self[name]?.lenientInteger
    }

    func date(_ name: String) -> CalendarDate? {
        self[name]?.string.flatMap { CalendarDate($0) }
    }

    /// The object under a name.
    func object(_ name: String) -> Members? {
        self[name].flatMap { try? Members($0, answer: answer, place: place + name) }
    }

    /// The objects in the list under a name; what is none is left out.
    func objects(_ name: String) -> [Members] {
        (self[name]?.array ?? []).enumerated().compactMap { index, value in
            try? Members(value, answer: answer, place: "\(place)\(name)[\(index)]")
        }
    }
}

extension JSONValue {
    /// A whole number, or a text of digits that spells one.
    var lenientInteger: Int64? {
        if let integer { return integer }
        guard let text = string, (1...19).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }

    /// The kind of value, and the value itself where it is short and harmless.
    var described: String {
        switch self {
        case .string(let text): "“\(quoted(text, limit: 60))”"
        case .number(let spelling): quoted(spelling, limit: 40)
        default: kind
        }
    }

    /// The elements of an answer that must be a list, each read as an object.
    func list<Element>(
        of answer: String, _ read: (Members) throws(RecurseCenterError) -> Element
    ) throws(RecurseCenterError) -> [Element] {
        guard let array else {
            throw .malformed(answer: answer, member: "content", expected: "a list", found: described)
        }
        var elements: [Element] = []
        elements.reserveCapacity(array.count)
        for (index, value) in array.enumerated() {
            elements.append(try read(try Members(value, answer: answer, place: "[\(index)]")))
        }
        return elements
    }
}
