import ConnectButton
import Handshake
import Hummingbird
import IFTTTConnect
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("How often a user may ask", .heavy)
final class LimitTests: Sendable {
    private let now = Mutex(1_735_689_600.0)

    private func start(
        _ limit: (inout ConnectButtonSettings) throws -> Void
    ) async throws -> (world: World, server: ButtonServer, transport: WatchedTransport) {
        let transport = WatchedTransport()
        let world = try await World.start(
            time: TimeSource(now: { [self] in now.withLock { $0 } }, clock: ContinuousClock()))
        var settings = try world.standardSettings()
        settings.transport = transport
        try limit(&settings)
        return (world, try await world.buttons(settings), transport)
    }

    private func post(_ server: ButtonServer, _ answer: ButtonAnswer, _ event: ConnectButtonEvent, _ user: String)
        async throws -> WireClient.Answer
    {
        let message = ConnectButtonMessage(event, revision: answer.revision, token: answer.token)
        return try await server.wire.send(
            "POST", "/connect/aB3dE5fG/events",
            headers: ["Cookie": "user=\(user)", "Content-Type": "application/json"],
            body: String(decoding: message.body(), as: UTF8.self))
    }

    @Test("messages beyond the limit are refused with when to come back; others are not concerned")
    func messages() async throws {
        let (world, server, _) = try await start { $0.limits.messages = try Rate(burst: 2, interval: .seconds(10)) }
        var page = try await server.state()
        page = try await server.send(.turnOn, page)
        page = try await server.send(.cancel, page)
        let refused = try await post(server, page, .turnOn, "new")
        #expect(refused.status == 429 && refused["Retry-After"] == "10" && refused.string("code") == "too_many")
        #expect(refused.string("type") == "error" && refused["Cache-Control"] == "no-store")
        #expect(try await server.state().step == "connect")
        #expect(try await server.send(.turnOn, try await server.state("ada"), as: "ada").status == 200)
        now.withLock { $0 += 10 }
        #expect(try await server.send(.turnOn, try await server.state()).step == "email")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("trying and retrying addresses does not reveal which have an IFTTT account")
    func lookUps() async throws {
        let (world, server, transport) = try await start {
            $0.limits.accountLookUps = try Rate(burst: 2, interval: .seconds(60))
        }
        for guess in ["one@example.test", "two@example.test"] {
            let email = try await server.send(.turnOn, try await server.state())
            let away = try await server.send(.email(guess), email)
            #expect(away.open != nil)
            _ = try await server.send(.cancel, away)
        }
        let email = try await server.send(.turnOn, try await server.state())
        let refused = try await post(server, email, .email("three@example.test"), "new")
        #expect(refused.status == 429 && refused["Retry-After"] == "60" && refused.string("code") == "too_many")
        #expect(transport.sent.count { $0.path == "/v2/account/find" } == 2)
        // The field is as it was, and what is no address costs nothing.
        #expect(try await server.send(.email("no address"), email).failure == "invalid_email")
        now.withLock { $0 += 60 }
        let again = try await server.send(.email("three@example.test"), try await server.state())
        #expect(again.open != nil)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a rate that is none is told when the app starts", arguments: [(0, 1.0), (-5, 1), (1, 0), (1, -1), (1, 1e9)])
    func odd(burst: Int, interval: Double) {
        #expect(throws: HandshakeServerError.self) { try Rate(burst: burst, interval: .seconds(interval)) }
    }

    @Test("settings with which nothing works make no routes, and say what is wrong")
    func settings() async throws {
        let world = try await World.start()
        let changes: [(String, @Sendable (inout ConnectButtonSettings) -> Void)] = [
            ("freshness", { $0.freshness = .seconds(-1) }), ("requestTimeout", { $0.requestTimeout = .zero }),
            ("streams", { $0.streams.interval = .zero }), ("streams", { $0.streams.userInterval = .seconds(1e9) }),
            ("streams", { $0.streams.maximumCount = 0 }), ("streams", { $0.streams.restingInterval = .seconds(-3) }),
            ("analytics", { $0.analytics = ConnectAnalytics(in: MemoryVault()) }),
        ]
        for (member, change) in changes {
            var settings = try world.standardSettings()
            change(&settings)
            await #expect { try await world.buttons(settings) } throws: { error in
                if case HandshakeServerError.configuration(member, _) = error { true } else { false }
            }
        }
        await world.sandbox.stop()
    }

    @Test("accounts without IFTTT make no routes")
    func accounts() throws {
        let service = Service.recurseCenter.at(
            try EndpointURL("http://127.0.0.1:1", security: .allowingInsecureLoopback))
        let settings = try ConnectButtonSettings(
            at: try PublicAddress(World.address), offering: [ConnectButtonOffer(try ConnectionID("aB3dE5fG"))],
            tokens: { _ in .redirect })
        let accounts = try Handshake(Client(service: service, id: "x"), vault: MemoryVault())
        #expect(throws: HandshakeServerError.self) {
            try ConnectButtonRoutes<BasicRequestContext>(settings, accounts: accounts) { _, _ in nil }
        }
    }

    @Test("a user needs an identifier")
    func missingIdentifier() {
        #expect(throws: HandshakeServerError.self) { try ConnectButtonUser(id: "") }
    }

    @Test("a lifetime of attempts that is none is told when the app starts, and one that is counts")
    func lifetime() async throws {
        for seconds in [0.0, -1, 1e9] {
            var offer = ConnectButtonOffer(try ConnectionID("aB3dE5fG"))
            offer.attemptLifetime = .seconds(seconds)
            #expect(throws: HandshakeServerError.self) {
                try ConnectButtonSettings(
                    at: try PublicAddress(World.address), offering: [offer], tokens: { _ in .redirect })
            }
        }
        let world = try await World.start(
            time: TimeSource(now: { [self] in now.withLock { $0 } }, clock: ContinuousClock()))
        let server = try await world.buttons(try world.settings { $0.attemptLifetime = .seconds(86_400) })
        let (_, url) = try await server.leave()
        now.withLock { $0 += 7200 }
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        #expect(try await server.state().step == "connected")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("F008: a tap counts however long ago the user's last action was, for what is shown has not changed")
    func tapAfterLifetime() async throws {
        let world = try await World.start(
            time: TimeSource(now: { [self] in now.withLock { $0 } }, clock: ContinuousClock()))
        var settings = try world.standardSettings()
        settings.freshness = .seconds(86_400)
        let server = try await world.buttons(settings)
        let (_, url) = try await server.leave()
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        now.withLock { $0 += 3000 }
        let page = try await server.state()
        #expect(page.step == "connected")
        now.withLock { $0 += 700 }
        #expect(try await server.send(.turnOff, page).step == "confirm_disconnect")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a time for taking back that is no time is told when the app starts", arguments: [-1, .infinity, .nan])
    func undoTime(seconds: Double) throws {
        var offer = ConnectButtonOffer(try ConnectionID("aB3dE5fG"))
        offer.disconnection = .undoable(seconds: seconds)
        #expect(throws: HandshakeServerError.self) {
            try ConnectButtonSettings(
                at: try PublicAddress(World.address), offering: [offer], tokens: { _ in .redirect })
        }
    }
}
