import ConnectButton
import Foundation
import Handshake
import Hummingbird
import IFTTTConnect
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("Users who go", .heavy)
struct ForgettingTests {
    private func kept(_ world: World) async throws -> [VaultKey] {
        var keys: [VaultKey] = []
        for kind in VaultKey.Kind.allCases { keys += try await world.vault.keys(of: kind).keys }
        return keys
    }

    private func connect(_ world: World, _ server: ButtonServer, _ user: String = "new") async throws {
        let (_, url) = try await server.leave(user)
        _ = try await server.visit(try await world.sandbox.activate(url, as: "\(user)@example.test"), as: user)
    }

    @Test("a user whom one process forgets is forgotten in all, with every connection and the token; no other is")
    func forget() async throws {
        let world = try await World.start()
        let settings = try ConnectButtonSettings(
            at: try PublicAddress(World.address), offering: [ConnectButtonOffer(try ConnectionID("mAnyFt05"))],
            tokens: { _ in .redirect })
        // The other process no longer offers what the user has turned on.
        let (one, two) = (try await world.buttons(), try await world.buttons(settings))
        let page = try await one.state("ada")
        let before = try await kept(world)
        try await connect(world, one)
        _ = try await two.state("new", "mAnyFt05")
        #expect(try await kept(world).count == before.count + 3)
        try await two.routes.forget(.init(id: "new"))
        #expect(try await Set(kept(world)) == Set(before))
        #expect(try await one.routes.userTokens(for: .init(id: "new")).token() == nil)
        try await two.routes.forget(.init(id: "new"))
        #expect(try await one.send(.turnOn, page, as: "ada").status == 200)
        // At IFTTT nothing was turned off.
        #expect(!world.sandbox.iftttLog(.webhooks).contains { $0.contains("disabled") })
        await one.server.stop()
        await two.server.stop()
        await world.sandbox.stop()
    }

    @Test("the answer to another process's request for a forgotten user does not create that user again")
    func working() async throws {
        let world = try await World.start()
        let one = try await world.buttons()
        var settings = try world.standardSettings()
        let isArmed = Mutex(true)
        settings.transport = WatchedTransport { _ in
            guard isArmed.withLock({ $0 }) else { return }
            try await one.routes.forget(.init(id: "new"))
        }
        let two = try await world.buttons(settings)
        #expect(try await two.state().status == 200)
        #expect(try await kept(world).isEmpty)
        isArmed.withLock { $0 = false }
        #expect(try await two.state().step == "connect")
        await one.server.stop()
        await two.server.stop()
        await world.sandbox.stop()
    }

