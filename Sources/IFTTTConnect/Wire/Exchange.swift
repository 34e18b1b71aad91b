import HTTPTypes
import Handshake
import OAuth

/// How this kit speaks to IFTTT: one call of an operation, its status looked at first, its content read as JSON.
struct Exchange: Sendable {
    let transport: any Transport
    /// What the pauses before repetitions are measured on.
    let clock: any Clock<Duration>

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
        /// The pauses before it is sent again after a passing failure; none for what starts something.
        var pauses: [Duration] = []
        /// The longest pause that the service may ask for: short where somebody waits for the answer.
        var longestPause = Duration.seconds(2)

        func request() throws(ConnectError) -> RequestMessage {
            var headers = headers
            headers[.accept] = "application/json"
            guard let content else { return RequestMessage(method, try Hosts.endpoint(host, target), headers: headers) }
            headers[.contentType] = "application/json"
            return RequestMessage(
                method, try Hosts.endpoint(host, target), headers: headers, content: .bytes(Array(content.json.utf8)))
        }
    }

    /// The content of a successful answer as JSON.
    func json(_ operation: Operation) async throws -> JSONValue {
        try JSONValue.answer(try await send(operation).content, operation.name)
    }

    /// A successful answer.
    ///
    /// - Throws: ``ConnectError/service(_:)`` for every status that is not one of success.
    func send(_ operation: Operation) async throws -> ResponseMessage {
        let response = try await answer(operation) { response in
            response.head.status.kind == .successful ? nil : .service(.init(response))
        }
        return response
    }

    /// The answer, whatever its status, unless `defect` sees something wrong in it.
    func answer(
        _ operation: Operation, defect: @Sendable (ResponseMessage) -> ConnectError?
    ) async throws -> ResponseMessage {
        let request = try operation.request()
        var pauses = operation.pauses[...]
        while true {
            do {
                let response = try await transport.send(request, limits: operation.limits)
                if let error = defect(response) { throw error }
                return response
            } catch {
                let placed = ConnectError.placing(error)
                guard let failure = placed as? ConnectError, failure.isPassing, let pause = pauses.popFirst(),
                    let pause = failure.pause(from: pause, to: operation.longestPause)
                else { throw placed }
                try await clock.sleep(for: pause)
            }
        }
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
    init(_ response: ResponseMessage) {
        let members = Members((try? JSONValue(parsing: response.content))?.object ?? [:])
        func words(_ members: Members, _ name: String) -> String? {
            // The service may quote what it was sent, and among that are tokens.
            members.text(name).flatMap {
                // By scalars: one character may have megabytes of them.
                $0.isEmpty ? nil : quoted(hidingTokens(in: String($0.unicodeScalars.prefix(600))), limit: 300)
            }
        }
        self.init(
            status: response.head.status.code, code: words(members, "code"), message: words(members, "message"),
            details: members.list("details").prefix(100).compactMap(\.object).map { detail in
                let detail = Members(detail)
                return Detail(parameter: words(detail, "parameter"), message: words(detail, "message"))
            }, retryAfter: response.head.headerFields[.retryAfter].flatMap(Self.seconds))
    }
}

extension ConnectError.Problem {
    /// A whole number of seconds, up to a day.
    private static func seconds(_ text: String) -> Int? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let seconds = Int(text), seconds <= 86_400
        else { return nil }
        return seconds
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
