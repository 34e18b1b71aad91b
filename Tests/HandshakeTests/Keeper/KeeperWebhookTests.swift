import Crypto
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

    @Test("a report of an ended session is signed, repeated until it is taken, and has the same id each time")
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
        let key = SymmetricKey(data: try #require(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")))
        for message in hook.received {
            guard case .bytes(let content) = message.content else { return #expect(Bool(false), "no content") }
            func field(_ name: StaticString) throws -> String {
                try #require(message.head.headerFields[HTTPField.Name(constant: name)])
            }
            let signed = try Array("\(field("webhook-id")).\(field("webhook-timestamp")).".utf8) + content
            let code = Data(HMAC<SHA256>.authenticationCode(for: signed, using: key)).base64EncodedString()
            #expect(try field("webhook-signature") == "v1,\(code)")
        }
        guard case .bytes(let content)? = hook.received.first?.content else {
            Issue.record("no content")
            return
        }
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
            let before = hook.received.count
            let running = RunningKeeper(Keeper(app, webhook: try KeeperWebhook(url)))
            await pass(.seconds(1)) { hook.received.count > max(before, 2) }
            await running.stop()
        }
        let ids = hook.received.suffix(3).compactMap { $0.head.headerFields[HTTPField.Name(constant: "webhook-id")] }
        #expect(ids.count == 3 && Set(ids).count == 3)
    }

    @Test("every keeper's report of one ending has one id, however it ended and whenever the keeper looked")
    func oneIdentifier() async throws {
        try await server.store(["gone"], in: vault, age: 2_000)
        let hook = HookedServer(server)
        hook.answer.change { $0 = { _ in .json(204, [:]) } }
        let app = try Handshake(server.client(), vault: vault, transport: hook, time: server.time)
        let webhook = try KeeperWebhook(EndpointURL("https://hook.example/ended"))
        let keepers = (0..<2).map { _ in RunningKeeper(Keeper(app, webhook: webhook)) }
        await pass(.milliseconds(250)) { keepers.allSatisfy { $0.keeper.report.kept == 1 } }
        // One of them is refused by the service; the other finds what that one has stored.
        server.answer { _, _ in .json(400, ["error": "invalid_grant"]) }
        let end = server.now + 1_500
        await server.pass(.seconds(5), waitingFor: keepers) { hook.received.count == 2 || server.now > end }
        for keeper in keepers { await keeper.stop() }
        let ids = hook.received.compactMap { $0.head.headerFields[HTTPField.Name(constant: "webhook-id")] }
        #expect(ids.count == 2 && Set(ids).count == 1)
    }

    @Test("an ending whose report was lost with its keeper is reported by the next listing, until it was taken")
    func lostReport() async throws {
        server.answer { _, _ in .json(400, ["error": "invalid_grant"]) }
        let hook = HookedServer(server)
        hook.answer.change { $0 = { _ in .json(204, [:]) } }
        let app = try Handshake(server.client(), vault: vault, transport: hook, time: server.time)
        let webhook = try KeeperWebhook(EndpointURL("https://hook.example/ended"))
        for session in 1...2 {
            try await server.store(["gone"], in: vault, age: 3_500 - Double(session))
            // As one that is killed before it reports.
            #expect(try await Keeper(app).runOnce().ended == 1)
            for _ in 0..<2 {
                let report = try await Keeper(app, webhook: webhook).runOnce()
                #expect(report.ended == 0 && report.left == 1)
                #expect(hook.received.count == session)
            }
        }
        let ids = hook.received.compactMap { $0.head.headerFields[HTTPField.Name(constant: "webhook-id")] }
        #expect(Set(ids).count == 2)
    }

    @Test("a report that is given up is named in a warning, and sent again with the same id by the next listing")
    func givenUp() async throws {
        try await server.store(["gone"], in: vault, age: 3_500)
        server.answer { _, _ in .json(400, ["error": "invalid_grant"]) }
        let hook = HookedServer(server)
        hook.answer.change { $0 = { _ in .json(404, [:]) } }
        let lines = LogLines()
        let app = try Handshake(
            server.client(), vault: vault, transport: hook, time: server.time, log: lines.logger)
        let webhook = try KeeperWebhook(EndpointURL("https://hook.example/ended"))
        let isOver = Shared(false)
        let running = Task {
            defer { isOver.change { $0 = true } }
            _ = try await Keeper(app, webhook: webhook).runOnce()
        }
        await pass { isOver.value }
        try await running.value
        #expect(hook.received.count == 5)
        let warnings = lines.all.filter { $0.hasPrefix("warning a report did not reach the webhook") }
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("gone") == true)
        #expect(warnings.first?.hasSuffix("reason=refresh_rejected") == true)
        hook.answer.change { $0 = { _ in .json(204, [:]) } }
        _ = try await Keeper(app, webhook: webhook).runOnce()
        let ids = hook.received.compactMap { $0.head.headerFields[HTTPField.Name(constant: "webhook-id")] }
        #expect(ids.count == 6 && Set(ids).count == 1)
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
