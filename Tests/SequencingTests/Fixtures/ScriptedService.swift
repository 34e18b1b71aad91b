import HTTPTypes
import Handshake
import MessageFixtures
import OAuth
import Sequencing
import TestFixtures

/// Sequencing.com as a list of answers, told by the test: every request is looked at, none leaves the process.
final class ScriptedService: Transport {
    /// One answer.
    enum Reply: Sendable {
        case json(String, status: Int = 200)
        case bytes([UInt8], headers: HTTPFields = [:])
        case lost
    }

    /// What arrived.
    struct Request: Sendable, Equatable {
        let line: String
        let content: String
        let authorization: String?
    }

    private let script: Script<Request, Reply>

    /// - Parameter replies: for each method and path the answers in order; the last one is given for ever.
    init(_ replies: [String: [Reply]] = [:]) {
        let tokens = ["POST /oauth2/token": [Reply.json(Self.token), .json(Self.refreshedToken)]]
        script = Script(replies.merging(tokens) { own, _ in own })
    }

    /// The token answer of the dossier's transcript (section 11).
    static let token = """
        {"access_token":"3f0c9a51d6b24e7788aa10c25e9f4b6d7a8c1e02","expires_in":"3600","token_type":"Bearer",\
        "scope":"demo external","refresh_token":"b8e14d0f6c7a49219d3e5f80a1c2b3d4e5f60718"}
        """

    /// The answer to a refresh in the same transcript: another access token, and no refresh token.
    static let refreshedToken = """
        {"access_token":"77ab01f3c92d4e5f8a6b7c8d9e0f1a2b3c4d5e6f","expires_in":"3600","token_type":"Bearer",\
        "scope":"demo external"}
        """

    /// The requests to the API, oldest first.
    var requests: [Request] {
        script.requests.filter { !$0.line.hasPrefix("POST /oauth2/") }
    }

    /// The method, path and query of the requests to the API.
    var lines: [String] { requests.map(\.line) }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        try Task.checkCancellation()
        let host = request.head.authority ?? ""
        switch record(request) {
        case .json(let text, let status)?: return .json(text, status: status)
        case .bytes(let bytes, let headers)?:
            return ResponseMessage(head: HTTPResponse(status: .ok, headerFields: headers), content: bytes)
        case .lost?: throw TransportError.cut(host: host, reason: "the script says so")
        case nil: throw TransportError.unreachable(host: host, reason: "the script has no answer for \(request)")
        }
    }

    private func record(_ request: RequestMessage) -> Reply? {
        script.reply(
            to: request.line,
            recording: Request(
                line: request.line, content: request.text, authorization: request.head.headerFields[.authorization]))
    }

    /// Gives other replies from now on.
    func script(_ line: String, _ replies: [Reply]) {
        script.script(line, replies)
    }

    /// A user who has signed in.
    ///
    /// - Parameter transport: stands between the app and this service; nothing by default.
    func account(through transport: (any Transport)? = nil) async throws -> Account {
        let client = Client(
            service: .sequencing, id: "My Genome App", redirect: .uri(try RedirectURI("com.example.genome:/callback")))
        // However long the other tests take, the sign-in does not expire meanwhile.
        let time = TimeSource(now: { 1_790_000_000 }, clock: ContinuousClock())
        let handshake = try Handshake(client, vault: MemoryVault(), transport: transport ?? self, time: time)
        return try await handshake.signIn(through: ReturningBrowser())
    }

    /// The kit of a user who has signed in; pauses take no time.
    func genome(
        polling: Polling = Polling(jitter: 0), clock: any Clock<Duration> = HurriedClock(),
        through transport: (any Transport)? = nil
    ) async throws -> Sequencing {
        Sequencing(try await account(through: transport), polling: polling, clock: clock)
    }
}

/// A browser that returns with a code immediately.
struct ReturningBrowser: Browser {
    func show(_ page: SignInPage) async throws -> String? {
        let query = page.url.split(separator: "?").last?.split(separator: "&") ?? []
        let state = query.first { $0.hasPrefix("state=") } ?? ""
        return "\(page.redirectURI.string)?code=9f1c77d2e0&\(state)"
    }
}

/// What a throwing call threw, as this module's error.
func sequencingError<Value>(_ body: () async throws -> Value) async -> SequencingError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? SequencingError
    }
}

/// A job result object as the service writes it.
func job(_ id: Int, _ status: String, _ properties: String = "", succeeded: String? = nil) -> String {
    let success = succeeded ?? (status == "Completed" ? "true" : "null")
    return """
        {"ResultProps":[\(properties)],"Status":{"IdJob":\(id),"Status":"\(status)","CompletedSuccesfully":\(success),\
        "FinishDt":null}}
        """
}

/// A text property as the service writes it.
func property(_ name: String, _ value: String, type: String = "PlainText") -> String {
    #"{"Name":"\#(name)","Type":"\#(type)","Value":"\#(value)"}"#
}
