import HTTPTypes
import Handshake
import OAuth

/// Sends one operation to the service: checks the status, then parses the content as JSON.
struct Exchange: Sendable {
    let account: Account
    /// The path of the user's own profile, which every working token can read.
    let ownProfile: String
    let retrying: Retrying

    /// One operation of the service.
    struct Operation: Sendable {
        let method: HTTPRequest.Method
        /// The path below the API's root; untrusted parts are percent-encoded.
        let path: String
        var query: [(name: String, value: String)] = []
        var content: JSONValue?

        /// The name for errors: the path without the query.
        var name: String { path }

        static func get(_ path: String, _ query: [(name: String, value: String)] = []) -> Operation {
            Operation(method: .get, path: path, query: query)
        }

        fileprivate var address: String {
            let pairs = query.map { "\(PercentEncoding.query($0.name))=\(PercentEncoding.query($0.value))" }
            return pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
        }
    }

    /// The maximum length of an answer. Fifty profiles with all texts are a fraction of it.
    private static let limits = TransferLimits(maximumContentLength: 8 << 20)

    /// The content of a successful answer as JSON; nil when the resource does not exist.
    ///
    /// - Throws: ``RecurseCenterError``, `CancellationError`.
    func json(_ operation: Operation) async throws -> JSONValue? {
        guard let content = try await content(operation) else { return nil }
        return try RecurseCenterError.json(content, of: operation.name)
    }

    /// The content of a successful answer; nil when the resource does not exist.
    func content(_ operation: Operation) async throws -> [UInt8]? {
        let generation = account.status.generation
        var response = try await attempt(operation)
        if try await isMasked(response, of: operation) {
            // Another task or process may have refreshed meanwhile.
            if account.status.generation == generation { try await refresh() }
            response = try await attempt(operation)
            if try await isMasked(response, of: operation) {
                throw RecurseCenterError.account(.signInRequired(account.id, .stillUnauthorized))
            }
        }
        switch response.head.status.kind {
        case .successful: return response.content
        default:
            if response.head.status == .notFound { return nil }
            throw RecurseCenterError(response, pause: retrying.retryAfter(response))
        }
    }

    /// Whether "forbidden" or "not found" means that the token is rejected (dossier 3): when it cannot read the user's own
    /// profile either.
    private func isMasked(_ response: ResponseMessage, of operation: Operation) async throws -> Bool {
        guard Self.mayMask(response) else { return false }
        if operation.path == ownProfile { return true }
        return Self.mayMask(try await attempt(.get(ownProfile)))
    }

    private static func mayMask(_ response: ResponseMessage) -> Bool {
        response.head.status == .notFound || response.head.status == .forbidden
    }

    private func refresh() async throws {
        do {
            try await account.refresh()
        } catch {
            throw RecurseCenterError.placing(error)
        }
    }

    private func attempt(_ operation: Operation) async throws -> ResponseMessage {
        var headers: HTTPFields = [:]
        let content = headers.exchangeJSON(operation.content)
        return try await retrying.response(isSafe: operation.method == .get) {
            try await account.send(
                operation.method, operation.address, headers: headers, content: content, limits: Self.limits)
        }
    }
}
