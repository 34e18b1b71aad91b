import HTTPTypes
import Handshake
import OAuth

/// Sends one operation to the service: checks the status, then parses the content as JSON.
struct Exchange: Sendable {
    /// Sends one request: through an account, or without a token.
    let send: @Sendable (RequestMessage, TransferLimits) async throws -> ResponseMessage
    let host: EndpointURL
    /// Measures the pauses before retries.
    let clock: any Clock<Duration>
    /// The time that is left for operations and their retries, which counts down; only each request's own limit if nil.
    var left: (@Sendable () -> Duration)?

    /// One operation of the service.
    struct Operation: Sendable {
        /// Its name at the service, for errors.
        let name: String
        let method: HTTPRequest.Method
        /// Path and query.
        let target: String
        var content: JSONValue?
        var headers: HTTPFields = [:]
        var limits = TransferLimits(maximumContentLength: 16 << 20)
        /// Whether it may be retried after a lost connection or a transient failure (dossier 9.4): never if it starts
        /// something.
        var isIdempotent = false
        /// The statuses whose content is an answer.
        var accepted: @Sendable (HTTPResponse.Status) -> Bool = { $0.kind == .successful }

        static func get(_ name: String, _ target: String) -> Operation {
            Operation(name: name, method: .get, target: target, isIdempotent: true)
        }

        static func post(_ name: String, _ target: String, _ content: JSONValue) -> Operation {
            Operation(name: name, method: .post, target: target, content: content)
        }

        /// The request at a host.
        func request(at host: EndpointURL) throws(SequencingError) -> RequestMessage {
            try SequencingError.request(method, host, target, headers: headers, content: content)
        }
    }

    /// How often an idempotent operation is retried (dossier 9.4).
    static let maximumRetries = 2

    /// The content of the answer as JSON.
    func json(_ operation: Operation) async throws -> JSONValue {
        try SequencingError.json(try await content(operation), of: operation.name)
    }

    /// The content of the answer.
    func content(_ operation: Operation) async throws -> [UInt8] {
        let request = try operation.request(at: host)
        let isTimeLeft = { left.map { $0() > .zero } ?? true }
        return try await repeating(operation.isIdempotent ? Self.maximumRetries : 0, while: isTimeLeft) {
            var limits = operation.limits
            if let left {
                limits.timeout = min(limits.timeout, left())
                guard limits.timeout > .zero else { throw TransportError.timedOut(host: host.origin.host) }
            }
            let response = try await send(request, limits)
            guard operation.accepted(response.head.status) else { throw SequencingError(response) }
            return response.content
        }
    }

    /// Runs `body`, and retries it after a transient failure while `mayRepeat` allows it, with a growing pause before each
    /// retry.
    func repeating<Result>(
        _ repetitions: Int, while mayRepeat: () -> Bool = { true }, _ body: () async throws -> Result
    ) async throws -> Result {
        var attempt = 0
        return try await SequencingError.retrying(on: clock) { _ in
            guard attempt < repetitions, mayRepeat() else { return nil }
            attempt += 1
            return .milliseconds(250 * attempt)
        } _: {
            try await body()
        }
    }
}

extension SequencingError {
    /// The error of an error status: the service's texts if it answered with an object, nothing of a page.
    init(_ response: ResponseMessage) {
        let members = (try? JSONValue(parsing: response.content))?.object ?? [:]
        func words(_ names: String...) -> String? {
            names.lazy.compactMap { members[$0]?.string }.first { !$0.isEmpty }.map { quoted($0, limit: 300) }
        }
        self = .service(
            status: response.head.status.code, code: words("Error", "error"), message: words("Message", "message"))
    }

    /// The same error, or a specific one where the service's code names a chain or a file (dossier 5.12).
    func concerning(chain: AppCode?, file: FileID?) -> SequencingError {
        guard case .service(_, let code?, _) = self else { return self }
        switch (code, chain, file) {
        case ("chain_not_found", let chain?, _): return .unknownChain(chain)
        case ("file_not_found", _, let file?): return .unknownFile(file)
        default: return self
        }
    }
}
