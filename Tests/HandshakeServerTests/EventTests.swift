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

@Suite("The button's routes", .heavy)
struct EventTests {
    @Test("F012–F021, F030: a new user goes from the first look to connected, and the token rests in the vault")
    func newUser() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        #expect(try await server.state().step == "connect")
        let (away, url) = try await server.leave()
        #expect(away.step == "going_to_service" && url.hasPrefix(world.sandbox.ifttt.origin + "/access/api/aB3dE5fG?"))
        let redirect = try await world.sandbox.activate(url, as: "new@example.test")
        let back = try await server.visit(redirect)
        #expect(back.status == 303 && back["Location"] == "/garden")
        #expect(back["Referrer-Policy"] == "no-referrer" && back["Cache-Control"] == "no-store" && back.body.isEmpty)
        #expect(try await server.state().step == "connected")
        let token = try await server.routes.userTokens(for: .init(id: "new")).token()
        #expect(try #require(token).secret.reveal().isEmpty == false)
        // What the token says is IFTTT's and stays there: no page and no answer has it.
        #expect(try await !server.state().text.contains(try #require(token).secret.reveal()))
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("F038, F040, W1: turning off asks, can be declined, and is then said")
    func turnOff() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        try await connect(world, server)
        var answer = try await server.send(.turnOff, try await server.state())
        #expect(answer.step == "confirm_disconnect")
        answer = try await server.send(.keep, answer)
        #expect(answer.step == "connected")
        answer = try await server.send(.disconnect, try await server.send(.turnOff, answer))
        #expect(answer.step == "disconnected" && world.sandbox.iftttLog(.webhooks).last?.contains("disabled") == true)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("W15: a connection without configuration is pending until the app says that it is configured")
    func pending() async throws {
        let world = try await World.start()
        let server = try await world.buttons(try world.settings { $0.skipsConfiguration = true })
        try await connect(world, server)
        #expect(try await server.state().step == "pending")
        let id = try ConnectionID("aB3dE5fG")
        let zone = UserConnection.UserField(id: "zone", value: .text("zone-7"))
        let area = try #require(
            LocationValue(latitude: 52.52, longitude: 13.405, radius: 200, address: "Sample Square 1"))
        let feature = UserConnection.UserFeature(
            featureID: "ft01",
            triggers: [.init(componentID: "tr01", fields: [.init(id: "location", value: .location(area))])],
            actions: [.init(componentID: "ac01", fields: [zone])])
        _ = try await ConnectService(key: world.serviceKey, at: try world.hosts()).update(
            id, to: UserConnection(features: [feature]), for: "garden-1005")
        try await server.routes.configurationSaved(id, for: .init(id: "new"))
        #expect(try await server.state().step == "connected")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("W1: a disconnection can be taken back for its time, and is done after it, also by another server")
    func undo() async throws {
        let now = Mutex(1_735_689_600.0)
        let world = try await World.start(time: TimeSource(now: { now.withLock { $0 } }, clock: ContinuousClock()))
        let settings = try world.settings { $0.disconnection = .undoable(seconds: 3600) }
        let (server, other) = (try await world.buttons(settings), try await world.buttons(settings))
        try await connect(world, server)
        var answer = try await server.send(.turnOff, try await server.state())
        #expect(answer.step == "disconnecting" && answer["state", "undo", "remaining"] == .number("3600"))
        now.withLock { $0 += 600 }
        #expect(try await server.state()["state", "undo", "remaining"] == .number("3000"))
        answer = try await server.send(.undo, answer)
        #expect(answer.step == "connected")
        answer = try await server.send(.turnOff, answer)
        now.withLock { $0 += 3600 }
        // The page is closed; only another server's visitor asks.
        #expect(try await other.settledState().step == "disconnected")
        await server.server.stop()
        await other.server.stop()
        await world.sandbox.stop()
    }

