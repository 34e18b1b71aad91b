import HTTPTypes
import Handshake
import Hummingbird
import Logging
import OAuth
import ServiceLifecycle
import Synchronization
import TestFixtures
import Testing
import UnixSignals

@testable import HandshakeServer

@Suite("Health, readiness and the end of a process", .heavy)
struct HealthTests {
    /// A vault whose reads a test counts, delays and refuses.
    private final class ProbedVault: ForwardingVault {
        let base = MemoryVault()
        private let state = Mutex<(reads: Int, failure: VaultError?)>((0, nil))
        let gate = Mutex<Gate?>(nil)

        var reads: Int { state.withLock { $0.reads } }
        func fail(_ failure: VaultError?) { state.withLock { $0.failure = failure } }

        func record(_ key: VaultKey) async throws -> [UInt8]? {
            let failure = state.withLock { state in
                state.reads += 1
                return state.failure
            }
            await gate.withLock { $0 }?.wait()
            if let failure { throw failure }
            return try await base.record(key)
        }
    }

    private let vault = ProbedVault()
    private let clock = ManualClock()

    private func handshake(_ transport: any Transport = .platform) throws -> Handshake {
        let client = Client(
            service: .recurseCenter, id: "app", redirect: .uri(try RedirectURI("https://app.example/cb")))
        return try Handshake(client, vault: vault, transport: transport)
    }

    private func server(
        behind middlewares: any MiddlewareProtocol<Request, Response, BasicRequestContext>...
    ) async throws -> (RunningServer, WireClient) {
        let router = Router()
        for middleware in middlewares { router.add(middleware: middleware) }
        let clock = clock
        let time = TimeSource(now: { 1_000 + clock.now.offset / .seconds(1) }, clock: clock)
        try HealthRoutes<BasicRequestContext>(try handshake(), time: time).add(to: router)
        let server = try await RunningServer.start(router)
        return (server, try WireClient(origin: server.origin))
    }

