package import HTTPTypes
package import OAuth

/// The error type of a service's kit, such as `ConnectError`: what the requests of all kits need of it.
package protocol KitError: Error {
    /// A failure of the account, its vault or the token exchange.
    static func account(_ error: HandshakeError) -> Self
    /// A successful answer that cannot be read.
    static func malformed(answer: String, member: String, expected: String, found: String) -> Self
    /// A failure of the network; ``account(_:)`` unless the kit has a case of its own.
    static func unreachable(_ error: TransportError) -> Self
    /// Whether a retry may succeed: the peer was not there, or said so itself.
    var isRetryable: Bool { get }
}

extension KitError {
    package static func unreachable(_ error: TransportError) -> Self { account(.network(error)) }

    /// The kit's own error for a failure of the modules below; a cancellation and other errors stay what they are.
    package static func placing(_ error: any Error) -> any Error {
        switch error {
        case let error as TransportError: unreachable(error)
        case HandshakeError.network(let error): unreachable(error)
        case let error as HandshakeError: account(error)
        case let error as OAuthError: account(.exchange(error))
        default: error
        }
    }

    /// Reads the content of an answer as JSON.
    ///
    /// - Parameters:
    ///   - content: the bytes of the answer.
    ///   - answer: the operation's name, for the error.
    package static func json(_ content: [UInt8], of answer: String) throws(Self) -> JSONValue {
        do {
            return try JSONValue(parsing: content)
        } catch {
            throw malformed(
                answer: answer, member: unreadMember, expected: "JSON",
                found: "\(UnreadableContent(content).rawValue) (\(error))")
        }
    }

    /// What a user reads about an answer that is not JSON: no name of the wire, no place in bytes. Nil for other defects.
    ///
    /// - Parameters:
    ///   - member: what is malformed; the others are those of the error too.
    ///   - service: the name of the service, which begins the sentence.
    package static func sentence(
        unread member: String, expected: String, found: String, service: String
    ) -> String? {
        guard member == unreadMember, expected == "JSON" else { return nil }
        let content = UnreadableContent.allCases.first { found.hasPrefix($0.rawValue) } ?? .text
        return "\(service) answered with \(content.clause)."
    }

    /// The member of an answer that cannot be read at all.
    private static var unreadMember: String { "content" }

    /// A URL at the origin of a host. `target` is a path with its query; it begins with a slash and is percent-encoded.
    package static func endpoint(_ host: EndpointURL, _ target: String) throws(Self) -> EndpointURL {
        do {
            return try host.at(target: target)
        } catch {
            throw account(.exchange(error))
        }
    }

    /// A request to a host that asks for JSON, and sends it where there is content.
    package static func request(
        _ method: HTTPRequest.Method, _ host: EndpointURL, _ target: String, headers: HTTPFields, content: JSONValue?
    ) throws(Self) -> RequestMessage {
        var headers = headers
        let content = headers.exchangeJSON(content)
        return RequestMessage(method, try endpoint(host, target), headers: headers, content: content)
    }

    /// Runs `body`, and retries it after a transient failure.
    ///
    /// - Parameters:
    ///   - clock: what the pauses are measured on.
    ///   - pause: how long to wait before the next try; nil ends the retries.
    /// - Throws: the last failure as the kit's own error, `CancellationError`.
    package static func retrying<Value>(
        on clock: any Clock<Duration>, pause: (Self) -> Duration?, _ body: () async throws -> Value
    ) async throws -> Value {
        while true {
            do {
                return try await body()
            } catch {
                let placed = placing(error)
                guard let failure = placed as? Self, failure.isRetryable, let pause = pause(failure) else {
                    throw placed
                }
                try await clock.sleep(for: pause)
            }
        }
    }
}

extension HTTPFields {
    /// Asks for JSON, and names the type of the content that is sent.
    ///
    /// - Returns: the content as bytes; none where there is none.
    package mutating func exchangeJSON(_ content: JSONValue?) -> RequestMessage.Content {
        if self[.accept] == nil { self[.accept] = "application/json" }
        guard let content else { return .none }
        self[.contentType] = "application/json"
        return .bytes(Array(content.json.utf8))
    }
}
