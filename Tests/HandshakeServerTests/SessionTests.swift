import ConnectButton
import Foundation
import Handshake
import IFTTTConnect
import OAuth
import Sandbox
import Synchronization
import Testing

@testable import HandshakeServer

@Suite("What a server keeps of a button")
struct SessionTests {
    @Test("a look that finds what was known writes nothing")
    func quiet() async throws {
        let vault = WatchedVault()
        let world = try await World.start(vault: vault)
        var settings = try world.standardSettings()
        settings.freshness = .seconds(3600)
        let server = try await world.buttons(settings)
        let first = try await server.state()
        let writes = vault.writes
        #expect(!writes.isEmpty)
        #expect(try await server.state().revision == first.revision)
        #expect(vault.writes == writes)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("W1: a clock that was set back makes nobody wait for longer than was said")
    func clockSetBack() async throws {
        let now = Mutex(1_735_689_600.0)
        let world = try await World.start(time: TimeSource(now: { now.withLock { $0 } }, clock: ContinuousClock()))
        let server = try await world.buttons(try world.settings { $0.disconnection = .undoable(seconds: 30) })
        let (_, url) = try await server.leave()
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        let answer = try await server.send(.turnOff, try await server.state())
        #expect(answer["state", "undo", "remaining"] == .number("30"))
        now.withLock { $0 -= 86_400 }
        #expect(try await server.settledState().step == "disconnected")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a time for taking back that no clock has stops no server")
    func endless() async throws {
        let world = try await World.start()
        let server = try await world.buttons(try world.settings { $0.disconnection = .undoable(seconds: 1e300) })
        let (_, url) = try await server.leave()
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        let answer = try await server.send(.turnOff, try await server.state())
        #expect(answer.step == "disconnecting")
        #expect(try await server.send(.undo, answer).step == "connected")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a clock that was set back while a user is at IFTTT keeps that user's attempt")
    func attemptKept() async throws {
        let now = Mutex(1_735_689_600.0)
        let world = try await World.start(time: TimeSource(now: { now.withLock { $0 } }, clock: ContinuousClock()))
        let server = try await world.buttons()
        let (_, url) = try await server.leave()
        now.withLock { $0 -= 86_400 }
        #expect(try await server.state().step == "going_to_service")
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        #expect(try await server.state().step == "connected")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("the address that the user was sent to is kept while the user is there, and no longer")
    func destination() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let place = ConnectSessions.Place(
            user: try ConnectButtonUser(id: "new"), offer: try #require(server.routes.sessions.settings.offers.first))
        let (away, url) = try await server.leave()
        #expect(try await server.routes.sessions.peek(at: place)?.destination == url)
        _ = try await server.send(.cancel, away)
        #expect(try await server.routes.sessions.peek(at: place)?.destination == nil)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("what the app has changed of its settings, or the user's address, holds for a session from before")
    func changedSettings() async throws {
        let world = try await World.start()
        let before = try await world.buttons()
        #expect(try await before.state().step == "connect")
        await before.server.stop()
        let server = try await world.buttons(try world.settings { $0.skipsConfiguration = true }) { _ in
            try ConnectButtonUser(id: "new", suggestedEmail: "moved@example.test")
        }
        let answer = try await server.send(.turnOn, try await server.state())
        #expect(answer.step == "email" && answer.text.contains("moved@example.test"))
        let (_, url) = try await server.leave()
        #expect(url.contains("skip_config=true"))
        await server.server.stop()
        await world.sandbox.stop()
    }
}
