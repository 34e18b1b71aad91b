import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import OAuth
import Sandbox
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("Sign-in routes", .heavy)
struct SignInTests {
    /// The server is reached at the address that the sandbox's client has registered.
    private static let address = "https://app.example.test"

    private struct Scene {
        let sandbox: Sandbox
        let server: RunningServer
        let handshake: Handshake
        let vault: any Vault
        let wire: WireClient

        /// What a browser asks for from a page of the app.
        func get(_ target: String, _ cookies: [String] = ["user=ada"]) async throws -> WireClient.Answer {
            try await wire.send(
                "GET", target,
                headers: ["Cookie": cookies.joined(separator: "; "), "Sec-Fetch-Site": "same-origin"])
        }

        /// What a browser asks for from another place; nil where it does not say from where.
        func open(_ target: String, from site: String?, as user: String = "ada") async throws -> WireClient.Answer {
            let headers = ["Cookie": "user=\(user)", "Accept": "text/html"]
            return try await wire.send(
                "GET", target, headers: headers.merging(site.map { ["Sec-Fetch-Site": $0] } ?? [:]) { $1 })
        }

        /// The form of the page that asks, posted.
        func post(_ body: String, _ headers: [String: String] = [:]) async throws -> WireClient.Answer {
            let own = ["Cookie": "user=ada", "Content-Type": "application/x-www-form-urlencoded"]
            return try await wire.send("POST", "/standard/start", headers: own.merging(headers) { $1 }, body: body)
        }

        /// Whether nothing of a sign-in is stored, here or in the browser.
        func hasBegunNothing(_ answer: WireClient.Answer) async throws -> Bool {
            try await vault.keys(of: .signIn).keys.isEmpty && answer["Set-Cookie"] == nil && answer["Location"] == nil
        }

        /// The cookies that an answer sets, as a browser sends them back.
        static func cookies(_ answer: WireClient.Answer) -> [String] {
            answer.fields.filter { $0.name.lowercased() == "set-cookie" }.map { String($0.value.prefix { $0 != ";" }) }
        }

        func stop() async {
            await server.stop()
            await sandbox.stop()
        }
    }

    private func scene(
        vault: any Vault = MemoryVault(), transport: any Transport = .platform, time: TimeSource? = nil,
        user: @escaping @Sendable (Request) throws -> String? = { World.user($0)?.id }
    ) async throws -> Scene {
        let sandbox = try await Sandbox.start()
        let client = try World.standardClient(of: sandbox, at: Self.address)
        let handshake = try Handshake(client, vault: vault, transport: transport, time: time ?? .system)
        let router = Router()
        let routes = try SignInRoutes<BasicRequestContext>(
            handshake, at: try PublicAddress(Self.address),
            environment: SignInEnvironment(
                time: time ?? TimeSource(now: { 1_000 }, clock: ContinuousClock()), log: World.log)
        ) { request, _ in try user(request) }
        routes.add(to: router)
        let server = try await RunningServer.start(router)
        return Scene(
            sandbox: sandbox, server: server, handshake: handshake, vault: vault,
            wire: try WireClient(origin: server.origin))
    }