    @Test("a page of a session that was forgotten is told so, and its message begins nothing")
    func oldPage() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let page = try await server.state()
        try await server.routes.forget(.init(id: "new"))
        #expect(try await server.send(.turnOn, page).code == "stale_token")
        #expect(try await kept(world).isEmpty)
        let fresh = try await server.state()
        #expect(fresh.step == "connect" && fresh.token != page.token)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("what cannot be removed is told, and the rest is removed")
    func partly() async throws {
        let vault = WatchedVault()
        let world = try await World.start(vault: vault)
        let server = try await world.buttons()
        try await connect(world, server)
        _ = try await server.state("new", "mAnyFt05")
        vault.fail { $0.components.first == "aB3dE5fG" ? .busy("a record") : nil }
        await #expect(throws: HandshakeServerError.vault(.busy("a record"))) {
            try await server.routes.forget(.init(id: "new"))
        }
        vault.fail(nil)
        #expect(try await kept(world).map { $0.components.first } == ["aB3dE5fG"])
        try await server.routes.forget(.init(id: "new"))
        #expect(try await kept(world).isEmpty)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("damaged records of a user go too, the token's and the consent's among them")
    func damaged() async throws {
        let vault = WatchedVault()
        let world = try await World.start(vault: vault)
        var settings = try world.standardSettings()
        let analytics = ConnectAnalytics(
            in: vault, through: .init(hosts: try world.hosts()), log: World.log)
        settings.analytics = analytics
        let server = try await world.buttons(settings)
        try await analytics.allow(for: "new")
        try await connect(world, server)
        #expect(try await Set(kept(world).map(\.kind)) == [.activation, .account, .analytics])
        vault.fail { _ in .damaged(what: "a record", reason: "the test says so") }
        try await server.routes.forget(.init(id: "new"))
        vault.fail(nil)
        #expect(try await kept(world).isEmpty)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("of a vault that cannot be listed, what is known without a list is removed")
    func withoutList() async throws {
        let vault = WatchedVault()
        let world = try await World.start(vault: vault)
        let analytics = ConnectAnalytics(
            in: vault, through: .init(hosts: try world.hosts()), log: World.log)
        var settings = try world.standardSettings()
        settings.analytics = analytics
        let server = try await world.buttons(settings)
        try await analytics.allow(for: "new")
        try await connect(world, server)
        vault.failListing(.busy("the list"))
        await #expect(throws: HandshakeServerError.vault(.busy("the list"))) {
            try await server.routes.forget(.init(id: "new"))
        }
        vault.failListing(nil)
        #expect(try await kept(world).isEmpty)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a token that cannot be removed keeps nothing else")
    func tokenStays() async throws {
        let vault = WatchedVault()
        let world = try await World.start(vault: vault)
        let server = try await world.buttons()
        try await connect(world, server)
        vault.fail { $0.kind == .activation || $0.kind == .account ? .busy("a record") : nil }
        await #expect(throws: HandshakeServerError.vault(.busy("a record"))) {
            try await server.routes.forget(.init(id: "new"))
        }
        vault.fail { $0.kind == .account ? .busy("a record") : nil }
        await #expect(throws: HandshakeServerError.vault(.busy("a record"))) {
            try await server.routes.forget(.init(id: "new"))
        }
        vault.fail(nil)
        #expect(try await kept(world).map(\.kind) == [.account])
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("who a user is, is asked again with the same request and the same context: what a middleware put there stays")
    func sameContext() async throws {
        let world = try await World.start()
        let first = try await world.buttons()
        _ = try await first.state()
        let seen = Mutex<[String]>([])
        var settings = try world.standardSettings()
        settings.time = TimeSource(now: world.time.now, clock: HurriedClock())
        settings.streams = .init()
        let router = Router()
        try ConnectButtonRoutes<BasicRequestContext>(settings, accounts: world.accounts(), log: World.log) {
            request, context in
            let count = seen.withLock { seen in
                seen.append("\(context.id) \(request.uri.path)")
                return seen.count
            }
            return count < 4 ? try ConnectButtonUser(id: "new") : nil
        }.add(to: router.group("connect"))
        let server = try await RunningServer.start(router)
        _ = try await WireClient(origin: server.origin).send("GET", "/connect/aB3dE5fG/changes")
        #expect(seen.withLock { ($0.count, Set($0).count) } == (4, 1))
        await server.stop()
        await first.server.stop()
        await world.sandbox.stop()
    }

    /// What happens while a stream is open.
    enum Change: CaseIterable {
        case nothing, loggedOut, anotherUser, unrecognised, forgotten, restarted
    }

    @Test("a stream ends when its user has logged out, is another or is forgotten", arguments: Change.allCases)
    func streams(change: Change) async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        _ = try await server.state()
        let asked = Mutex(0)
        var settings = try world.standardSettings()
        // The pauses end immediately: five minutes of silence are twenty comments.
        settings.time = TimeSource(now: world.time.now, clock: HurriedClock())
        settings.streams = .init()
        settings.streams.restingLifetime = settings.streams.lifetime
        let listening = try await world.buttons(settings) { request in
            let user = try ConnectButtonUser(id: "new")
            let count = asked.withLock { count in
                count += 1
                return count
            }
            guard count > 1 else { return user }
            switch change {
            case .nothing: break
            case .loggedOut: return nil
            case .anotherUser: return try ConnectButtonUser(id: "ada")
            case .unrecognised: throw HTTPError(.serviceUnavailable)
            case .forgotten: try await server.routes.forget(user)
            case .restarted:
                try await server.routes.forget(user)
                _ = try await server.routes.answer(
                    for: user, connection: try ConnectionID("aB3dE5fG"), in: .americanEnglish)
            }
            return user
        }
        let heard = try await listening.wire.send("GET", "/connect/aB3dE5fG/changes")
        #expect(heard.text.components(separatedBy: "data: ").count == 2)
        #expect(heard.text.contains("\n:\n\n") == (change == .nothing))
        if change == .nothing {
            // A stream of 300 seconds asks who the user is every ten.
            #expect((28...31).contains(asked.withLock { $0 }))
        }
        await server.server.stop()
        await listening.server.stop()
        await world.sandbox.stop()
    }
}
