import ConnectButton
import Handshake
import Hummingbird
import IFTTTConnect
import Sandbox
import Synchronization
import Testing
import WireFixtures

@testable import HandshakeServer

@Suite("How often a user may ask")
final class LimitTests: Sendable {
    private let now = Mutex(1_735_689_600.0)

    private func start(
        _ limit: (inout ConnectButtonSettings) -> Void
    ) async throws -> (world: World, server: ButtonServer, transport: WatchedTransport) {
        let transport = WatchedTransport()
        let world = try await World.start(
            time: TimeSource(now: { [self] in now.withLock { $0 } }, clock: ContinuousClock()))
        var settings = try world.standardSettings()
        settings.transport = transport
        limit(&settings)
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
        let (world, server, _) = try await start { $0.limits.messages = .init(burst: 2, interval: 10) }
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

    @Test("nobody finds out address by address who has an IFTTT account, by trying or by trying again")
    func lookUps() async throws {
        let (world, server, transport) = try await start { $0.limits.accountLookUps = .init(burst: 2, interval: 60) }
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

    @Test(
        "limits that are no numbers are limits all the same",
        arguments: [(0, 0), (-5, -1), (1, Double.nan), (1, .infinity), (.max, 1e300)])
    func odd(burst: Int, interval: Double) {
        let limit = RateLimit(ConnectButtonSettings.Rate(burst: burst, interval: interval))
        #expect(limit.take("ada", now: 1_000) == nil)
        if burst < 2 { #expect(limit.take("ada", now: 1_000).map { (1...86_400).contains($0) } ?? false) }
    }

    @Test("a time for taking back that is no time is told when the app starts", arguments: [-1, .infinity, .nan])
    func undoTime(seconds: Double) throws {
        var offer = ConnectButtonOffer(try ConnectionID("aB3dE5fG"))
        offer.disconnection = .undoable(seconds: seconds)
        #expect(throws: HandshakeServerError.self) {
            try ConnectButtonSettings(at: try PublicAddress(World.address), offering: [offer])
        }
    }
}
