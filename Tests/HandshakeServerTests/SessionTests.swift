import ConnectButton
import Foundation
import Handshake
import IFTTTConnect
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("What a server keeps of a button", .heavy)
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

    @Test("W1: a clock that was set back does not prolong a deadline")
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

    @Test("W13: who goes to IFTTT again brings a fresh one-time code, and none rests in between")
    func freshCode() async throws {
        let world = try await World.start()
        let codes = Mutex(["one-time-1", "one-time-2"])
        var settings = try world.standardSettings()
        settings.oauthCode = { _ in Secret(codes.withLock { $0.removeFirst() }) }
        let server = try await world.buttons(settings)
        let (away, url) = try await server.leave()
        let again = try #require(try await server.send(.proceed, away).open)
        #expect(url.contains("code=one-time-1"))
        #expect(again == url.replacing("one-time-1", with: "one-time-2"))
        for key in try await world.vault.keys(of: .activation).keys {
            let record = try #require(try await world.vault.record(key))
            #expect(!String(decoding: record, as: UTF8.self).contains("one-time"))
        }
        #expect(try await server.visit(try await world.sandbox.activate(again, as: "new@example.test")).status == 303)
        #expect(try await server.state().step == "connected")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("F015: each refusal is a revision, and a notice that has passed makes no message stale")
    func notice() async throws {
        let now = Mutex(1_735_689_600.0)
        let world = try await World.start(time: TimeSource(now: { now.withLock { $0 } }, clock: ContinuousClock()))
        let server = try await world.buttons()
        let field = try await server.send(.turnOn, try await server.state())
        let first = try await server.send(.email("ada at example"), field)
        let second = try await server.send(.email("ada at example"), first)
        #expect(first.failure == "invalid_email" && first["state", "refusals"] == .number("1"))
        #expect(second.failure == "invalid_email" && second["state", "refusals"] == .number("2"))
        #expect(second.revision > first.revision)
        now.withLock { $0 += 3 }
        let calm = try await server.state()
        #expect(calm.failure == nil && calm.step == "email" && calm.revision > second.revision)
        #expect(try await server.send(.email("old@example.test"), first).step == "email", "that was long ago")
        let away = try await server.send(.email("new@example.test"), second)
        #expect(away.step == "going_to_service" && away.open != nil)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("W10: a token that has expired while the button was on leads to connecting again, which works")
    func expiredWhileOn() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let (_, url) = try await server.leave()
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        let asked = try await server.send(.turnOff, try await server.state())
        try await server.routes.userTokens(for: .init(id: "new")).store(
            try requireValue(UserToken(Secret("utk_sandbox_revoked"))))
        var answer = try await server.send(.disconnect, asked)
        #expect(answer.step == "connect" && answer.failure == "sign_in_expired")
        answer = try await server.send(.retry, answer)
        answer = try await server.send(.email("new@example.test"), answer)
        let again = try requireValue(answer.open)
        _ = try await server.visit(try await world.sandbox.activate(again, as: "new@example.test"))
        answer = try await server.state()
        #expect(answer.step == "connected" && answer.failure == nil)
        answer = try await server.send(.disconnect, try await server.send(.turnOff, answer))
        #expect(answer.step == "disconnected")
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
