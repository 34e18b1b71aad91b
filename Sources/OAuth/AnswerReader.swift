/// Reads the members of a JSON answer, and names the member when one is missing or of the wrong type.
struct AnswerReader {
    let step: OAuthError.Step
    let members: [String: JSONValue]

    init(step: OAuthError.Step, content: [UInt8]) throws(OAuthError) {
        self.step = step
        let value: JSONValue
        do {
            value = try JSONValue(parsing: content)
        } catch {
            throw .malformed(
                step: step, member: "content", expected: "a JSON object",
                found: content.isEmpty ? "nothing" : "\(error)")
        }
        guard let object = value.object else {
            throw .malformed(step: step, member: "content", expected: "a JSON object", found: value.kind)
        }
        members = object
    }

    /// The member, where null means absent.
    subscript(name: String) -> JSONValue? {
        members[name].flatMap { $0 == .null ? nil : $0 }
    }

    func wrong(_ name: String, expected: String) -> OAuthError {
        .malformed(step: step, member: name, expected: expected, found: self[name]?.kind ?? "nothing")
    }

    func string(_ name: String) throws(OAuthError) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string else { throw wrong(name, expected: "a string") }
        return text
    }

    func requiredString(_ name: String) throws(OAuthError) -> String {
        guard let text = try string(name), !text.isEmpty else { throw wrong(name, expected: "a non-empty string") }
        return text
    }

    func bool(_ name: String) throws(OAuthError) -> Bool? {
        guard let value = self[name] else { return nil }
        guard let truth = value.bool else { throw wrong(name, expected: "true or false") }
        return truth
    }

    func strings(_ name: String) throws(OAuthError) -> [String]? {
        guard let value = self[name] else { return nil }
        guard let elements = value.array else { throw wrong(name, expected: "a list of strings") }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw wrong(name, expected: "a list of strings") }
        return texts
    }

    /// A number of seconds or a point in time; a string of digits is read too, which several services send.
    func integer(_ name: String) throws(OAuthError) -> Int64? {
        guard let value = self[name] else { return nil }
        if let number = value.integer { return number }
        if let text = value.string, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) {
            return number
        }
        throw .malformed(
            step: step, member: name, expected: "a whole number",
            found: value.string.map { "“\(quoted(hidingTokens(in: $0), limit: 40))”" } ?? value.kind)
    }

    /// A token: printable ASCII without space, which is all that a header can carry (RFC 6749, appendix A.12 and A.17).
    func token(_ name: String) throws(OAuthError) -> Secret? {
        guard let text = try string(name), !text.isEmpty else { return nil }
        guard text.utf8.count <= 65_536, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .malformed(
                step: step, member: name, expected: "printable ASCII of at most 64 KiB",
                found: "other characters or more")
        }
        return Secret(text)
    }

    func endpoint(_ name: String, security: TransportSecurity) throws(OAuthError) -> EndpointURL? {
        guard let text = try string(name), !text.isEmpty else { return nil }
        do {
            return try EndpointURL(text, security: security, member: name)
        } catch .configuration(let member, let problem) {
            throw .malformed(step: step, member: member, expected: "an https address", found: problem)
        }
    }

    func requiredEndpoint(_ name: String, security: TransportSecurity) throws(OAuthError) -> EndpointURL {
        guard let endpoint = try endpoint(name, security: security) else { throw wrong(name, expected: "an address") }
        return endpoint
    }
}

extension AnswerReader: CustomReflectable {
    /// The step alone: among the members are tokens.
    var customMirror: Mirror { Mirror(self, children: ["step": step]) }
}
