import HTTPTypes
import Handshake
import IFTTTConnect
import MessageFixtures
import OAuth
import TestFixtures

/// IFTTT as a list of answers, told by the test: every request is looked at, none leaves the process.
final class ScriptedIFTTT: Transport {
    /// One answer.
    enum Reply: Sendable {
        case json(String, status: Int = 200)
        case status(Int, retryAfter: String? = nil)
        case fields(HTTPFields, status: Int)
        case lost
        case unreachable
        case tooLarge
        /// A status that comes after something else has happened.
        case late(Int, after: @Sendable () async throws -> Void)
    }

    /// What arrived.
    struct Request: Sendable {
        let line: String
        let content: String
        let headers: HTTPFields
        let host: String

        func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
    }

    private let script: Script<Request, Reply>

    /// - Parameter replies: for each method and path the answers in order; the last one is given for ever.
    init(_ replies: [String: [Reply]] = [:]) {
        script = Script(replies)
    }

    var requests: [Request] { script.requests }
    var lines: [String] { requests.map(\.line) }

    func answer(_ line: String, _ replies: Reply...) {
        script.script(line, replies)
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        try Task.checkCancellation()
        let host = request.head.authority ?? ""
        switch record(request) {
        case .json(let text, let status)?: return .json(text, status: status)
        case .late(let status, let event)?:
            try await event()
            return ResponseMessage(head: HTTPResponse(status: .init(code: status)))
        case .status(let status, let wish)?:
            var head = HTTPResponse(status: .init(code: status))
            head.headerFields[.retryAfter] = wish
            return ResponseMessage(head: head)
        case .fields(let fields, let status)?:
            return ResponseMessage(head: HTTPResponse(status: .init(code: status), headerFields: fields))
        case .lost?: throw TransportError.cut(host: host, reason: "the script says so")
        case .tooLarge?: throw TransportError.tooLarge(host: host, limit: limits.maximumContentLength)
        case .unreachable?, nil: throw TransportError.unreachable(host: host, reason: "no answer for \(request)")
        }
    }

    private func record(_ request: RequestMessage) -> Reply? {
        script.reply(
            to: request.line,
            recording: Request(
                line: request.line, content: request.text, headers: request.head.headerFields,
                host: request.head.authority ?? ""))
    }

    func api(_ caller: ConnectAPI.Caller = .anonymous, clock: any Clock<Duration> = HurriedClock()) -> ConnectAPI {
        ConnectAPI(caller, transport: self, time: .hurried(clock))
    }

    func service(key: String = "service-key-1") -> ConnectService {
        ConnectService(key: Secret(key), transport: self, time: .hurried())
    }
}

extension TimeSource {
    /// A time that stands still, Sun, 06 Nov 1994 08:49:37 GMT, with pauses that end immediately.
    static func hurried(_ clock: any Clock<Duration> = HurriedClock()) -> TimeSource {
        TimeSource(now: { 784_111_777 }, clock: clock)
    }
}

/// What a throwing call threw, as this module's error.
func connectError<Value>(_ body: () async throws -> Value) async -> ConnectError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? ConnectError
    }
}

/// A token as the dossier spells one.
func token(_ text: String = "utk_sandbox_9f2c") throws -> UserToken {
    guard let token = UserToken(Secret(text)) else {
        throw ConnectError.input(member: "token", problem: "the fixture is none")
    }
    return token
}
