import ConnectButton
import Foundation
import IFTTTConnect
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import HandshakeServer

/// What a page is told, and what its user can take back, while IFTTT has not answered.
@Suite("A button while IFTTT is at work", .heavy)
struct WaitingTests {
    /// A world with a server that is answered, and one on the same vault that is answered when the test says so.
    private func servers() async throws -> (World, ButtonServer, slow: ButtonServer, HeldTransport) {
        let world = try await World.start()
        let held = HeldTransport()
        var settings = try world.standardSettings()
        settings.transport = held
        return (world, try await world.buttons(), try await world.buttons(settings), held)
    }

    private func end(_ world: World, _ servers: ButtonServer...) async {
        for server in servers { await server.server.stop() }
        await world.sandbox.stop()
    }

    private func seen(_ server: ButtonServer, on page: String) async throws -> ButtonAnswer {
        try ButtonAnswer(
            try await server.wire.send("GET", "/connect/aB3dE5fG?page=\(page)", headers: ["Cookie": "user=new"]))
    }

    @Test(
        "F016: an address is answered with verifying before IFTTT has answered; what it answers after Cancel leads nowhere"
    )
    func cancelWhileVerifying() async throws {
        let (world, server, slow, held) = try await servers()
        let email = try await server.send(.turnOn, try await server.state())
        let verifying = try await slow.sendNow(.email("new@example.test"), email)
        #expect(verifying.step == "verifying" && verifying["state", "isCancellable"] == .bool(true))
        #expect(try await slow.sendNow(.cancel, verifying).step == "connect")
        held.answer()
        try await slow.settle()
        let after = try await server.state()
        #expect(after.step == "connect" && after["canOpen"] == .bool(false))
        await end(world, server, slow)
    }

    @Test("F019: the new account is told while the app makes its code; a code that comes after Cancel leads nowhere")
    func cancelWhileCreatingAccount() async throws {
        let world = try await World.start()
        let (asked, given) = (Gate(), Gate())
        var settings = try world.standardSettings()
        settings.oauthCode = { _ in
            asked.open()
            await given.wait()
            return Secret("late-code")
        }
        let server = try await world.buttons(settings)
        let email = try await server.send(.turnOn, try await server.state())
        #expect(try await server.sendNow(.email("new@example.test"), email).step == "verifying")
        await asked.wait()
        let creating = try await server.state()
        #expect(creating.step == "creating_account" && creating["state", "isCancellable"] == .bool(true))
        #expect(Self.footer(creating).contains("new@example.test"), "the user is told whose account is made")
        #expect(creating["canOpen"] == .bool(false))
        #expect(try await server.sendNow(.cancel, creating).step == "connect")
        given.open()
        try await server.settle()
        let after = try await server.state()
        #expect(after.step == "connect" && after["canOpen"] == .bool(false) && after.failure == nil)
        #expect(!after.text.contains("late-code"))
        #expect(try await server.sendNow(.proceed, after).open == nil)
        await end(world, server)
    }

    @Test("F040: disconnecting is answered immediately, and Keep turns on again what IFTTT turned off")
    func keepWhileDisconnecting() async throws {
        let (world, server, slow, held) = try await servers()
        let (_, url) = try await server.leave()
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        let asked = try await slow.sendNow(.turnOff, try await server.state())
        let disconnecting = try await slow.sendNow(.disconnect, asked)
        #expect(disconnecting.step == "disconnecting" && disconnecting["state", "isCancellable"] == .bool(true))
        #expect(try await slow.sendNow(.keep, disconnecting).step == "connecting")
        held.answer()
        try await slow.settle()
        #expect(try await server.state().step == "connected")
        let events = world.sandbox.iftttLog(.webhooks).suffix(2).map { $0.contains("disabled") }
        #expect(events == [true, false], "it was off, and is on again")
        await end(world, server, slow)
    }

    @Test("Cancel counts for what has gone on since the user saw it")
    func cancelOfAnEarlierStep() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let email = try await server.send(.turnOn, try await server.state())
        let away = try await server.send(.email("new@example.test"), email)
        #expect(away.step == "going_to_service" && away.revision > email.revision)
        #expect(try await server.sendNow(.cancel, email).step == "connect")
        // A message that does not cancel is about what is no longer so.
        #expect(try await server.sendNow(.email("new@example.test"), email).step == "connect")
        await end(world, server)
    }

    @Test("the email step is shown on the page that asks, and on no other")
    func otherPage() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let email = try await server.sendNow(.turnOn, try await server.state())
        #expect(email.step == "email")
        try await server.settle()
        let other = try await seen(server, on: "page-2")
        #expect(other.step == "connect")
        #expect(try await server.sendNow(.turnOn, other, on: "page-2").step == "email")
        #expect(try await seen(server, on: "page-1").step == "connect")
        #expect(try await seen(server, on: "page-2").step == "email")
        await end(world, server)
    }

    @Test("whether to disconnect is asked on one page; another asks when its user turns it off there")
    func otherPageAsks() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let (_, url) = try await server.leave()
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        let asked = try await server.sendNow(.turnOff, try await server.state())
        #expect(asked.step == "confirm_disconnect")
        let other = try await seen(server, on: "page-2")
        #expect(other.step == "connected")
        let askedThere = try await server.sendNow(.turnOff, other, on: "page-2")
        #expect(askedThere.step == "confirm_disconnect")
        #expect(try await seen(server, on: "page-1").step == "connected")
        #expect(try await server.sendNow(.disconnect, asked).step == "connected", "its question was taken back")
        #expect(try await server.sendNow(.disconnect, askedThere, on: "page-2").step == "disconnecting")
        try await server.settle()
        #expect(try await seen(server, on: "page-1").step == "disconnected")
        await end(world, server)
    }

    @Test("only the page that began is sent on, and once")
    func onlyOnce() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let email = try await server.send(.turnOn, try await server.state())
        _ = try await server.sendNow(.email("new@example.test"), email)
        try await server.settle()
        let ready = try await server.state()
        #expect(ready["canOpen"] == .bool(true) && ready.open == nil)
        #expect(try await seen(server, on: "page-2")["canOpen"] == .bool(false))
        #expect(try await server.sendNow(.proceed, ready).open != nil)
        #expect(try await server.state()["canOpen"] == .bool(false))
        await end(world, server)
    }

    private static func footer(_ answer: ButtonAnswer) -> String {
        (answer["face", "footer"]?.array ?? []).compactMap { $0.object?["text"]?.string }.joined()
    }

    @Test("F032: Back is Connect, and the redirect of a mail's link counts all the same")
    func back() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let (away, url) = try await server.leave()
        #expect(
            Self.footer(away).contains("new@example.test"), "on the way there, the user is told whose account is made")
        #expect(Self.footer(try await server.state()) == "Finish there, then come back here.", "the page is open")
        #expect(try await server.sendNow(.returned, away).step == "connect")
        _ = try await server.visit(try await world.sandbox.activate(url, as: "new@example.test"))
        #expect(try await server.state().step == "connected")
        await end(world, server)
    }
}
