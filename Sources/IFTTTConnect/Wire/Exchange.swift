package import HTTPTypes
import Handshake
import OAuth

/// Sends one operation to IFTTT: checks the status, then parses the content as JSON.
struct Exchange: Sendable {
    let transport: any Transport
    /// Measures pauses, and interprets `Retry-After` dates.
    let time: TimeSource

    /// One operation of the service.
    struct Operation: Sendable {
        /// Its name, for errors.
        let name: String
        let method: HTTPRequest.Method
        let host: EndpointURL
        /// Path and query.
        let target: String
        var content: JSONValue?
        var headers: HTTPFields = [:]
        var limits = TransferLimits(maximumContentLength: 4 << 20)
        /// The pauses before retries; empty for operations that must not run twice.
        var pauses: [Duration] = []
        /// The longest accepted `Retry-After`: short where a user waits.
        var maximumPause = Duration.seconds(2)

        /// For read-only requests made while the user waits: one retry.
        static let interactiveRetry = [Duration.milliseconds(250)]
        /// For idempotent requests: one retry.
        static let idempotentRetry = [Duration.seconds(1)]

        func request() throws(ConnectError) -> RequestMessage {
            try ConnectError.request(method, host, target, headers: headers, content: content)
        }
    }

    /// Sends an operation and parses the content of the successful answer as JSON.
    ///
    /// - Throws: ``ConnectError/malformed(answer:member:expected:found:)`` for malformed content, besides what ``send(_:_:)``
    ///   throws.
    func json<Value>(_ operation: Operation, _ read: (JSONValue) throws -> Value) async throws -> Value {
        try await send(operation) { try read(try ConnectError.json($0.content, of: operation.name)) }
    }

    /// Sends an operation and parses the successful answer.
    ///
    /// - Throws: ``ConnectError/service(_:)`` for an error status.
    func send<Value>(_ operation: Operation, _ read: (ResponseMessage) throws -> Value) async throws -> Value {
        try await sendAnyStatus(operation) { response in
            guard response.head.status.kind == .successful else { throw problem(response, operation) }
            return try read(response)
        }
    }

    /// Sends an operation and parses the answer, whatever its status.
    ///
    /// Retries if `read` throws, as after a network failure: the answer was truncated, or came from a captive portal.
    func sendAnyStatus<Value>(_ operation: Operation, _ read: (ResponseMessage) throws -> Value) async throws -> Value {
        let request = try operation.request()
        var pauses = operation.pauses[...]
        return try await ConnectError.retrying(on: time.clock) { failure in
            pauses.popFirst().flatMap { failure.pause(from: $0, to: operation.maximumPause) }
        } _: {
            try read(try await transport.send(request, limits: operation.limits))
        }
    }

    /// The error of an error status.
    func problem(_ response: ResponseMessage, _ operation: Operation) -> ConnectError {
        .service(.init(response, now: time.now(), sent: operation.headers[.requestID]))
    }
}

extension ConnectError {
    /// The pause before a retry: what the service asks for, but at least the planned one. Nil when that is too
    /// long.
    fileprivate func pause(from planned: Duration, to longest: Duration) -> Duration? {
        guard case .service(let problem) = self, let asked = problem.retryAfter.map(Duration.seconds) else {
            return planned
        }
        return asked <= max(planned, longest) ? max(planned, asked) : nil
    }
}

extension ConnectError.Problem {
    /// Parses an error status: the service's texts if it answered with an object, nothing of a page (dossier 2.4).
    ///
    /// - Parameters:
    ///   - now: seconds since 1970, for a `Retry-After` date.
    ///   - requestID: the request's ID; the answer's own takes precedence.
    fileprivate init(_ response: ResponseMessage, now: Double, sent requestID: String?) {
        let members = Members((try? JSONValue(parsing: response.content))?.object ?? [:])
        self.init(
            status: response.head.status.code, code: members.word("code"), message: members.message,
            details: members.list("details").prefix(100).compactMap(\.object).map { detail in
                let detail = Members(detail)
                return Detail(parameter: detail.word("parameter"), message: detail.message)
            },
            retryAfter: RetryAfter.pause(in: response.head, now: now).map { Int(($0 / .seconds(1)).rounded(.up)) },
            requestID: (response.head.headerFields[.requestID] ?? requestID).flatMap {
                $0.isEmpty ? nil : quoted($0, limit: 100)
            })
    }
}

extension Members {
    /// A sanitised text of an error. A code or a pointer is a name, which is not redacted.
    fileprivate func word(_ name: String) -> String? {
        text(name).flatMap { $0.isEmpty ? nil : quoted($0, limit: 300) }
    }

    /// A sanitised, redacted message. The service may quote the request, including tokens.
    fileprivate var message: String? {
        text("message").flatMap {
            // By scalars, because one character can be megabytes long.
            $0.isEmpty ? nil : quoted(hidingTokens(in: String($0.unicodeScalars.prefix(600))), limit: 300)
        }
    }
}

extension HTTPField.Name {
    static let inviteCode = HTTPField.Name(constant: "IFTTT-Invite-Code")
    static let sdkVersion = HTTPField.Name(constant: "IFTTT-SDK-Version")
    static let sdkPlatform = HTTPField.Name(constant: "IFTTT-SDK-Platform")
    static let sdkAnonymousID = HTTPField.Name(constant: "IFTTT-SDK-Anonymous-Id")
    package static let serviceKey = HTTPField.Name(constant: "IFTTT-Service-Key")
    package static let requestID = HTTPField.Name(constant: "X-Request-ID")
}

extension Secret {
    /// The value for a header field.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` for a value that is invalid in a header.
    func headerValue(_ member: String) throws(ConnectError) -> String {
        let text = reveal()
        guard text.utf8.count <= 4096, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .input(member: member, problem: "it has characters that are invalid in a header, or is too long")
        }
        return text
    }
}