    /// Begins, and says yes at the service.
    private func approved(_ scene: Scene, callback page: String = "/page") async throws -> (String, [String]) {
        let start = try await scene.get("/standard/start?return_to=\(page)")
        #expect(start.status == 303 && start["Referrer-Policy"] == "no-referrer")
        let redirect = try await scene.sandbox.approve(try #require(start["Location"]))
        return (String(redirect.dropFirst(Self.address.count)), Scene.cookies(start))
    }

    @Test("a user connects and disconnects; the grant is the user's own and revoked at the end")
    func whole() async throws {
        let scene = try await scene()
        let (target, cookies) = try await approved(scene)
        let back = try await scene.get(target, ["user=ada"] + cookies)
        #expect(back.status == 303 && back["Location"] == "/page")
        #expect(try await scene.handshake.account("ada") != nil)
        let state = try await scene.get("/standard")
        #expect(state.text.contains(#""connected":true"#) && state.string("state") == "signed_in")
        let answer = try await disconnect(scene, state.string("token") ?? "", ["user=ada"])
        #expect(answer.status == 200 && answer.text.contains("refresh_token"))
        #expect(try await scene.handshake.account("ada") == nil)
        await scene.stop()
    }

    @Test("a sign-in is finished also when the browser, or the server, goes while the code is exchanged")
    func cancelled() async throws {
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let (permissions, permit) = AsyncStream<Void>.makeStream()
        let transport = WatchedTransport { sent in
            guard sent.path.hasSuffix("/token") else { return }
            arrived.finish()
            for await _ in permissions {}
        }
        let scene = try await scene(transport: transport)
        let (target, cookies) = try await approved(scene)
        let visiting = Task { try? await scene.get(target, ["user=ada"] + cookies) }
        for await _ in arrivals {}
        scene.server.cancel()
        permit.finish()
        _ = await visiting.value
        await scene.stop()
        #expect(try await scene.handshake.account("ada") != nil)
    }

    @Test("what the app itself says of who may come is what the browser is told")
    func appRefuses() async throws {
        let scene = try await scene { _ in throw HTTPError(.gone, message: "very secret") }
        let answer = try await scene.get("/standard")
        #expect(answer.status == 410 && answer.string("code") == "refused" && !answer.text.contains("secret"))
        await scene.stop()
    }

    private func disconnect(
        _ scene: Scene, _ token: String, _ cookies: [String], _ headers: [String: String] = [:]
    ) async throws -> WireClient.Answer {
        let all = ["Cookie": cookies.joined(separator: "; "), "Content-Type": "application/json"]
        return try await scene.wire.send(
            "POST", "/standard/disconnect", headers: all.merging(headers) { $1 }, body: #"{"token":"\#(token)"}"#)
    }

    @Test("the cookies are this host's alone, unreadable by scripts and of this site")
    func cookie() async throws {
        let scene = try await scene()
        let start = try await scene.get("/standard/start")
        let fields = start.fields.filter { $0.name.lowercased() == "set-cookie" }.map { $0.value }
        #expect(fields.count == 2)
        for field in fields {
            #expect(field.hasPrefix("__Host-") && field.contains("; Secure") && field.contains("; HttpOnly"))
            let attributes = field.split(separator: "; ")
            #expect(attributes.contains("SameSite=Lax") && attributes.contains("Path=/"))
            #expect(!field.contains("Domain"))
            #expect(field.utf8.count < 200)
        }
        // The first attempt's own goes with it.
        #expect(fields.count { $0.contains("; Max-Age=600") } == 1)
        // The other is one for all sign-ins of a browser, however long the pages that they lead to.
        let page = "/" + String(repeating: "x", count: 2000)
        let again = try await scene.get("/standard/start?return_to=\(page)", ["user=ada"] + Scene.cookies(start))
        #expect(again.status == 303 && again["Set-Cookie"] == nil)
        let redirect = try await scene.sandbox.approve(try #require(again["Location"]))
        let back = try await scene.get(
            String(redirect.dropFirst(Self.address.count)), ["user=ada"] + Scene.cookies(start))
        #expect(back["Location"] == page)
        await scene.stop()
    }

    @Test("B5: two sign-ins that a new browser starts at the same time both succeed in it")
    func twoTabs() async throws {
        let scene = try await scene()
        // Neither request has a cookie: the answers come later, and the last one replaces what both set.
        var (places, jar): ([String], [String: String]) = ([], [:])
        for page in ["/one", "/two"] {
            let start = try await scene.get("/standard/start?return_to=\(page)")
            places.append(try #require(start["Location"]))
            for cookie in Scene.cookies(start) {
                let parts = cookie.split(separator: "=", maxSplits: 1).map(String.init)
                jar[parts[0]] = parts[1]
            }
        }
        #expect(jar.keys.allSatisfy { $0.hasPrefix("__Host-") })
        let cookies = ["user=ada"] + jar.map { "\($0.key)=\($0.value)" }
        for (place, page) in zip(places, ["/one", "/two"]) {
            let redirect = try await scene.sandbox.approve(place)
            let back = try await scene.get(String(redirect.dropFirst(Self.address.count)), cookies)
            #expect(back.status == 303 && back["Location"] == page)
        }
        await scene.stop()
    }

    @Test("the pages of other sites begin no sign-in", arguments: ["cross-site", "same-site"])
    func foreignStart(site: String) async throws {
        let scene = try await scene()
        let answer = try await scene.wire.send(
            "GET", "/standard/start", headers: ["Cookie": "user=ada", "Sec-Fetch-Site": site, "Accept": "text/html"])
        #expect(answer.status == 403 && answer["Set-Cookie"] == nil && answer.text.contains("<!doctype html>"))
        #expect(try await scene.vault.keys(of: .signIn).keys.isEmpty)
        await scene.stop()
    }

    @Test(
        "9.5: what no page of the app has led to asks first, and stores nothing; its form starts the sign-in",
        arguments: [nil, "none"])
    func asked(site: String?) async throws {
        let scene = try await scene()
        let asked = try await scene.open("/standard/start?return_to=/page%26a", from: site)
        #expect(asked.status == 200)
        #expect(try await scene.hasBegunNothing(asked))
        #expect(asked.text.contains(#"<form method="post" action="start">"#))
        let policy = asked["Content-Security-Policy"] ?? ""
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
        // A service may redirect to an app's private scheme, which `form-action *` would not let the form lead to.
        #expect(!policy.contains("form-action"))
        // Otherwise browsers would send the form with `Origin: null`.
        #expect(asked["Referrer-Policy"] == "strict-origin" && asked["Cache-Control"] == "no-store")
        #expect(asked.text.contains(#"<meta name="referrer" content="strict-origin">"#))
        let token = try #require(asked.text.firstMatch(of: /name="token" value="([^"]+)"/)).1
        #expect(asked.text.contains(#"name="return_to" value="/page&amp;a""#))
        let body = "token=\(token)&return_to=%2Fpage%26a"
        let started = try await scene.post(body, ["Origin": Self.address, "Sec-Fetch-Site": "same-origin"])
        #expect(started.status == 303 && started["Set-Cookie"] != nil)
        let redirect = try await scene.sandbox.approve(try #require(started["Location"]))
        let back = try await scene.get(
            String(redirect.dropFirst(Self.address.count)), ["user=ada"] + Scene.cookies(started))
        #expect(back.status == 303 && back["Location"] == "/page&a")
        // A program is told so.
        let headers = ["Cookie": "user=ada", "Accept": "application/json"]
        let told = try await scene.wire.send("GET", "/standard/start", headers: headers)
        #expect(told.status == 403 && told.string("code") == "unconfirmed")
        await scene.stop()
    }

    @Test("9.5: a picture, a frame or a script of the app's own pages begins no sign-in; what the user opens does")
    func destinations() async throws {
        let scene = try await scene()
        func start(_ destination: String) async throws -> WireClient.Answer {
            try await scene.wire.send(
                "GET", "/standard/start",
                headers: ["Cookie": "user=ada", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": destination])
        }
        for destination in ["image", "iframe", "script", "empty"] {
            let asked = try await start(destination)
            #expect(asked.status == 200 && asked.text.contains("<form"), "\(destination)")
            #expect(try await scene.hasBegunNothing(asked), "\(destination)")
        }
        #expect(try await start("document").status == 303)
        await scene.stop()
    }

    @Test("9.5: the form counts with the user's own token, from this origin, and leads to paths of the app alone")
    func formForged() async throws {
        let scene = try await scene()
        let token = try #require(try await scene.get("/standard").string("token"))
        let other = try #require(try await scene.get("/standard", ["user=alan"]).string("token"))
        for (body, headers, status) in [
            ("", [:], 403), ("token=&return_to=/", [:], 403), ("token=\(other)", [:], 403),
            ("token=\(token)&token=\(token)", [:], 403), ("token=\(token)", ["Origin": "https://evil.example"], 403),
            ("token=\(token)", ["Origin": "null"], 403), ("token=\(token)", ["Sec-Fetch-Site": "same-site"], 403),
            ("token=\(token)", ["Content-Type": "application/json"], 415),
            ("token=\(token)&return_to=%2F%2Fevil.example", [:], 400),
        ] as [(String, [String: String], Int)] {
            let answer = try await scene.post(body, headers)
            #expect(answer.status == status, "\(body) \(headers)")
            #expect(try await scene.hasBegunNothing(answer), "\(body) \(headers)")
        }
        // The user of the browser has changed since the page was opened.
        let changed = try await scene.post("token=\(other)", ["Accept": "text/html", "Accept-Language": "en"])
        #expect(changed.status == 403 && changed.text.contains("You are logged in as another user now"))
        let bare = try await scene.post("return_to=/", ["Accept": "text/html", "Accept-Language": "en"])
        #expect(bare.status == 403 && !bare.text.contains("another user"))
        #expect(try await scene.post("token=\(token)", ["Cookie": ""]).status == 401)
        #expect(try await scene.post("token=\(token)").status == 303)
        await scene.stop()
    }

    @Test("9.5: a foreign origin begins no sign-in by the address either, whatever else the browser says")
    func foreignOrigin() async throws {
        let scene = try await scene()
        for headers in [["Origin": "https://evil.example"], ["Origin": "null", "Sec-Fetch-Site": "same-origin"]] {
            let answer = try await scene.wire.send(
                "GET", "/standard/start", headers: ["Cookie": "user=ada"].merging(headers) { $1 })
            #expect(answer.status == 403, "\(headers)")
            #expect(try await scene.hasBegunNothing(answer), "\(headers)")
        }
        await scene.stop()
    }

    @Test("9.5: a browser that the app has opened with a ticket begins the sign-in, for five minutes, for its user")
    func ticket() async throws {
        let now = Mutex(1_000.0)
        let scene = try await scene(
            time: TimeSource(now: { now.withLock { $0 } }, clock: ContinuousClock()))
        func ticket(_ headers: [String: String]) async throws -> WireClient.Answer {
            try await scene.wire.send("POST", "/standard/ticket", headers: headers)
        }
        let given = try await ticket(["Cookie": "user=ada"])
        let text = try #require(given.string("ticket"))
        #expect(given.status == 200 && given["Cache-Control"] == "no-store")
        #expect(try await ticket([:]).status == 401)
        #expect(try await ticket(["Cookie": "user=ada", "Origin": "https://evil.example"]).status == 403)
        let target = "/standard/start?return_to=/page&ticket="
        let (earlier, later) = ("1299\(text.dropFirst(4))", "1301\(text.dropFirst(4))")
        #expect(text.hasPrefix("1300."))
        for (ticket, user) in [
            (text, "alan"), (text + "x", "ada"), (earlier, "ada"), (later, "ada"), ("1300.", "ada"), ("", "ada"),
        ] {
            let asked = try await scene.open(target + ticket, from: "none", as: user)
            #expect(asked.status == 200, "\(ticket) \(user)")
            #expect(try await scene.hasBegunNothing(asked), "\(ticket) \(user)")
        }
        let token = try #require(try await scene.get("/standard").string("token"))
        #expect(try await scene.hasBegunNothing(scene.open(target + "1300.\(token)", from: "none")))
        #expect(try await scene.open(target + text, from: "cross-site").status == 403)
        now.withLock { $0 = 1_300 }
        #expect(try await scene.open(target + text, from: "none").status == 303)
        now.withLock { $0 = 1_301 }
        #expect(try await scene.open(target + text, from: "none").status == 200)
        now.withLock { $0 = 990 }
        #expect(try await scene.open(target + text, from: "none").status == 303, "the clocks of two machines differ")
        await scene.stop()
    }

    @Test("9.5: a ticket is for one service")
    func ticketOfAnotherService() async throws {
        let tokens = AntiForgeryTokens(vault: MemoryVault(), random: .system)
        let ticket = try await tokens.ticket(of: "ada", for: "other", now: 1_000)
        #expect(try await tokens.isTicket(ticket, of: "ada", for: "other", now: 1_000))
        #expect(try await !tokens.isTicket(ticket, of: "ada", for: "standard", now: 1_000))
    }

    @Test("concurrent answers have the same form token, from any process, for one user only")
    func formTokens() async throws {
        let vault = MemoryVault()
        let (one, two) = (try await scene(vault: vault), try await scene(vault: vault))
        async let answers = [one.get("/standard"), two.get("/standard"), one.get("/standard")]
        let tokens = try await answers.map { $0.string("token") }
        #expect(Set(tokens).count == 1 && tokens.first??.utf8.count == 43)
        #expect(try await one.get("/standard", ["user=alan"]).string("token") != tokens[0])
        #expect(try await disconnect(two, try #require(tokens[0]), ["user=ada"]).status == 200)
        await one.stop()
        await two.stop()
    }

    @Test("what a navigation is refused is told on a page, or as JSON where that is asked for")
    func refusedNavigation() async throws {
        let scene = try await scene()
        for _ in 0..<20 { _ = try await scene.get("/standard/start", ["user=alan"]) }
        let cases = [
            ("", "/standard/start", 401), ("", "/callback?state=a", 401), ("user=alan", "/standard/start", 429),
        ]
        for (cookie, target, status) in cases {
            for accept in ["text/html,application/xhtml+xml,*/*;q=0.8", "application/json"] {
                let answer = try await scene.wire.send(
                    "GET", target,
                    headers: ["Cookie": cookie, "Accept": accept, "Sec-Fetch-Site": "same-origin"])
                let isPage = accept.hasPrefix("text/html")
                #expect(answer.status == status && answer.text.contains("<!doctype html>") == isPage)
                #expect((answer.string("type") == "error") != isPage)
                #expect((answer["WWW-Authenticate"] != nil) == (status == 401))
                #expect((answer["Retry-After"] != nil) == (status == 429))
            }
        }
        // What a script asks for is JSON in any case.
        let asked = try await scene.wire.send("GET", "/standard", headers: ["Accept": "text/html"])
        #expect(asked.status == 401 && asked.string("code") == "unauthorized")
        await scene.stop()
    }

    @Test(
        "the pages are in the language that the browser asks for",
        arguments: [
            ("de-AT,en;q=0.5", "de"), ("pl, fr;q=0.9, de;q=0.8", "fr"), ("en", "en"), ("xx", "en"), (";;q=,", "en"),
        ])
    func language(accepted: String, tag: String) async throws {
        let scene = try await scene()
        for (cookie, target) in [("", "/standard/start"), ("user=ada", "/callback?state=a")] {
            let headers = ["Cookie": cookie, "Accept": "text/html", "Accept-Language": accepted]
            let answer = try await scene.wire.send("GET", target, headers: headers)
            #expect(answer.text.contains(#"<html lang="\#(tag)">"#), "\(target)")
        }
        await scene.stop()
    }

    @Test("a grant that has ended is not told to be a connection")
    func ended() async throws {
        let scene = try await scene()
        #expect(try await scene.get("/standard").string("state") == "absent")
        let past = Grant(
            accessToken: Secret("used-up"), expiresAt: 1, issuedAt: 0, refreshToken: nil, scopes: [])
        let account = try await scene.handshake.adopt(past, as: "ada", of: "standard")
        await #expect(throws: HandshakeError.self) { try await account.accessToken() }
        let state = try await scene.get("/standard")
        #expect(state.text.contains(#""connected":false"#) && state.string("state") == "sign_in_required")
        await scene.stop()
    }

    @Test("expired attempts are removed once an hour, while others start")
    func cleaning() async throws {
        let now = Mutex(1_000.0)
        let vault = MemoryVault()
        let time = TimeSource(now: { now.withLock { $0 } }, clock: ContinuousClock())
        let scene = try await scene(vault: vault, time: time)
        _ = try await scene.get("/standard/start")
        now.withLock { $0 += 3599 }
        let cleaning = SignInCleaning(of: scene.handshake, time: time, log: World.log)
        await cleaning.beginIfDue()?.value
        #expect(try await vault.keys(of: .signIn).keys.isEmpty)
        _ = try await scene.get("/standard/start")
        now.withLock { $0 += 3599 }
        #expect(cleaning.beginIfDue() == nil)
        now.withLock { $0 += 1 }
        await cleaning.beginIfDue()?.value
        #expect(try await vault.keys(of: .signIn).keys.isEmpty)
        // And the routes do it by themselves.
        _ = try await scene.get("/standard/start", ["user=alan"])
        await scene.stop()
    }

    @Test(
        "the browser is sent to paths of the app alone",
        arguments: [
            "//evil.example", "/%5Cevil.example", "https://evil.example", "javascript:alert(1)", "evil", "",
            "/page%0d%0aSet-Cookie:%20a=b", "/page%22%3E", "/%09/evil.example",
        ])
    func openRedirect(page: String) async throws {
        let scene = try await scene()
        #expect(try await scene.get("/standard/start?return_to=\(page)").status == 400)
        await scene.stop()
    }

    @Test("login forgery: a redirect counts in the browser and for the user it was begun for, and once")
    func forged() async throws {
        let scene = try await scene()
        let (target, cookies) = try await approved(scene)
        #expect(try await scene.get(target, ["user=ada"]).status == 400)
        #expect(try await scene.get(target, ["user=alan"] + cookies).status == 400)
        #expect(try await scene.get(target, cookies).status == 401)
        #expect(try await scene.handshake.accountIDs().ids.isEmpty)
        #expect(try await scene.get(target, ["user=ada"] + cookies).status == 303)
        #expect(try await scene.get(target, ["user=ada"] + cookies).status == 400)
        let (other, _) = try await approved(scene)
        #expect(try await scene.get(other, ["user=ada"] + cookies).status == 400)
        await scene.stop()
    }

    @Test("disconnecting takes this user's own page")
    func disconnectForged() async throws {
        let scene = try await scene()
        let (target, cookies) = try await approved(scene)
        _ = try await scene.get(target, ["user=ada"] + cookies)
        let state = try await scene.get("/standard")
        let token = try #require(state.string("token"))
        #expect(try await disconnect(scene, "", ["user=ada"]).status == 403)
        #expect(try await disconnect(scene, token, ["user=alan"]).status == 403)
        let origin = ["Origin": "https://evil.example"]
        #expect(try await disconnect(scene, token, ["user=ada"], origin).status == 403)
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        #expect(try await disconnect(scene, token, ["user=ada"], form).status == 415)
        #expect(try await scene.handshake.account("ada") != nil)
        await scene.stop()
    }

    @Test("a refusal is a page for people and JSON for programs, and stores nothing")
    func denied() async throws {
        let scene = try await scene()
        for accept in ["text/html", "application/json"] {
            let start = try await scene.get("/standard/start")
            let redirect = try await scene.sandbox.refuse(try #require(start["Location"]))
            let answer = try await scene.wire.send(
                "GET", String(redirect.dropFirst(Self.address.count)),
                headers: ["Cookie": (["user=ada"] + Scene.cookies(start)).joined(separator: "; "), "Accept": accept])
            #expect(answer.status == 403)
            #expect((answer.string("code") == "access_denied") == (accept == "application/json"))
            #expect(answer["Content-Type"]?.hasPrefix(accept) == true)
        }
        #expect(try await scene.handshake.accountIDs().ids.isEmpty)
        await scene.stop()
    }

    @Test("beginning is bounded, and an unknown service is none")
    func bounded() async throws {
        let scene = try await scene()
        var statuses: [Int] = []
        for _ in 0..<21 { statuses.append(try await scene.get("/standard/start").status) }
        #expect(statuses.prefix(20).allSatisfy { $0 == 303 } && statuses.last == 429)
        #expect(try await scene.get("/other/start").status == 404)
        await scene.stop()
    }

    @Test("a client with another redirect URI makes no routes")
    func configuration() throws {
        let service = Service.recurseCenter.at(
            try EndpointURL("http://127.0.0.1:1", security: .allowingInsecureLoopback))
        let handshake = try Handshake(Client(service: service, id: "x"), vault: MemoryVault())
        #expect(throws: HandshakeServerError.self) {
            _ = try SignInRoutes<BasicRequestContext>(handshake, at: try PublicAddress(Self.address)) { _, _ in nil }
        }
    }

    @Test(
        "an address that is not the app's own is refused",
        arguments: [
            "http://groceries.example/connect", "https://groceries.example/connect?x=1", "/connect", "",
            "https://user@groceries.example", "https://groceries.example//connect",
        ])
    func address(text: String) {
        #expect(throws: HandshakeServerError.self) { try PublicAddress(text) }
    }
}
