import HTTPTypes

/// Reads the members of a JSON response, and names the member that is missing or of the wrong type.
///
/// Its errors show no secret of the exchange: they are built by ``malformed(_:expected:found:)`` and
/// ``serverError(status:)`` alone.
struct ResponseReader {
    let step: OAuthError.Step
    let members: JSONObject
    private let secrets: [Secret]

    /// - Parameter secrets: what the exchange sent. The tokens in the response are added.
    /// - Throws: ``OAuthError/malformed(step:member:expected:found:)`` when the content is not a JSON object.
    init(
        step: OAuthError.Step, content: [UInt8], hiding secrets: [Secret] = [],
        deviations: TokenDeviations = TokenDeviations()
    ) throws(OAuthError) {
        self.step = step
        let value: JSONValue
        do {
            value = try deviations.members(of: content)
        } catch {
            throw .malformed(
                step: step, member: "content", expected: "a JSON object", found: UnreadableContent(content).rawValue)
        }
        guard let object = value.object else {
            throw .malformed(step: step, member: "content", expected: "a JSON object", found: value.kind)
        }
        // Where tokens are nested, what a service puts beside them is an error only as its description says (`errorCode`).
        members = deviations.container(in: value) ?? object
        self.secrets =
            secrets + object.tokens + members.tokens
            + [members[deviations.tokenMember]?.string.map(Secret.init)].compactMap(\.self)
    }

    /// Reads a response that has to be a success: no redirect, and no error, also with status 200.
    ///
    /// - Throws: also ``OAuthError/redirected(step:status:target:)`` and ``OAuthError/server(_:)``.
    init(
        successOf step: OAuthError.Step, in response: ResponseMessage, hiding secrets: [Secret],
        deviations: TokenDeviations = TokenDeviations()
    ) throws(OAuthError) {
        try response.requireSuccess(step, hiding: secrets)
        try self.init(step: step, content: response.content, hiding: secrets, deviations: deviations)
        if let error = serverError(status: response.head.status.code) { throw error }
    }

    /// Reads the members of an object inside a response.
    init(step: OAuthError.Step, members: JSONObject, hiding secrets: [Secret]) {
        self.step = step
        self.members = members
        self.secrets = secrets
    }

    /// The member, where null means absent.
    subscript(name: String) -> JSONValue? {
        members[name].flatMap { $0 == .null ? nil : $0 }
    }

    /// The error for a member that is missing or has the wrong value. `found` may be text from the response.
    func malformed(_ name: String, expected: String, found: String? = nil) -> OAuthError {
        .malformed(
            step: step, member: name, expected: expected,
            found: found.map { "“\(Redaction(secrets)($0, limit: 40))”" } ?? self[name]?.kind ?? "nothing")
    }

    /// The error response; nil if `error` is absent.
    func serverError(status: Int) -> OAuthError? {
        guard let code = members["error"]?.string, !code.isEmpty else { return nil }
        return .server(
            ServerError(
                step: step, code: code, text: members["error_description"]?.string, uri: members["error_uri"]?.string,
                status: status, hiding: secrets))
    }

    func string(_ name: String) throws(OAuthError) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string else { throw malformed(name, expected: "a string") }
        return text
    }

    func requiredString(_ name: String) throws(OAuthError) -> String {
        guard let text = try string(name), !text.isEmpty else { throw malformed(name, expected: "a non-empty string") }
        return text
    }

    func bool(_ name: String) throws(OAuthError) -> Bool? {
        guard let value = self[name] else { return nil }
        guard let truth = value.bool else { throw malformed(name, expected: "true or false") }
        return truth
    }

    func strings(_ name: String) throws(OAuthError) -> [String]? {
        guard let value = self[name] else { return nil }
        guard let elements = value.array else { throw malformed(name, expected: "a list of strings") }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw malformed(name, expected: "a list of strings") }
        return texts
    }

    /// A number of seconds or a point in time. A string of digits, which several services send, is read too.
    func integer(_ name: String) throws(OAuthError) -> Int64? {
        guard let value = self[name] else { return nil }
        if let number = value.integer { return number }
        if let text = value.string, let number = wholeNumber(text) { return Int64(number) }
        throw malformed(name, expected: "a whole number", found: value.string)
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

    /// The address of a page that the user's browser opens.
    func page(_ name: String, security: TransportSecurity) throws(OAuthError) -> EndpointURL? {
        guard let page = try endpoint(name, security: security) else { return nil }
        guard EndpointURL.isSafeToOpen(page.string) else {
            throw malformed(
                name, expected: "percent-encoded characters", found: "a quotation mark, a bracket or the like")
        }
        return page
    }

    func endpoint(_ name: String, security: TransportSecurity) throws(OAuthError) -> EndpointURL? {
        guard let text = try string(name), !text.isEmpty else { return nil }
        do {
            return try EndpointURL(text, security: security, member: name)
        } catch .configuration(let member, let problem) {
            throw .malformed(
                step: step, member: member, expected: "an https address", found: Redaction(secrets)(problem, limit: 200)
            )
        } catch .refused(let refusal) {
            throw .refused(
                Refusal(
                    refusal.check, expected: refusal.expected, found: Redaction(secrets)(refusal.found, limit: 200)))
        }
    }

    /// The endpoints in an object, of those names alone.
    func aliases(
        _ name: String, of names: Set<String>, security: TransportSecurity
    ) throws(OAuthError) -> [String: EndpointURL] {
        guard let value = self[name] else { return [:] }
        guard let members = value.object else { throw malformed(name, expected: "an object") }
        var aliases: [String: EndpointURL] = [:]
        let reader = ResponseReader(step: step, members: members, hiding: secrets)
        for member in names.sorted() { aliases[member] = try reader.endpoint(member, security: security) }
        return aliases
    }

    func requiredEndpoint(_ name: String, security: TransportSecurity) throws(OAuthError) -> EndpointURL {
        guard let endpoint = try endpoint(name, security: security) else {
            throw malformed(name, expected: "an https address")
        }
        return endpoint
    }
}

extension ResponseReader: CustomReflectable {
    /// The step alone: there are tokens among the members.
    var customMirror: Mirror { Mirror(self, children: ["step": step]) }
}
