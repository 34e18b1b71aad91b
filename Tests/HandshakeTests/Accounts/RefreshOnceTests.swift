import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

@Suite("Refresh, exactly once", .heavy)
struct RefreshOnceTests {
    @Test("E2: a thousand callers of an expired token make one refresh", arguments: SandboxService.Name.withSignIn)
    func manyTasks(_ name: SandboxService.Name) async throws {
        let world = try await World(name)
        let (_, account) = try await world.signedIn()
        world.time.advance(by: 7_190)
        world.sandbox.advanceClock(by: 7_190)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1_000 { group.addTask { try await account.accessToken().reveal() } }
            var tokens: Set<String> = []
            for try await token in group { tokens.insert(token) }
            #expect(tokens.count == 1)
        }
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }

    @Test("E2: several apps on one vault, as processes would be, make one refresh and take over the result")
    func manyApps() async throws {
        let world = try await World()
        let (_, first) = try await world.signedIn()
        var accounts = [first]
        for _ in 0..<5 { accounts.append(try #require(try await world.app().account())) }
        world.time.advance(by: 7_190)
        #expect(try await tokensOfManyCallers(accounts).count == 1)
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }

    @Test("F5: a hundred requests that are answered 401 make one refresh, and all succeed")
    func manyUnauthorized() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        world.sandbox.expireAccessTokens(.recurseCenter)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await account.send(.get, "profiles/me").head.status.code } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }

    @Test("a token with life left is handed out without asking anyone")
    func fastPath() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        for _ in 0..<100 { _ = try await account.accessToken() }
        #expect(world.sandbox.requests().isEmpty)
        await world.sandbox.stop()
    }

    @Test("E1: a rotated refresh token replaces the old one, and the next refresh uses it")
    func rotation() async throws {
        let world = try await World(.standard)
        let (_, account) = try await world.signedIn()
        for round in 1...3 {
            try await account.refresh()
            #expect(world.tokenRequests() == round)
        }
        #expect(try await account.send(.get, world.sandbox.standard.origin + "/api/whoami").head.status == .ok)
        await world.sandbox.stop()
    }

    @Test("E1: a refresh token that does not come back stays in use")
    func retention() async throws {
        let world = try await World(.sequencing)
        let (_, account) = try await world.signedIn(try world.confidentialClient())
        try await account.refresh()
        try await account.refresh()
        #expect(world.tokenRequests() == 2)
        #expect(try await account.identity().subject == "4711")
        await world.sandbox.stop()
    }

    @Test("E3: the first caller's cancellation neither stops the refresh nor fails the others")
    func cancelledFirstCaller() async throws {
        let world = try await World()
        let arrived = Gate()
        let release = Gate()
        let transport = TappedTransport { request, base, limits in
            if request.head.path == "/oauth/token" {
                arrived.open()
                await release.wait()
            }
            return try await base.send(request, limits: limits)
        }
        _ = try await world.signedIn()
        let account = try #require(try await world.app(transport: transport).account())
        world.time.advance(by: 7_190)
        let first = Task { try await account.accessToken() }
        await arrived.wait()
        // The second caller waits for the refresh before the first one leaves.
        let second: Task<Secret, any Error>
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            second = Task.immediate { try await account.accessToken() }
        } else {
            second = Task { try await account.accessToken() }
        }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        release.open()
        #expect(try await !second.value.isEmpty)
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }

    @Test("E3: each exchange of the shared refresh has its own deadline, whatever the request allows that started it")
    func ownDeadline() async throws {
        let world = try await World()
        _ = try await world.signedIn()
        for allowed in [Duration.seconds(1), .seconds(3_600)] {
            let limits = Shared<[TransferLimits]>([])
            let transport = TappedTransport { request, base, allowed in
                if request.head.path == "/oauth/token" { limits.change { $0.append(allowed) } }
                return try await base.send(request, limits: TransferLimits())
            }
            let app = try world.app(transport: transport)
            let account = try #require(try await app.account())
            world.time.advance(by: 7_190)
            _ = try await account.send(.get, "profiles/me", limits: TransferLimits(timeout: allowed))
            #expect(limits.value == [World.limits])
        }
        await world.sandbox.stop()
    }

    @Test(
        "E3: a token endpoint that holds the connection keeps a caller for one exchange's deadline, or until it leaves")
    func heldConnection() async throws {
        let world = try await World()
        _ = try await world.signedIn()
        let (clock, arrived, over) = (ManualClock(), Gate(), Gate())
        let allowed = Shared<[Duration]>([])
        let transport = TappedTransport { request, base, limits in
            guard request.head.path == "/oauth/token" else { return try await base.send(request, limits: limits) }
            allowed.change { $0.append(limits.timeout) }
            arrived.open()
            // The transports give up then, as the tests of C9 show.
            try await clock.sleep(for: limits.timeout)
            throw TransportError.timedOut(host: "held.example")
        }
        let account = try #require(try await world.app(transport: transport).account())
        world.time.advance(by: 7_300)
        let leaving = Task { try await account.accessToken() }
        await arrived.wait()
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        let staying = Task {
            defer { over.open() }
            return await handshakeError { try await account.accessToken() }?.code
        }
        while !over.isOpen {
            if clock.sleeperCount > 0 { clock.advance(by: World.limits.timeout) }
            await Task.yield()
        }
        #expect(await staying.value == "refresh_uncertain")
        #expect(Set(allowed.value) == [World.limits.timeout])
        // It has joined the first exchange or made another one, and no third.
        #expect(allowed.value.count <= 2)
        #expect(world.tokenRequests() == 0)
        let later = try #require(try await world.app().account())
        #expect(try await !later.accessToken().isEmpty, "the session is as it was")
        await world.sandbox.stop()
    }

    @Test("the margin is never more than half of a short token's life")
    func shortLife() async throws {
        let world = try await World(configuration: .init(accessTokenLifetime: 20))
        world.holdClocks()
        let (_, account) = try await world.signedIn()
        _ = try await account.accessToken()
        #expect(world.tokenRequests() == 0)
        world.time.advance(by: 11)
        _ = try await account.accessToken()
        #expect(world.tokenRequests() == 1)
        await world.sandbox.stop()
    }

    @Test("a client's own grant is refreshed by asking again")
    func clientCredentials() async throws {
        let world = try await World(.standard)
        let client = world.sandbox.standard.clients.first { $0.grantTypes.contains("client_credentials") }
        let handshake = try world.app(try world.confidentialClient(try #require(client?.id), scopes: ["api"]))
        let account = try await handshake.signInAsClient()
        #expect(account.status.isRefreshable)
        try await account.refresh()
        #expect(world.tokenRequests("client_credentials") == 2)
        #expect(try await account.send(.get, world.sandbox.standard.origin + "/api/whoami").head.status == .ok)
        await world.sandbox.stop()
    }

    @Test("a client's own grant says the client's parameters, at the sign-in and at each refresh")
    func clientCredentialsParameters() async throws {
        let world = try await World(.standard)
        let known = world.sandbox.standard.clients.first { $0.grantTypes.contains("client_credentials") }
        let client = try world.confidentialClient(try #require(known?.id), scopes: ["api"])
        let asking = client.asking(for: ["api"], ["audience": "https://api.example"])
        let account = try await world.app(asking).signInAsClient()
        try await account.refresh()
        let requests = world.sandbox.requests(.standard).filter { $0.grantType == "client_credentials" }
        #expect(requests.count == 2)
        for request in requests { #expect(request.formParameterNames.contains("audience")) }
        await world.sandbox.stop()
    }
}