    @Test("a process whose vault cannot be read lives and is not ready, says why in one word, and is ready again")
    func vaultAway() async throws {
        let (server, wire) = try await server()
        #expect(try await wire.send("GET", "/ready").text == #"{"status":"ready"}"#)
        vault.fail(.unavailable("postgresql://app@db.example/vault: the connection was lost"))
        // What was found a moment ago still counts, however many ask.
        for _ in 0..<20 { #expect(try await wire.send("GET", "/ready").status == 200) }
        #expect(vault.reads == 1)
        clock.advance(by: .seconds(1))
        let unready = try await wire.send("GET", "/ready")
        #expect(unready.status == 503 && unready.text == #"{"status":"unready","reason":"vault_unavailable"}"#)
        #expect(unready["Cache-Control"] == "no-store")
        let alive = try await wire.send("GET", "/health")
        #expect(alive.status == 200 && alive.text == #"{"status":"alive"}"#)
        vault.fail(nil)
        clock.advance(by: .seconds(1))
        #expect(try await wire.send("GET", "/ready").status == 200)
        #expect(vault.reads == 3)
        await server.stop()
    }

    @Test("a vault that does not answer makes a process unready after the timeout, and is asked by one caller alone")
    func slow() async throws {
        let gate = Gate()
        vault.gate.withLock { $0 = gate }
        let (server, wire) = try await server()
        async let answers = withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<5 { group.addTask { try await wire.send("GET", "/ready").text } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await clock.sleeper(of: .seconds(2), count: 5)
        clock.advance(by: .seconds(2))
        #expect(try await Set(answers) == [#"{"status":"unready","reason":"vault_slow"}"#])
        #expect(vault.reads == 1)
        gate.open()
        vault.gate.withLock { $0 = nil }
        await server.stop()
    }

    @Test("a process that is shutting down is not ready and says so, without asking the vault")
    func shuttingDown() async throws {
        let arrived = Gate()
        let (server, wire) = try await server(behind: HeldUntilShutdown(arrived: arrived))
        async let answer = wire.send("GET", "/ready")
        await arrived.wait()
        await server.stop()
        let unready = try await answer
        #expect(unready.status == 503 && unready.text == #"{"status":"unready","reason":"shutting_down"}"#)
        #expect(vault.reads == 0)
    }

    @Test(
        "routes that are the last service make a process unready before a keeper has finished; others do when the server's turn comes",
        arguments: [true, false])
    func keeperFinishes(areRoutesLast: Bool) async throws {
        let (refreshing, release, ending) = (Gate(), Gate(), Gate())
        let handshake = try handshake(
            SlowServer {
                refreshing.open()
                await release.wait()
            })
        _ = try await handshake.adopt(
            Grant(accessToken: Secret("old"), expiresAt: 1, issuedAt: 0, refreshToken: Secret("refresh"), scopes: []))
        let health = try HealthRoutes<BasicRequestContext>(handshake)
        let router = Router()
        health.add(to: router)
        let behind: [any ServiceLifecycle.Service] = [
            KeeperService(Keeper(handshake)), EndNotice(ending: ending),
        ]
        let server = try await RunningServer.start(router, beside: areRoutesLast ? behind + [health] : behind)
        let wire = try WireClient(origin: server.origin)
        await refreshing.wait()
        #expect(try await wire.send("GET", "/ready").text == #"{"status":"ready"}"#)
        await server.beginStopping()
        await ending.wait()
        let answer = try await wire.send("GET", "/ready")
        let unready = #"{"status":"unready","reason":"shutting_down"}"#
        #expect(answer.status == (areRoutesLast ? 503 : 200))
        #expect(answer.text == (areRoutesLast ? unready : #"{"status":"ready"}"#))
        release.open()
        await server.stop()
        let stored = try #require(try await self.handshake().account())
        #expect(stored.status.generation == 2, "the refresh was stored after the adoption")
    }

    @Test("a graceful shutdown waits for the refresh on its way, and its answer is stored", arguments: [true, false])
    func shutdown(isGraceful: Bool) async throws {
        let (arrived, release) = (Gate(), Gate())
        let handshake = try handshake(
            SlowServer {
                arrived.open()
                await release.wait()
            })
        let account = try await handshake.adopt(
            Grant(
                accessToken: Secret("old"), expiresAt: 1, issuedAt: 0, refreshToken: Secret("refresh"), scopes: []))
        // The caller leaves, as a request that was cut off.
        let caller = Task { try await account.accessToken() }
        await arrived.wait()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        let group = ServiceGroup(
            configuration: .init(services: [HandshakeService(handshake)], logger: Logger(label: "test")))
        let isOver = Mutex(false)
        let running = Task {
            try? await group.run()
            isOver.withLock { $0 = true }
        }
        if isGraceful { await group.triggerGracefulShutdown() } else { running.cancel() }
        for _ in 0..<10_000 { await Task.yield() }
        #expect(!isOver.withLock { $0 })
        release.open()
        await running.value
        let stored = try #require(try await self.handshake().account())
        #expect(stored.status.generation == 2, "the refresh was stored after the adoption")
    }
}

/// Passes requests on when a graceful shutdown has begun.
private struct HeldUntilShutdown: RouterMiddleware {
    let arrived: Gate

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: @concurrent (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        arrived.open()
        try await gracefulShutdown()
        return try await next(request, context)
    }
}

/// Tells when a graceful shutdown has come to it.
private struct EndNotice: ServiceLifecycle.Service {
    let ending: Gate

    func run() async throws {
        try await gracefulShutdown()
        ending.open()
    }
}

/// A token endpoint that answers when the test says so.
private struct SlowServer: Transport {
    let wait: @Sendable () async -> Void

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        await wait()
        let content = #"{"access_token":"new","token_type":"Bearer","expires_in":3600,"refresh_token":"next"}"#
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"])
        return ResponseMessage(head: head, content: Array(content.utf8))
    }
}

/// The code of the page on figures and health. It is compiled, and not run: it takes over the process's signals.
private func serve(_ router: Router<BasicRequestContext>, _ handshake: Handshake, _ keeper: Keeper) async throws {
    let health = try HealthRoutes<BasicRequestContext>(handshake)
    health.add(to: router)
    var app = Application(router: router)
    app.addServices(HandshakeService(handshake))  // a graceful shutdown finishes refreshes
    let group = ServiceGroup(
        services: [app, KeeperService(keeper), health], gracefulShutdownSignals: [.sigterm, .sigint], logger: app.logger
    )
    try await group.run()
}
