import CoreMetrics
import HTTPTypes
import InMemoryTracing
import MetricsTestKit
import OAuth
import Sandbox
import Synchronization
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

    @Test("a sign-in that the user declines counts at its service, and a redirect that fits no attempt at “unknown”")
    func declined() async throws {
        let world = try await World()
        let client = try world.client(redirect: .uri(try RedirectURI("com.example.app:/callback")))
        let app = try withMetricsFactory(metrics) { try world.app(client) }
        let attempt = try await app.beginSignIn()
        let granted = try await world.sandbox.approve(attempt.page.url)
        let redirect = granted.replacing(/code=[^&]+/, with: "error=access_denied")
        #expect(await handshakeError { try await app.finishSignIn(redirectURL: redirect) }?.code == "access_denied")
        #expect(total("handshake_sign_ins_total", [("service", world.stand.rawValue), ("outcome", "abandoned")]) == 1)
        #expect(await handshakeError { try await app.finishSignIn(redirectURL: redirect) }?.code == "state_mismatch")
        #expect(total("handshake_sign_ins_total", [("service", "unknown"), ("outcome", "refused")]) == 1)
        await world.sandbox.stop()
    }

    @Test("no label and no attribute names a user, an account, an address or what a server sent")
    func identifiers() async throws {
        let world = try await World(.standard)
        let isRefusing = Shared(false)
        let transport = TappedTransport { request, base, limits in
            let path = request.head.path ?? ""
            guard path.hasPrefix("/secret") || isRefusing.value && path == "/token" else {
                return try await base.send(request, limits: limits)
            }
            return .json(400, ["error": "ada_lovelace", "error_description": "ada@example.test"])
        }
        let app = try app(world, transport: transport)
        let account = try await app.signIn(as: "ada lovelace", through: ApprovingBrowser(sandbox: world.sandbox))
        let token = try await account.accessToken()
        _ = try await account.send(.get, world.whoAmI)
        _ = try await account.send(.get, world[.standard].origin + "/secret/ada")
        isRefusing.change { $0 = true }
        #expect(await handshakeError { try await account.refresh() } != nil)
        #expect(total("handshake_refreshes_total", [("service", "standard"), ("outcome", "failed")]) == 1)
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

    @Test("a span of what failed has the status of an error without a text, and no other span has a status")
    func statuses() async throws {
        let telemetry = try #require(withTracer(tracer) { Telemetry.chosen() })
        #expect(try await telemetry.span("done", at: "strict") { 1 } == 1)
        await #expect(throws: VaultError.self) {
            try await telemetry.span("failed", at: "strict") { throw VaultError.busy("ada") }
        }
        #expect(spans("done").map(\.status) == [nil])
        let failed = spans("failed")
        #expect(failed.map(\.status) == [SpanStatus(code: .error)])
        #expect(failed.first?.attributes.get("error.type") == .string("vault_busy"))
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

    @Test("counters whose labels are known begin with 0 when an app is made, so that their first event is a rise")
    func beginning() throws {
        _ = try withMetricsFactory(metrics) { try StrictAccounts().app(MemoryVault()) }
        let errors: [VaultError] = [
            .locked(""), .damaged(what: "", reason: ""), .denied(what: "", reason: ""), .busy(""), .unavailable(""),
        ]
        var labels: [(name: String, label: String, value: String)] = [
            ("handshake_sign_ins_total", "outcome", "signed_in"),
            ("handshake_sessions_ended_total", "reason", "signed_out"),
        ]
        for outcome in ["refreshed", "adopted", "uncertain", "failed"] {
            labels.append(("handshake_refreshes_total", "outcome", outcome))
        }
        for reason in HandshakeError.SignInReason.allCases {
            labels.append(("handshake_sessions_ended_total", "reason", reason.rawValue))
        }
        let service = ("service", "strict")
        for (name, label, value) in labels {
            #expect(try metrics.expectCounter(name, [service, (label, value)]).totalValue == 0, "\(name) \(value)")
        }
        for error in errors {
            let code = [("code", error.code)]
            #expect(try metrics.expectCounter("handshake_vault_failures_total", code).totalValue == 0)
        }
        #expect(try metrics.expectCounter("handshake_refresh_joins_total", [service]).totalValue == 0)
        #expect(metrics.counters.count == labels.count + errors.count + 1)
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
        // Told from the beginning: an alert has to see keepers that do not pause.
        #expect(try metrics.expectGauge("handshake_keeper_paused", service).values == [0, 1, 0])
        #expect(times("handshake_keeper_delay_seconds", service) >= 8)
        #expect(total("handshake_refreshes_total", service + [("outcome", "refreshed")]) == 7)
    }

    @Test("a service with two authorization servers has one number of accounts, and is paused while either is")
    func authorizationServers() throws {
        let server = StrictAccounts()
        let keeper = try withMetricsFactory(metrics) { Keeper(try server.app(MemoryVault())) }
        let client = try server.client()
        let lanes = (1...2).map { number in
            let lane = KeeperLane("strict", limit: Keeper.RateLimit(), maximumPause: 60, time: server.time)
            for name in 0..<number { lane.add(AccountID(client, name: "user\(name)"), due: 0) }
            keeper.lanes.withLock { $0[Keeper.LaneKey(service: "strict", issuer: "\(number)")] = lane }
            return lane
        }
        let service = [("service", "strict")]
        keeper.tellAccounts()
        #expect(try metrics.expectGauge("handshake_keeper_accounts", service).values == [3])
        for (lane, failures) in [(0, 1), (1, 1), (0, 0), (1, 0)] {
            lanes[lane].state.withLock { $0.failures = failures }
            keeper.tellPaused("strict")
        }
        #expect(try metrics.expectGauge("handshake_keeper_paused", service).values == [1, 1, 1, 0])
    }

    @Test("a failure of a held record counts once, also where the caller makes another error of it")
    func heldRecord() async throws {
        let telemetry = try #require(withMetricsFactory(metrics) { Telemetry.chosen() })
        let vault = MeasuredVault(base: LostVault(), telemetry: telemetry)
        let key = VaultKey(.account, ["user"])
        let code = [("code", "vault_unavailable")]
        await #expect(throws: VaultError.self) { try await vault.update(key) { try await $0.replace(with: [1]) } }
        #expect(total("handshake_vault_failures_total", code) == 1)
        await #expect(throws: HandshakeError.self) {
            try await vault.update(key) { record in
                do { try await record.confirm(for: .seconds(20)) } catch let error as VaultError {
                    throw HandshakeError.vault(error)
                }
            }
        }
        #expect(total("handshake_vault_failures_total", code) == 2)
        await #expect(throws: VaultError.self) { try await vault.record(key) }
        #expect(total("handshake_vault_failures_total", code) == 3)
        await #expect(throws: VaultError.self) { try await vault.returnUnfinished([key]) }
        // The vault's own concluding write, which does not fail.
        try await vault.update(key) { try await $0.conclude(with: [1]) }
        #expect(total("handshake_vault_failures_total", code) == 4)
    }

    @Test("a failure of one record among several is counted once")
    func oneOfSeveral() async throws {
        let telemetry = try #require(withMetricsFactory(metrics) { Telemetry.chosen() })
        let keys = ["absent", "damaged", "other"].map { VaultKey(.account, [$0]) }
        let vault = MeasuredVault(base: DamagedVault(base: MemoryVault(), damaged: keys[1]), telemetry: telemetry)
        let read = try await vault.records(keys)
        #expect(read.count == 3)
        #expect(try read[0].get() == nil)
        #expect(throws: VaultError.self) { try read[1].get() }
        #expect(total("handshake_vault_failures_total", [("code", "vault_damaged")]) == 1)
        let lost = MeasuredVault(base: LostVault(), telemetry: telemetry)
        await #expect(throws: VaultError.self) { try await lost.records(keys) }
        #expect(total("handshake_vault_failures_total", [("code", "vault_unavailable")]) == 1)
    }
}

/// A vault in memory of which one record is damaged.
private struct DamagedVault: ForwardingVault {
    let base: MemoryVault
    let damaged: VaultKey

    func record(_ key: VaultKey) async throws -> [UInt8]? {
        guard key != damaged else { throw VaultError.damaged(what: "a record", reason: "it was changed by hand") }
        return try await base.record(key)
    }
}

/// A vault that was lost after a record was held.
private struct LostVault: Vault {
    private static let failure = VaultError.unavailable("the connection was lost")

    private struct Hold: LockedRecord {
        var contents: [UInt8]? { nil }
        func replace(with contents: [UInt8]) async throws { throw LostVault.failure }
        func remove() async throws { throw LostVault.failure }
        func conclude(with contents: [UInt8]) async throws {}
        func confirm(for time: Duration) async throws { throw LostVault.failure }
    }

    func record(_ key: VaultKey) async throws -> [UInt8]? { throw Self.failure }
    func keys(of kind: VaultKey.Kind) async throws -> VaultListing { throw Self.failure }
    func returnUnfinished(_ keys: [VaultKey]) async throws { throw Self.failure }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await body(Hold())
    }
}
