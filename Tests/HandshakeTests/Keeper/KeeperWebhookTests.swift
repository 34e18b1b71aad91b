import Foundation
import HTTPTypes
import OAuth
import TestFixtures
import Testing

@testable import Handshake

@Suite("A keeper's webhook")
struct KeeperWebhookTests {
    private let server = StrictAccounts()
    private let vault = MemoryVault()

    private func pass(_ step: Duration = .seconds(1), until isOver: () -> Bool) async {
        await server.pass(step, until: isOver)
    }

    @Test("a report of an ended session is signed, repeated until it is taken, and has one id whoever sends it")
    func webhook() async throws {
        try await server.store(["gone"], in: vault, age: 3_500)
        let hook = HookedServer(server)
        server.answer { _, _ in .json(400, ["error": "invalid_grant"]) }
        let secret = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let app = try Handshake(server.client(), vault: vault, transport: hook, time: server.time)
        let keeper = Keeper(
            app, webhook: try KeeperWebhook(EndpointURL("https://hook.example/ended"), secret: secret))
        let running = RunningKeeper(keeper)
        await pass(.seconds(1)) { hook.received.count == 3 }
        await running.stop()
        let fields = hook.received.map { $0.head.headerFields }
        let ids = Set(fields.compactMap { $0[HTTPField.Name(constant: "webhook-id")] })
        #expect(ids.count == 1 && ids.first?.hasPrefix("msg_") == true)
        #expect(fields.allSatisfy { $0[HTTPField.Name(constant: "webhook-signature")]?.hasPrefix("v1,") == true })
        guard case .bytes(let content)? = hook.received.first?.content else { return }
        let text = String(decoding: content, as: UTF8.self)
        #expect(text.contains(#""account":"gone""#) && text.contains(#""reason":"refresh_rejected""#))
        #expect(!text.contains("gone.0"), "no token")
    }

    @Test("the next session of an account that ends has a report with an id of its own")
    func nextSession() async throws {
        let hook = HookedServer(server)
        server.answer { _, _ in .json(400, ["error": "invalid_grant"]) }
        let app = try Handshake(server.client(), vault: vault, transport: hook, time: server.time)
        let url = try EndpointURL("https://hook.example/ended")
        for age in [3_500.0, 3_400.0, 3_400.0] {
            try await server.store(["gone"], in: vault, age: age)
            let running = RunningKeeper(Keeper(app, webhook: try KeeperWebhook(url)))
            let before = hook.received.count
            await pass(.seconds(1)) { hook.received.count > max(before, 2) }
            await running.stop()
        }
        let ids = hook.received.suffix(3).compactMap { $0.head.headerFields[HTTPField.Name(constant: "webhook-id")] }
        #expect(ids.count == 3 && Set(ids).count == 3)
    }

    @Test("a keeper that is stopped tries each report once more at most, and none after ten seconds")
    func stopped() async throws {
        try await server.store((0..<20).map { "user\($0)" }, in: vault, age: 3_500)
        let hook = HookedServer(server)
        let clock = server.clock
        hook.answer.change {
            $0 = { _ in
                // A webhook that takes three seconds, and takes nothing.
                try await clock.sleep(for: .seconds(3))
                return .json(500, [:])
            }
        }
        server.answer { _, _ in .json(400, ["error": "invalid_grant"]) }
        let app = try Handshake(server.client(), vault: vault, transport: hook, time: server.time)
        var options = Keeper.Options()
        options.limit = .init(perSecond: 1_000, concurrent: 20)
        let url = try EndpointURL("https://hook.example/ended")
        let running = RunningKeeper(Keeper(app, options: options, webhook: try KeeperWebhook(url)))
        await server.pass(.milliseconds(100), waitingFor: [running]) {
            running.keeper.report.ended == 20 && hook.received.count == 1
        }
        let start = server.now
        let isOver = Shared(false)
        async let stopping: Void = {
            await running.stop()
            isOver.change { $0 = true }
        }()
        await pass(.milliseconds(100)) { isOver.value }
        await stopping
        #expect(server.now - start <= 14)
        #expect((2...6).contains(hook.received.count))
    }

    @Test(
        "a webhook's secret in another form is refused, and is not quoted",
        arguments: ["secret", "whsec_", "whsec_AAAA"])
    func webhookSecret(_ text: String) throws {
        let url = try EndpointURL("https://hook.example/")
        let error = #expect(throws: HandshakeError.self) { try KeeperWebhook(url, secret: Secret(text)) }
        #expect(error?.code == "invalid_configuration" && error?.description.contains("AAAA") == false)
    }
}

/// A webhook that takes the third attempt, in front of a server.
private final class HookedServer: Transport {
    private let server: StrictAccounts
    private let messages = Shared<[RequestMessage]>([])
    /// Answers in place of the webhook's own.
    let answer = Shared<(@Sendable (RequestMessage) async throws -> ResponseMessage)?>(nil)
    var received: [RequestMessage] { messages.value }

    init(_ server: StrictAccounts) { self.server = server }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        guard request.head.authority == "hook.example" else { return try await server.send(request, limits: limits) }
        let count = messages.change { messages in
            messages.append(request)
            return messages.count
        }
        if let answer = answer.value { return try await answer(request) }
        return .json(count < 3 ? 500 : 204, [:])
    }
}