    @Test("a double tap and a second tab change nothing and are told how it stands")
    func doubleTap() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let page = try await server.state()
        let first = try await server.send(.turnOn, page)
        let second = try await server.send(.turnOn, page)
        #expect(first.step == "email" && second.step == "email" && second.revision == first.revision)
        let away = try await server.send(.email("new@example.test"), second)
        let late = try await server.send(.email("other@example.test"), second)
        #expect(away.open != nil && late.open == nil && late.step == "going_to_service")
        #expect(try await server.send(.proceed, late).open == away.open)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a turn-on that is repeated on the way begins one attempt, also where the attempt has ended meanwhile")
    func repeated() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let page = try await server.state()
        async let one = server.send(.turnOn, page)
        async let other = server.send(.turnOn, page)
        let answers = try await [one, other]
        #expect(answers.map(\.step) == ["email", "email"] && answers[0].revision == answers[1].revision)
        let ended = try await server.send(.cancel, answers[0])
        #expect(ended.step == "connect")
        let late = try await server.send(.turnOn, page)
        #expect(late.step == "connect" && late.revision == ended.revision, "it is the attempt that was cancelled")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a turn-on that the component repeats begins nothing once the user has cancelled, and is heard otherwise")
    func repeatedByComponent() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let page = try await server.state()
        let asked = try await server.send(.turnOn, page)
        // A question is no decision: the other page, which shows "Connect", takes it over.
        let (seen, elsewhere) = (page.revision, "page-2")
        let other = try await server.sendNow(.turnOn, asked, on: elsewhere, since: seen)
        #expect(other.step == "email" && other.revision > asked.revision)
        let ended = try await server.sendNow(.cancel, other, on: elsewhere)
        #expect(ended.step == "connect")
        for since in [seen, other.revision] {
            let repeated = try await server.sendNow(.turnOn, ended, since: since)
            #expect(repeated.step == "connect" && repeated.revision == ended.revision)
        }
        #expect(try await server.sendNow(.turnOn, ended, since: ended.revision).step == "email")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("W9: two attempts differ in their state, and the earlier one's redirect no longer counts")
    func attempts() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let (away, url) = try await server.leave()
        let early = try await world.sandbox.activate(url, as: "new@example.test")
        _ = try await server.send(.cancel, away)
        let (_, later) = try await server.leave()
        #expect(later != url)
        #expect(try await server.visit(early)["Location"] == "/connect/return/refused")
        #expect(try await server.state().step == "going_to_service")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test(
        "what is no message of this user's page is refused and changes nothing",
        arguments: [
            ("cross_site", 403, ["Origin": "https://evil.example"]), ("cross_site", 403, ["Origin": "null"]),
            ("cross_site", 403, ["Sec-Fetch-Site": "cross-site"]), ("cross_site", 403, ["Sec-Fetch-Site": "same-site"]),
            ("unauthorized", 401, ["Cookie": ""]), ("stale_token", 403, ["Cookie": "user=ada"]),
            ("unsupported_media_type", 415, ["Content-Type": "text/plain"]),
            ("unsupported_media_type", 415, ["Content-Type": "application/x-www-form-urlencoded"]),
        ])
    func refused(code: String, status: Int, headers: [String: String]) async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let page = try await server.state()
        let answer = try await server.send(.turnOn, page, headers: headers)
        #expect(answer.status == status && answer.code == code)
        let now = try await server.state()
        #expect(now.revision == page.revision && now.step == "connect")
        #expect(try await server.send(.turnOn, page, headers: ["Origin": "https://groceries.example"]).step == "email")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test(
        "what is no message at all is refused",
        arguments: [
            ("", 400), ("{", 400), ("[]", 400), (#"{"event":"turn_on"}"#, 400),
            (#"{"event":"explode","revision":1,"token":"x"}"#, 400), (String(repeating: "x", count: 5000), 413),
            (#"{"event":"email","email":"a@b.c\r\nX: y","revision":-9223372036854775808,"token":"\u0000"}"#, 403),
        ])
    func malformed(body: String, status: Int) async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let answer = try await server.wire.send(
            "POST", "/connect/aB3dE5fG/events", headers: ["Cookie": "user=new", "Content-Type": "application/json"],
            body: body)
        #expect(answer.status == status && answer.string("type") == "error")
        #expect(try await server.wire.send("GET", "/connect/unknown1").status == 404)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("a client that never ends its message is sent away")
    func slowClient() async throws {
        let world = try await World.start()
        var settings = try world.standardSettings()
        settings.requestTimeout = .milliseconds(50)
        let server = try await world.buttons(settings)
        let head =
            "POST /connect/aB3dE5fG/events HTTP/1.1\r\nHost: x\r\nCookie: user=new\r\nContent-Type: application/json\r\n"
            + "Content-Length: 100\r\n\r\n{\"event\""
        let answer = try await server.wire.exchange(Array(head.utf8), limit: 32)
        #expect(String(decoding: answer, as: UTF8.self).contains("408"))
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("W10: a token that IFTTT no longer takes does not keep the button from being shown")
    func expiredToken() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let tokens = try server.routes.userTokens(for: .init(id: "ada"))
        try await tokens.store(try #require(UserToken(Secret("utk_sandbox_revoked"))))
        #expect(try await server.state("ada").step == "connect")
        #expect(try await tokens.token() == nil)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("W6: an IFTTT that does not answer is said, and trying again helps when it does")
    func loadingFailed() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        world.sandbox.inject(try FaultRule(parsing: "GET /v2/connections/* => status 503"))
        let failed = try await server.state()
        #expect(failed.step == "loading_failed" && failed.failure == "unavailable")
        world.sandbox.clearFaults()
        #expect(try await server.send(.retry, failed).step == "connect")
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("F104: the button's locale is negotiated, and is the locale of IFTTT's pages")
    func locale() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let german = try await server.wire.send(
            "GET", "/connect/aB3dE5fG", headers: ["Cookie": "user=new", "Accept-Language": "de-AT,en;q=0.5"])
        #expect(german.string("locale") == "de")
        let own = try await server.wire.send(
            "GET", "/connect/aB3dE5fG?locale=ja", headers: ["Cookie": "user=new", "Accept-Language": "de"])
        #expect(own.string("locale") == "ja")
        let answer = try ButtonAnswer(own)
        let email = try await server.send(.turnOn, answer, locale: "ja")
        #expect(
            try await server.send(.email("new@example.test"), email, locale: "ja").open?.contains("locale=ja") == true)
        await server.server.stop()
        await world.sandbox.stop()
    }

    @Test("the component is served whole, with a tag that spares sending it again")
    func component() async throws {
        let world = try await World.start()
        let server = try await world.buttons()
        let script = try await server.wire.send("GET", "/connect/connect-button.js")
        #expect(Data(script.body) == ConnectButtonScript.javaScript && script["X-Content-Type-Options"] == "nosniff")
        #expect(script["Content-Type"] == "text/javascript; charset=utf-8")
        #expect(script["Cache-Control"] == "public, no-cache")
        let tag = try #require(script["ETag"])
        for known in [tag, "W/\(tag)", "\"other\", \(tag)"] {
            let again = try await server.wire.send(
                "GET", "/connect/connect-button.js", headers: ["If-None-Match": known])
            #expect(again.status == 304 && again.body.isEmpty)
        }
        await server.server.stop()
        await world.sandbox.stop()
    }

    private func connect(_ world: World, _ server: ButtonServer) async throws {
        let (_, url) = try await server.leave()
        #expect(try await server.visit(try await world.sandbox.activate(url, as: "new@example.test")).status == 303)
    }
}
