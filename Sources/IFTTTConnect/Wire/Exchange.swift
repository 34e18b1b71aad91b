import HTTPTypes
import Handshake
import OAuth

/// How this kit speaks to IFTTT: one call of an operation, its status looked at first, its content read as JSON.
struct Exchange: Sendable {
    let transport: any Transport
    /// What the pauses before repetitions are measured on, and what tells how far away a time is that the service names.
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
        /// The pauses before it is sent again after a passing failure; none for what must not be done twice.
        var pauses: [Duration] = []
        /// The longest pause that the service may ask for: short where somebody waits for the answer.
        var longestPause = Duration.seconds(2)

        /// What somebody waits for and what changes nothing: asked once more.
        static let question = [Duration.milliseconds(250)]
        /// What is the same done once or twice: done once more.
        static let repeatable = [Duration.seconds(1)]

        func request() throws(ConnectError) -> RequestMessage {
            var headers = headers
            let content = headers.exchangeJSON(content)
            return RequestMessage(method, try Hosts.endpoint(host, target), headers: headers, content: content)
        }
    }

    /// What `read` makes of the content of a successful answer, as JSON.
    ///
    /// - Throws: ``ConnectError/malformed(answer:member:expected:found:)`` for what cannot be read, besides what ``send(_:_:)``
    ///   throws.
    func json<Value>(_ operation: Operation, _ read: (JSONValue) throws -> Value) async throws -> Value {
        try await send(operation) { try read(try ConnectError.json($0.content, of: operation.name)) }
    }

    /// What `read` makes of a successful answer.
    ///
    /// - Throws: ``ConnectError/service(_:)`` for every status that is not one of success.
    func send<Value>(_ operation: Operation, _ read: (ResponseMessage) throws -> Value) async throws -> Value {
        try await answer(operation) { response in
            guard response.head.status.kind == .successful else { throw problem(response, operation) }
            return try read(response)
        }
    }

    /// What `read` makes of the answer, whatever its status.
    ///
    /// What it throws is a failure like one of the network: an answer that was cut short, or that somebody between gave,
    /// is asked for again where the operation may be.
    func answer<Value>(_ operation: Operation, _ read: (ResponseMessage) throws -> Value) async throws -> Value {
        let request = try operation.request()
        var pauses = operation.pauses[...]
        return try await ConnectError.retrying(on: time.clock) { failure in
            pauses.popFirst().flatMap { failure.pause(from: $0, to: operation.longestPause) }
        } _: {
            try read(try await transport.send(request, limits: operation.limits))
        }
    }

    /// What an error status says.
    func problem(_ response: ResponseMessage, _ operation: Operation) -> ConnectError {
        .service(.init(response, now: time.now(), sent: operation.headers[.requestID]))
    }
}

extension ConnectError {
    /// How long to wait before asking again: what the service asks for, and never less than the plan. Nil when that is too
    /// long.
    fileprivate func pause(from planned: Duration, to longest: Duration) -> Duration? {
        guard case .service(let problem) = self, let wish = problem.retryAfter else { return planned }
        return .seconds(wish) <= max(planned, longest) ? max(planned, .seconds(wish)) : nil
    }
}

extension ConnectError.Problem {
    /// What an error status says: the service's words where it answered with an object, nothing of a page (dossier 2.4).
    ///
    /// - Parameters:
    ///   - now: seconds since 1970, for a `Retry-After` that names a time.
    ///   - requestID: the identifier that the request was sent with; the answer's own counts more.
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
    /// A text of an error, shortened and harmless: a code and a pointer are names, and names are told as they are.
    fileprivate func word(_ name: String) -> String? {
        text(name).flatMap { $0.isEmpty ? nil : quoted($0, limit: 300) }
    }

    /// What an error explains. The service may quote there what it was sent, and among that are tokens.
    fileprivate var message: String? {
        text("message").flatMap {
            // By scalars: one character may have megabytes of them.
            $0.isEmpty ? nil : quoted(hidingTokens(in: String($0.unicodeScalars.prefix(600))), limit: 300)
        }
    }
}

extension HTTPField.Name {
    /// A name that is written down in our own source.
    private static func known(_ name: StaticString) -> HTTPField.Name {
        HTTPField.Name("\(name)") ?? .accept
    }

    static let inviteCode = known("IFTTT-Invite-Code")
    static let sdkVersion = known("IFTTT-SDK-Version")
    static let sdkPlatform = known("IFTTT-SDK-Platform")
    static let sdkAnonymousID = known("IFTTT-SDK-Anonymous-Id")
    static let serviceKey = known("IFTTT-Service-Key")
    static let requestID = known("X-Request-ID")
}

extension Secret {
    /// The value for a header field.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` for one that cannot stand there.
    func headerValue(_ member: String) throws(ConnectError) -> String {
        let text = reveal()
        guard text.utf8.count <= 4096, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .input(member: member, problem: "it has characters that cannot stand in a header, or is too long")
        }
        return text
    }
}
