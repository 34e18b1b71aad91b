import HTTPTypes
import OAuth
import TestFixtures

@testable import Handshake

/// A webhook that takes the third attempt, in front of a server.
final class HookedServer: Transport {
    private let server: StrictAccounts
    private let start: Double
    private let messages = Shared<[(request: RequestMessage, time: Double)]>([])
    /// Answers in place of the webhook's own.
    let answer = Shared<(@Sendable (RequestMessage) async throws -> ResponseMessage)?>(nil)
    /// Whether each request lasts until its timeout.
    let answersNothing = Shared(false)
    var received: [RequestMessage] { messages.value.map(\.request) }
    /// How many seconds after this was made each report came.
    var times: [Double] { messages.value.map(\.time) }
    /// The accounts of the reports that came.
    var accounts: [String] { received.map(Self.account(of:)) }

    init(_ server: StrictAccounts) {
        self.server = server
        start = server.now
    }

    static func account(of request: RequestMessage) -> String {
        guard case .bytes(let content) = request.content else { return "" }
        return String(decoding: content, as: UTF8.self).firstMatch(of: /"account":"(\w+)"/).map { String($0.1) } ?? ""
    }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        guard request.head.authority == "hook.example" else { return try await server.send(request, limits: limits) }
        let time = server.now - start
        let count = messages.change { messages in
            messages.append((request, time))
            return messages.count
        }
        if answersNothing.value {
            try await server.clock.sleep(for: limits.timeout)
            throw TransportError.timedOut(host: "hook.example")
        }
        if let answer = answer.value { return try await answer(request) }
        return .json(count < 3 ? 500 : 204, [:])
    }
}
