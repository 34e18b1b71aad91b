#if Sandbox
package import HTTPTypes

/// A response of a stand-in: complete, before any fault changes it.
package struct Answer: Sendable {
    package var status: Int
    package var headers: HTTPFields
    package var body: AnswerBody
    /// The JSON document in the body, so that faults can change it.
    package private(set) var document: JSON?

    package init(status: Int, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.init(status: status, headers: headers, body: AnswerBody(body))
    }

    package init(status: Int, headers: HTTPFields = [:], body: AnswerBody) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A JSON answer.
    package static func json(_ value: JSON, status: Int = 200) -> Answer {
        var answer = Answer(
            status: status, headers: [.contentType: "application/json"], body: Array(value.text.utf8))
        answer.document = value
        return answer
    }

    /// The response with a changed document; one that is not JSON stays unchanged.
    func rewriting(_ change: (JSON) -> JSON) -> Answer {
        guard let document else { return self }
        var answer = Answer.json(change(document), status: status)
        answer.headers = headers
        return answer
    }

    /// A JSON answer that no cache may keep, as RFC 6749 section 5.1 asks where tokens are inside.
    package static func uncachedJSON(_ value: JSON, status: Int = 200) -> Answer {
        json(value, status: status).adding(.cacheControl, "no-store").setting("Pragma", "no-cache")
    }

    /// A plain text answer.
    package static func text(_ text: String, status: Int = 200) -> Answer {
        Answer(status: status, headers: [.contentType: "text/plain; charset=utf-8"], body: Array(text.utf8))
    }

    /// A redirect; its target may carry a code and is never cached.
    package static func redirect(to location: String, status: Int = 302) -> Answer {
        Answer(status: status, headers: [.location: location, .cacheControl: "no-store"])
            .setting("Referrer-Policy", "no-referrer")
    }

    package func adding(_ name: HTTPField.Name, _ value: String) -> Answer {
        var answer = self
        answer.headers.append(HTTPField(name: name, value: value))
        return answer
    }

    /// The answer with this field in place of any of its name; a name that is no token (RFC 9110 section 5.1) changes
    /// nothing.
    package func setting(_ name: String, _ value: String) -> Answer {
        guard let name = HTTPField.Name(name) else { return self }
        var answer = self
        answer.headers[name] = value
        return answer
    }
}
#endif
