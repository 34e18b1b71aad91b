import HTTPTypes
import Handshake
import MessageFixtures
import OAuth
import RecurseCenter
import TestFixtures

/// The Recurse Center as a list of answers, told by the test: every request is looked at, none leaves the process.
final class ScriptedService: Transport {
    /// One answer.
    enum Reply: Sendable {
        case json(String, status: Int = 200, headers: HTTPFields = [:])
        case bytes([UInt8], status: Int = 200, headers: HTTPFields = [:])
        case lost
    }

    /// What arrived.
    struct Request: Sendable, Equatable {
        let line: String
        let content: String
        let fields: HTTPFields

        var authorization: String? { fields[.authorization] }
    }

    private let script: Script<Request, Reply>

    /// - Parameter replies: for each method and address the answers in order; the last one is given for ever. An address is a
    ///   path, with or without its query, or whole for another host.
    init(_ replies: [String: [Reply]] = [:]) {
        script = Script(replies)
    }

    /// The profile of the dossier's section 4.3.
    static let ada = """
        {"id":759,"first_name":"Ada","last_name":"Example","name":"Ada Example","slug":"759-ada-example",\
        "email":"ada@example.org","image_path":"https://assets.example.net/rails/active_storage/representations/redirect/\
        BLOB/VARIANT/ada.jpg","stints":[{"id":4705,"type":"retreat","title":null,"for_half_batch":false,\
        "in_progress":false,"start_date":"2014-06-09","end_date":"2014-08-28","batch":{"id":11,\
        "name":"Summer 1, 2014","short_name":"S1'14","alt_name":"Summer 1 '14"}}],"results_count":1}
        """

    /// The requests, oldest first.
    var requests: [Request] { script.requests }

    /// The method and address of the requests.
    var lines: [String] { requests.map(\.line) }

    /// Gives other answers from now on.
    func script(_ address: String, _ replies: [Reply]) {
        script.script(address, replies)
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        try Task.checkCancellation()
        let host = request.head.authority ?? ""
        switch record(request) {
        case .json(let text, let status, let headers)?: return .json(text, status: status, headers: headers)
        case .bytes(let bytes, let status, let headers)?:
            guard bytes.count <= limits.maximumContentLength else {
                throw TransportError.tooLarge(host: host, limit: limits.maximumContentLength)
            }
            return ResponseMessage(
                head: HTTPResponse(status: .init(code: status), headerFields: headers), content: bytes)
        case .lost?: throw TransportError.cut(host: host, reason: "the script says so")
        case nil: throw TransportError.unreachable(host: host, reason: "the script has no answer for \(request)")
        }
    }

    private func record(_ request: RequestMessage) -> Reply? {
        let host = request.head.authority ?? ""
        let target = host == "www.recurse.com" ? request.head.path ?? "/" : "https://\(host)\(request.head.path ?? "/")"
        let line = "\(request.head.method.rawValue) \(target)"
        return script.reply(
            to: line, recording: Request(line: line, content: request.text, fields: request.head.headerFields))
    }

    /// A user with a personal access token.
    func account() async throws -> Account {
        let client = Client(service: .recurseCenter, id: "my-app")
        let grant = Grant(
            accessToken: Secret("pat-1"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: ["public"])
        return try await Handshake(client, vault: MemoryVault(), transport: self).adopt(grant)
    }

    /// The kit of that user; pauses take no time.
    func center(
        shape: RecurseCenter.Shape = .profiles, retry: RetryPolicy = RetryPolicy(jitter: 0), time: TestTime = TestTime()
    ) async throws -> RecurseCenter {
        RecurseCenter(try await account(), shape: shape, retry: retry, time: time.source, transport: self)
    }
}

/// What a throwing call threw, as this module's error.
func centerError<Value>(_ body: () async throws -> Value) async -> RecurseCenterError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? RecurseCenterError
    }
}
