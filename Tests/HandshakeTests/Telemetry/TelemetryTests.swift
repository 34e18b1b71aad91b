import CoreMetrics
import HTTPTypes
import InMemoryTracing
import MetricsTestKit
import OAuth
import Sandbox
import TestFixtures
import Testing
import Tracing

@testable import Handshake

@Suite("Figures and traces", .heavy)
struct TelemetryTests {
    private let metrics = TestMetrics()
    private let tracer = InMemoryTracer()

    /// An app that was made when figures and traces had been chosen.
    private func app(_ world: World, transport: any Transport = .platform) throws -> Handshake {
        try withMetricsFactory(metrics) { try withTracer(tracer) { try world.app(transport: transport) } }
    }

    private func total(_ label: String, _ dimensions: [(String, String)]) -> Int64 {
        metrics.counterTotal(label: label, dimensions: dimensions)
    }

    private func times(_ label: String, _ dimensions: [(String, String)]) -> Int {
        metrics.timers(label: label, dimensions: dimensions).reduce(0) { $0 + $1.values.count }
    }

    private func spans(_ name: String) -> [FinishedInMemorySpan] {
        tracer.finishedSpans.filter { $0.operationName == name }
    }

    @Test("sign-in, requests, a stampede and the end of a session are counted, timed and traced")
    func session() async throws {
        let world = try await World()
        let isOver = Shared(false)
        let transport = TappedTransport { request, base, limits in
            guard isOver.value, request.head.path == "/oauth/token" else {
                return try await base.send(request, limits: limits)
            }
            return .json(400, ["error": "invalid_grant"])
        }
        let app = try app(world, transport: transport)
        let service = ("service", world.stand.rawValue)
        let account = try await app.signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        #expect(total("handshake_sign_ins_total", [service, ("outcome", "signed_in")]) == 1)
        #expect(spans("handshake.sign_in").count == 1)

        try world.inject("POST /oauth/token => delay 1")
        world.sandbox.expireAccessTokens(world.stand)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    let response = try await account.send(.get, "profiles/me")
                    #expect(response.head.status == .ok)
                }
            }
            try await group.waitForAll()
        }
        #expect(total("handshake_refreshes_total", [service, ("outcome", "refreshed")]) == 1)
        #expect(total("handshake_refresh_joins_total", [service]) > 0)
        #expect(times("handshake_token_request_seconds", [service]) == 1)
        #expect(times("handshake_request_seconds", [service, ("outcome", "2xx")]) == 10)
        #expect(times("handshake_vault_wait_seconds", [("kind", "account")]) > 0)
        #expect(spans("handshake.request").count == 10)
        #expect(spans("handshake.refresh").contains { $0.attributes.get("handshake.service") == .string(service.1) })

        world.time.advance(by: 8_000)
        isOver.change { $0 = true }
        #expect(await handshakeError { try await account.accessToken() }?.code == "sign_in_required")
        #expect(total("handshake_sessions_ended_total", [service, ("reason", "refresh_rejected")]) == 1)
        let failed = try #require(spans("handshake.refresh").last)
        #expect(failed.attributes.get("error.type") == .string("sign_in_required") && failed.errors.isEmpty)
        await world.sandbox.stop()
    }

    @Test("no label and no attribute names a user, an account, an address or what a server sent")
    func identifiers() async throws {
        let world = try await World(.standard)
        let transport = TappedTransport { request, base, limits in
            guard request.head.path?.hasPrefix("/secret") != true else {
                return .json(400, ["error": "ada_lovelace", "error_description": "ada@example.test"])
            }
            return try await base.send(request, limits: limits)
        }
        let app = try app(world, transport: transport)
        let account = try await app.signIn(as: "ada lovelace", through: ApprovingBrowser(sandbox: world.sandbox))
        let token = try await account.accessToken()
        _ = try await account.send(.get, world.whoAmI)
        _ = try await account.send(.get, world[.standard].origin + "/secret/ada")
        try world.inject("standard POST /token => status 400 #1")
        _ = await handshakeError { try await account.refresh() }
        _ = await handshakeError { try await app.account("ada lovelace", of: "other") }
        _ = try await account.signOut()
        var texts = tracer.finishedSpans.flatMap { span -> [String] in
            var texts = [span.operationName, "\(span.events)", "\(span.errors)", "\(String(describing: span.status))"]
            let note = { (name: String, value: SpanAttribute) in texts += [name, "\(value)"] }
            span.attributes.forEach(note)
            return texts
        }
        texts += metrics.counters.flatMap { [$0.label] + $0.dimensions.flatMap { [$0.0, $0.1] } }
        texts += metrics.timers.flatMap { [$0.label] + $0.dimensions.flatMap { [$0.0, $0.1] } }
        texts += metrics.recorders.flatMap { [$0.label] + $0.dimensions.flatMap { [$0.0, $0.1] } }
        #expect(texts.count > 20)
        for text in texts {
            for secret in [token.reveal(), "ada", "lovelace", "127.0.0.1", "localhost", "/secret", "example.test"] {
                #expect(!text.contains(secret), "\(text)")
            }
        }
        await world.sandbox.stop()
    }

    @Test("a service's name is a label of 64 bytes at most, and the hundred-and-first is “other”")
    func services() throws {
        let telemetry = try #require(withMetricsFactory(metrics) { Telemetry.chosen() })
        for number in 0..<200 { telemetry.count("counted", at: "service \(number)") }
        telemetry.count("counted", at: String(repeating: "x", count: 65))
        telemetry.count("counted", at: "service 0")
        #expect(metrics.counters(label: "counted").count == 101)
        #expect(total("counted", [("service", "other")]) == 101)
        #expect(total("counted", [("service", "service 0")]) == 2)
    }

    @Test("without figures and traces an app has none")
    func nothing() throws {
        #expect(Telemetry.chosen() == nil)
        #expect(try StrictAccounts().app(MemoryVault()).telemetry == nil)
    }

    @Test("a keeper says how many accounts it keeps, how late it is, and that a service is paused")
    func keeper() async throws {
        let server = StrictAccounts()
        let vault = MemoryVault()
        try await server.store((0..<7).map { "user\($0)" }, in: vault, age: 3_500)
        server.answer { _, number in number == 1 ? .json(503, [:]) : nil }
        let keeper = try withMetricsFactory(metrics) { Keeper(try server.app(vault)) }
        let running = RunningKeeper(keeper)
        await server.pass(.milliseconds(500)) { server.refreshes.count == 7 }
        #expect(await running.first(\.isResumed) != nil)
        await running.stop()
        let service = [("service", "strict")]
        #expect(try metrics.expectGauge("handshake_keeper_accounts", service).lastValue == 7)
        #expect(try metrics.expectGauge("handshake_keeper_paused", service).values == [1, 0])
        #expect(times("handshake_keeper_delay_seconds", service) >= 8)
        #expect(total("handshake_refreshes_total", service + [("outcome", "refreshed")]) == 7)
    }
}
