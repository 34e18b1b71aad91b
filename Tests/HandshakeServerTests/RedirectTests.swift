import ConnectButton
import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import IFTTTConnect
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("Redirects at the return route", .heavy)
struct RedirectTests {
    /// A user on the way, and the redirect that is to come.
    private func begin(
        _ user: String = "new", at connection: String = "aB3dE5fG"
    ) async throws -> (world: World, server: ButtonServer, redirect: String) {
        let world = try await World.start()
        let server = try await world.buttons()
        let (_, url) = try await server.leave(user)
        return (world, server, try await world.sandbox.activate(url, as: "\(user)@example.test"))
    }

    @Test(
        "W9: an injected token is rejected and not stored",
        arguments: [
            "connection=aB3dE5fG&next_step=complete&user_token=THEIRS",
            "connection=aB3dE5fG&state=&next_step=complete&user_token=THEIRS",
            "connection=aB3dE5fG&state=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA&next_step=complete&user_token=THEIRS",
            "connection=aB3dE5fG&state=a&state=b&next_step=complete&user_token=THEIRS",
            "connection=aB3dE5fG&state=%ff&next_step=complete&user_token=THEIRS",
            "connection=mAnyFt05&state=a&next_step=complete&user_token=THEIRS",
            "connection=none0000&next_step=complete&user_token=THEIRS", "next_step=complete&user_token=THEIRS",
            "connection=aB3dE5fG%0d%0aSet-Cookie:%20user=evil&next_step=complete&user_token=THEIRS",
        ])
    func injected(query: String) async throws {
        let (world, server, redirect) = try await begin()
        let answer = try await server.visit("/connect/return?\(query)")
        // A connection without an attempt awaits no redirect: that user's page shows the state.
        let place = query.hasPrefix("connection=mAnyFt05") ? "/garden" : "/connect/return/refused"
        #expect(answer.status == 303 && answer["Location"] == place && answer["Set-Cookie"] == nil)
        #expect(try await server.visit("/connect/return/refused").status == 400)
        #expect(try await server.routes.userTokens(for: .init(id: "new")).token() == nil)
        #expect(try await server.state().step == "going_to_service")
        // And the real one still counts.
        #expect(try await server.visit(redirect).status == 303)
        #expect(try await server.state().step == "connected")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("login forgery: an attacker's own redirect, in another user's browser, connects no user")
    func forgedLogin() async throws {
        let (world, server, redirect) = try await begin("edsger")
        _ = try await server.state("ada")
        #expect(try await server.visit(redirect, as: "ada").status == 303)
        #expect(try await server.routes.userTokens(for: .init(id: "ada")).token() == nil)
        _ = try await server.leave("ada")
        #expect(try await server.visit(redirect, as: "ada")["Location"] == "/connect/return/refused")
        #expect(try await server.routes.userTokens(for: .init(id: "ada")).token() == nil)
        // Without a signed-in user the page asks for the log-in, at a URL without the token.
        let unknown = try await server.visit(redirect, as: nil)
        #expect(unknown.status == 303 && unknown["Location"] == "/garden" && !unknown.text.contains("user_token"))
        #expect(try await server.visit(redirect, as: "edsger").status == 303)
        #expect(try await server.state("edsger").step == "connected")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test(
        "a redirect without a signed-in user is not kept: an attacker may have led another person there")
    func strangersRedirect() async throws {
        // Edsger has begun, and sent the link to IFTTT to another person, who returns without a log-in here.
        let (world, server, redirect) = try await begin("edsger")
        let back = try await server.visit(redirect, as: nil)
        #expect(back.status == 303 && back["Location"] == "/garden" && back["Set-Cookie"] == nil)
        #expect(try await server.settledState("edsger").step == "going_to_service")
        #expect(try await server.routes.userTokens(for: .init(id: "edsger")).token() == nil)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a redirect counts once; its replay and its back button change nothing")
    func replay() async throws {
        let (world, server, redirect) = try await begin()
        #expect(try await server.visit(redirect).status == 303)
        let before = try await server.state()
        let forged = redirect.replacing(/user_token=[^&]*/, with: "user_token=THEIRS")
        for again in [redirect, forged, redirect] {
            let answer = try await server.visit(again)
            #expect(answer.status == 303 && answer["Location"] == "/garden")
        }
        let token = try #require(try await server.routes.userTokens(for: .init(id: "new")).token())
        #expect(token.secret.reveal() != "THEIRS")
        #expect(try await server.state().revision == before.revision)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("F043: what the user finishes at IFTTT after Cancel in another tab is shown, with its token, and counts once")
    func finishedAfterCancel() async throws {
        let (world, server, redirect) = try await begin()
        #expect(try await server.sendNow(.cancel, try await server.state()).step == "connect")
        #expect(try await server.visit(redirect)["Location"] == "/garden")
        let shown = try await server.state()
        #expect(shown.step == "connected" && shown.failure == nil)
        let token = try #require(try await server.routes.userTokens(for: .init(id: "new")).token())
        let forged = redirect.replacing(/user_token=[^&]*/, with: "user_token=THEIRS")
        #expect(try await server.visit(forged)["Location"] == "/garden")
        #expect(try await server.routes.userTokens(for: .init(id: "new")).token() == token)
        #expect(try await server.state().revision == shown.revision)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("where the vault fails the browser is told on a page, without the redirect in it, and may try again")
    func vaultFails() async throws {
        let vault = WatchedVault()
        let world = try await World.start(vault: vault)
        let server = try await world.buttons()
        let (_, url) = try await server.leave()
        let redirect = try await world.sandbox.activate(url, as: "new@example.test")
        vault.fail { _ in .busy("a record") }
        let page = try await server.visit(redirect)
        #expect(page.status == 503 && page["Retry-After"] == "5" && page["Location"] == nil)
        #expect(page.text.contains("<!doctype html>") && !page.text.contains("user_token"))
        vault.fail(nil)
        #expect(try await server.visit(redirect)["Location"] == "/garden")
        #expect(try await server.settledState().step == "connected")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("what a request says of its host and scheme decides nothing")
    func host() async throws {
        let (world, server, redirect) = try await begin()
        let target = redirect.replacing("https://groceries.example", with: "")
        let request =
            "GET \(target) HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: http\r\n"
            + "Forwarded: host=evil.example\r\nCookie: user=new\r\nConnection: close\r\n\r\n"
        let answer = String(decoding: try await server.wire.exchange(Array(request.utf8)), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 303") && answer.contains("Location: /garden\r\n"))
        #expect(!answer.contains("evil"))
        try await server.settle()
        #expect(try await server.state().step == "connected")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test(
        "F031–F033: how IFTTT says no is told on the button",
        arguments: [
            ("next_step=error&error_type=account_creation", "account_not_created"),
            ("next_step=user_cancelled_configuration", "cancelled"), ("next_step=error", "interrupted"),
            ("next_step=other", "interrupted"), ("", "interrupted"),
        ])
    func saidNo(items: String, failure: String) async throws {
        let (world, server, redirect) = try await begin()
        let answer = try await server.visit(redirect.replacing(/next_step=.*$/, with: items))
        #expect(answer.status == 303)
        let state = try await server.state()
        #expect(state.failure == failure && state.step == "connect")
        await server.server.stop()
        await world.sandbox.stop()
    }
}

@Suite("Several processes on one vault", .heavy)
struct ProcessTests {
    @Test("what one server has begun, another one finishes, and the first one knows")
    func two() async throws {
        let world = try await World.start()
        let (one, two) = (try await world.buttons(), try await world.buttons())
        let (_, url) = try await one.leave()
        await one.server.stop()
        let redirect = try await world.sandbox.activate(url, as: "new@example.test")
        #expect(try await two.state().step == "going_to_service")
        #expect(try await two.visit(redirect).status == 303)
        let third = try await world.buttons()
        #expect(try await third.state().step == "connected")
        // The anti-forgery token is the session's, not the process's.
        let page = try await two.state()
        #expect(try await third.send(.turnOff, page).step == "confirm_disconnect")
        await two.server.stop()
        await third.server.stop()
        await world.sandbox.stop()
    }

    @Test("two servers that receive the same event concurrently handle it once")
    func race() async throws {
        let world = try await World.start()
        let (one, two) = (try await world.buttons(), try await world.buttons())
        let email = try await one.send(.turnOn, try await one.state())
        async let first = one.send(.email("new@example.test"), email)
        async let second = two.send(.email("new@example.test"), email)
        let answers = try await [first, second]
        #expect(answers.filter { $0.open != nil }.count == 1)
        await one.server.stop()
        await two.server.stop()
        await world.sandbox.stop()
    }

    @Test("what a dead process was at work on goes back to where the user can decide")
    func orphan() async throws {
        // The clock stands still: the lease of half a minute outlives the requests of any machine.
        let world = try await World.start(time: TimeSource(now: { 1_735_689_600 }, clock: ContinuousClock()))
        let server = try await world.buttons()
        let page = try await server.state()
        let sessions = server.routes.sessions
        let place = ConnectSessions.Place(
            user: try ConnectButtonUser(id: "new"), offer: try #require(sessions.settings.offers.first))
        // As a process leaves it that dies while it asks IFTTT.
        try await world.vault.update(place.key) { record in
            let stored = try #require(await record.contents)
            var session = try #require(ConnectSession(stored: stored))
            for event in [ConnectActivation.Event.connect(AttemptState(), at: 0), .confirmEmail("new@example.test")] {
                _ = session.activation.handle(event)
            }
            session.lease = world.time.now() + 30
            try await record.replace(with: try session.stored())
        }
        #expect(try await server.state().step == "verifying")
        try await world.vault.update(place.key) { record in
            let stored = try #require(await record.contents)
            var session = try #require(ConnectSession(stored: stored))
            session.lease = world.time.now() - 1
            try await record.replace(with: try session.stored())
        }
        #expect(try await server.state().step == "connect")
        #expect(try await server.state().token == page.token)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("an unreadable record is replaced")
    func damaged() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        _ = try await server.state()
        for key in try await world.vault.keys(of: .activation).keys {
            try await world.vault.update(key) { try await $0.replace(with: Array("not a session".utf8)) }
        }
        #expect(try await server.state().step == "connect")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("changes made by one server reach the pages of another, and streams are bounded")
    func streams() async throws {
        let clock = ManualClock()
        let world = try await World.start(time: TimeSource(now: { 1_735_689_600 }, clock: clock))
        var settings = try world.standardSettings()
        settings.streams.lifetime = .seconds(2)
        settings.streams.heartbeat = .milliseconds(200)
        settings.streams.maximumPerUser = 2
        let (one, two) = (try await world.buttons(), try await world.buttons(settings))
        let page = try await one.state()
        let listening = Task {
            try await two.wire.send(
                "GET", "/connect/aB3dE5fG/changes?page=\(ButtonServer.page)", headers: ["Cookie": "user=new"])
        }
        let silent = Task {
            try await two.wire.send("GET", "/connect/aB3dE5fG/changes", headers: ["Cookie": "user=new"])
        }
        await clock.sleeper(of: settings.streams.interval, count: 2)
        var third = try await two.wire.send(
            "GET", "/connect/aB3dE5fG/changes", headers: ["Cookie": "user=ada"], limit: 64)
        #expect(third.status == 200)
        _ = try await one.send(.turnOn, page)
        let passing = clock.pass(inStepsOf: settings.streams.interval)
        let heard = try await listening.value
        _ = try await silent.value
        passing.cancel()
        #expect(heard["Content-Type"] == "text/event-stream; charset=utf-8" && heard["Cache-Control"] == "no-store")
        #expect(heard.text.contains(#""step":"connect""#) && heard.text.contains(#""step":"email""#))
        #expect(heard.text.contains("\n:\n\n") && !heard.text.contains(#""open""#))
        third = try await two.wire.send("GET", "/connect/aB3dE5fG/changes", headers: ["Cookie": ""])
        #expect(third.status == 401)
        await one.server.stop()
        await two.server.stop()
        await world.sandbox.stop()
    }

    @Test("a user has so many streams and no more, and gets the places back")
    func places() throws {
        var limits = ConnectButtonSettings.Streams()
        limits.maximumPerUser = 2
        limits.maximumCount = 3
        let streams = ChangeStreams(limits)
        func response(_ user: String) throws -> Response {
            let subject = ChangeStreams.Subject(user: user, look: { nil }, isPresent: { true })
            return try streams.response(watching: subject, time: .system)
        }
        func open(_ user: String) throws -> Int {
            Int(try response(user).status.code)
        }
        do {
            let one = try response("ada")
            let two = try response("ada")
            #expect(throws: RequestRefusal.self) { try open("ada") }
            let three = try response("alan")
            #expect(throws: RequestRefusal.self) { try open("grace") }
            withExtendedLifetime((one, two, three)) {}
        }
        #expect(try open("ada") == 200)
        #expect(try open("grace") == 200)
    }
}
