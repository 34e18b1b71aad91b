import ConnectedAccountsUI
import Foundation
import Handshake
import Hummingbird
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import HandshakeServer

@Suite("The routes of a list of accounts", .heavy)
struct ConnectedAccountsTests {
    private static let address = "https://app.example.test"

    private struct Scene {
        let sandbox: Sandbox
        let server: RunningServer
        let handshake: Handshake
        let vault: MemoryVault
        let wire: WireClient

        func get(
            _ target: String = "/connected-accounts", as user: String = "ada", _ headers: [String: String] = [:]
        ) async throws -> WireClient.Answer {
            let own = ["Cookie": "user=\(user)", "Sec-Fetch-Site": "same-origin"]
            return try await wire.send("GET", target, headers: own.merging(headers) { $1 })
        }

        func disconnect(
            _ token: String?, as user: String = "ada", _ headers: [String: String] = [:]
        ) async throws -> WireClient.Answer {
            try await wire.send(
                "POST", "/standard/disconnect",
                headers: ["Cookie": "user=\(user)", "Content-Type": "application/json"].merging(headers) { $1 },
                body: #"{"token":"\#(token ?? "")"}"#)
        }

        /// Connects an account of the app's user: at the service it belongs to `name`.
        func connect(_ user: String = "ada", as name: String = "ada@example.test") async throws {
            let start = try await get("/standard/start", as: user)
            let redirect = try await sandbox.approve(try #require(start["Location"]), as: name)
            let cookies = start.fields.filter { $0.name.lowercased() == "set-cookie" }.map {
                $0.value.prefix { $0 != ";" }
            }
            let target = String(redirect.dropFirst(ConnectedAccountsTests.address.count))
            let all = (["user=\(user)"] + cookies.map(String.init)).joined(separator: "; ")
            let back = try await wire.send("GET", target, headers: ["Cookie": all])
            try #require(back.status == 303)
        }

        /// The only account of an answer.
        static func account(_ answer: WireClient.Answer) throws -> JSONObject {
            let body = try #require(try JSONValue(parsing: Array(answer.text.utf8)).object)
            if let accounts = body["accounts"]?.array { return try #require(accounts.first?.object) }
            return body
        }

        func stop() async {
            await server.stop()
            await sandbox.stop()
        }
    }

    private func scene(
        app: RedirectURI? = nil, transport: any Transport = .platform,
        lastUse: @escaping @Sendable (AccountID) async throws -> Double? = { _ in nil }
    ) async throws -> Scene {
        let sandbox = try await Sandbox.start()
        let vault = MemoryVault()
        let client = try World.standardClient(of: sandbox, at: Self.address)
        let handshake = try Handshake(client, vault: vault, transport: transport)
        let address = try PublicAddress(Self.address)
        let environment = SignInEnvironment(log: World.log)
        let router = Router()
        let signIn = try SignInRoutes<BasicRequestContext>(
            handshake, at: address, environment: environment,
            respond: ConnectedAccountsRoutes<BasicRequestContext>.returnToPage
        ) { request, _ in World.user(request)?.id }
        signIn.add(to: router)
        let accounts = ConnectedAccountsRoutes<BasicRequestContext>(
            handshake, at: address, environment: environment, app: app, lastUse: lastUse
        ) { request, _ in World.user(request)?.id }
        accounts.add(to: router)
        let server = try await RunningServer.start(router)
        return Scene(
            sandbox: sandbox, server: server, handshake: handshake, vault: vault,
            wire: try WireClient(origin: server.origin))
    }

    @Test("every service is listed, with the state of the session's user alone")
    func list() async throws {
        let scene = try await scene()
        let before = try Scene.account(try await scene.get())
        #expect(before["service"]?.string == "standard" && before["state"]?.string == "absent")
        #expect(before["last_use"] == .null && before["user"] == .null)
        try await scene.connect()
        let after = try Scene.account(try await scene.get())
        #expect(after["state"]?.string == "signed_in" && after["last_use"] != .null)
        // Another user of the app sees nothing of it, whatever the request asks for.
        for target in ["/connected-accounts", "/connected-accounts?user=ada", "/connected-accounts/standard?user=ada"] {
            let other = try Scene.account(try await scene.get(target, as: "grace", ["X-User": "ada"]))
            #expect(other["state"]?.string == "absent" && other["user"] == .null, "\(target)")
        }
        await scene.stop()
    }

    @Test("no token, and nothing that reads like one, is in the list but the one against forged requests")
    func secrets() async throws {
        let scene = try await scene()
        try await scene.connect()
        let account = try #require(try await scene.handshake.account("ada"))
        let secret = try await account.accessToken().reveal()
        for target in ["/connected-accounts", "/connected-accounts/standard"] {
            let answer = try await scene.get(target)
            #expect(!answer.text.contains(secret) && answer["Cache-Control"] == "no-store")
            let members = try Scene.account(answer).map(\.key)
            let known: Set = ["service", "name", "state", "user", "is_name_available", "last_use", "token"]
            #expect(Set(members) == known)
        }
        await scene.stop()
    }

    @Test(
        "without a session nothing is told, and pages of other sites get nothing",
        arguments: ["/connected-accounts", "/connected-accounts/standard"])
    func strangers(target: String) async throws {
        let scene = try await scene()
        let answer = try await scene.wire.send("GET", target, headers: [:])
        #expect(answer.status == 401 && answer.string("code") == "unauthorized")
        for headers in [
            ["Origin": "https://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"],
            ["Sec-Fetch-Site": "same-site"],
        ] {
            let answer = try await scene.get(target, as: "ada", headers)
            #expect(answer.status == 403 && answer.string("code") == "cross_site", "\(headers)")
        }
        #expect(try await scene.get(target, as: "ada", ["Sec-Fetch-Site": "same-origin"]).status == 200)
        await scene.stop()
    }

    @Test(
        "services that the app does not have are not found",
        arguments: ["other", "standard%00", "..%2Fstandard", "%2e%2e", "STANDARD", String(repeating: "a", count: 5000)])
    func unknown(name: String) async throws {
        let scene = try await scene()
        #expect(try await scene.get("/connected-accounts/\(name)").status == 404)
        await scene.stop()
    }

    @Test("an app is opened after its sign-in, at its own redirect, with no more than how that ended")
    func backToApp() async throws {
        let scene = try await scene(app: try RedirectURI("com.example.app:/accounts"))
        for (query, end) in [
            ("", ""), ("?connected-accounts=cancelled", "?connected-accounts=cancelled"),
            ("?connected-accounts=failed", "?connected-accounts=failed"), ("?connected-accounts=%0d%0aX:%20y", ""),
            ("?to=https://evil.example", ""), ("?connected-accounts=connected", ""),
        ] {
            let answer = try await scene.get("/connected-accounts-return\(query)")
            #expect(answer.status == 303 && answer["Location"] == "com.example.app:/accounts" + end)
            #expect(answer["Cache-Control"] == "no-store" && answer["Referrer-Policy"] == "no-referrer")
        }
        await scene.stop()
        let none = try await self.scene()
        #expect(try await none.get("/connected-accounts-return").status == 404)
        await none.stop()
    }

    @Test("another user's anti-forgery token disconnects nothing, nor does one from another site")
    func forged() async throws {
        let scene = try await scene()
        try await scene.connect("ada")
        try await scene.connect("grace", as: "zoe@example.test")
        let ada = try Scene.account(try await scene.get(as: "ada"))["token"]?.string
        let grace = try Scene.account(try await scene.get(as: "grace"))["token"]?.string
        #expect(ada != grace)
        for (token, user) in [(ada, "grace"), (grace, "ada"), (nil, "ada"), ("x", "ada")] {
            let answer = try await scene.disconnect(token, as: user)
            #expect(answer.status == 403 && answer.string("code") == "stale_token")
        }
        #expect(try await scene.disconnect(ada, as: "ada", ["Origin": "https://evil.example"]).status == 403)
        #expect(try await scene.handshake.account("ada") != nil)
        #expect(try await scene.handshake.account("grace") != nil)
        #expect(try await scene.disconnect(ada, as: "ada").status == 200)
        #expect(try Scene.account(try await scene.get(as: "ada"))["state"]?.string == "absent")
        #expect(try Scene.account(try await scene.get(as: "grace"))["state"]?.string == "signed_in")
        await scene.stop()
    }

    @Test("the service says whose account it is, and says it again after another user's sign-in")
    func names() async throws {
        let scene = try await scene()
        try await scene.connect(as: "zoe@example.test")
        let first = try Scene.account(try await scene.get("/connected-accounts/standard"))["user"]?.string
        #expect(first != nil)
        // What was learned is in the list too.
        #expect(try Scene.account(try await scene.get())["user"]?.string == first)
        let token = try Scene.account(try await scene.get())["token"]?.string
        #expect(try await scene.disconnect(token).status == 200)
        try await scene.connect(as: "ada@example.test")
        let second = try Scene.account(try await scene.get("/connected-accounts/standard"))["user"]?.string
        #expect(second != nil && second != first)
        await scene.stop()
    }

    @Test("K3: what another process has disconnected is not connected in the list of one that still has the account")
    func disconnectedElsewhere() async throws {
        let scene = try await scene()
        try await scene.connect()
        let held = try #require(try await scene.handshake.account("ada"))
        let other = try Handshake(scene.handshake.clients[0], vault: scene.vault)
        _ = try await other.account("ada")?.signOut()
        for target in ["/connected-accounts", "/connected-accounts/standard", "/standard"] {
            #expect(try Scene.account(try await scene.get(target))["state"]?.string == "absent", "\(target)")
        }
        #expect(held.status.state == .signedIn, "this process has not heard of it")
        await scene.stop()
    }

    /// Another process signs a user in to the account, and cannot end the session of before.
    private func signInElsewhere(as user: String, in scene: Scene) async throws {
        scene.sandbox.inject(try FaultRule(parsing: "standard POST /revoke => status 503"))
        let other = try Handshake(scene.handshake.clients[0], vault: scene.vault)
        let attempt = try await other.beginSignIn(as: "ada")
        let redirect = try await scene.sandbox.approve(attempt.page.url, as: user)
        _ = try await other.finishSignIn(redirectURL: redirect, as: "ada")
    }

    @Test("K3: the name of an account that another process has replaced is not shown for the one that is stored")
    func replacedElsewhere() async throws {
        let scene = try await scene()
        try await scene.connect(as: "zoe@example.test")
        let held = try #require(try await scene.handshake.account("ada"))
        try await signInElsewhere(as: "ada@example.test", in: scene)
        let shown = try Scene.account(try await scene.get("/connected-accounts/standard"))
        #expect(shown["state"]?.string == "signed_in" && shown["user"] == .null)
        #expect(held.status.state == .signedIn, "this process still has the first one's token")
        await scene.stop()
    }

    @Test("K3: the name of an account that the same user has connected again in another process is shown")
    func reconnectedElsewhere() async throws {
        let scene = try await scene()
        try await scene.connect(as: "zoe@example.test")
        let held = try #require(try await scene.handshake.account("ada"))
        try await signInElsewhere(as: "zoe@example.test", in: scene)
        let name = try Scene.account(try await scene.get("/connected-accounts/standard"))["user"]?.string
        #expect(name != nil)
        #expect(try Scene.account(try await scene.get())["user"]?.string == name, "it is of the stored token too")
        #expect(held.status.generation == 1, "this process still has the first token")
        await scene.stop()
    }

    @Test("K3: a name that the service says while another user signs in is neither shown nor remembered for that user")
    func replacedMeanwhile() async throws {
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let (permissions, permit) = AsyncStream<Void>.makeStream()
        let transport = WatchedTransport { sent in
            guard sent.path.hasSuffix("/userinfo") else { return }
            arrived.finish()
            for await _ in permissions {}
        }
        let scene = try await scene(transport: transport)
        scene.sandbox.inject(try FaultRule(parsing: #"standard /userinfo => body {"sub":"1","name":"Zoe"}"#))
        // Without an ID token nothing says whose the token is.
        func connect(_ token: String, at issuedAt: Double) async throws {
            let grant = Grant(
                accessToken: Secret(token), expiresAt: nil, issuedAt: issuedAt, refreshToken: nil, scopes: [])
            _ = try await scene.handshake.adopt(grant, as: "ada", of: "standard")
        }
        try await connect("first", at: 1)
        let asking = Task { try await scene.get("/connected-accounts/standard") }
        for await _ in arrivals {}
        try await connect("second", at: 2)
        permit.finish()
        let shown = try Scene.account(try await asking.value)
        #expect(shown["state"]?.string == "signed_in" && shown["user"] == .null)
        #expect(try Scene.account(try await scene.get())["user"] == .null, "nor is it remembered")
        let named = try Scene.account(try await scene.get("/connected-accounts/standard"))
        #expect(named["user"]?.string == "Zoe", "what the service says of the second token is shown")
        await scene.stop()
    }

    @Test("a service that refuses the token, or does not answer as it should, is told apart")
    func refusals() async throws {
        let scene = try await scene()
        try await scene.connect()
        scene.sandbox.inject(try FaultRule(parsing: "standard /userinfo => status 503 x1"))
        let failed = try Scene.account(try await scene.get("/connected-accounts/standard"))
        #expect(failed["state"]?.string == "signed_in" && failed["user"] == .null)
        scene.sandbox.inject(try FaultRule(parsing: "standard /userinfo => status 401"))
        scene.sandbox.inject(try FaultRule(parsing: #"standard POST /token => status 400 {"error":"invalid_grant"}"#))
        let ended = try Scene.account(try await scene.get("/connected-accounts/standard"))
        #expect(ended["state"]?.string == "sign_in_required")
        await scene.stop()
    }

    @Test("a record that cannot be read spoils no list, and can be disconnected")
    func damaged() async throws {
        let scene = try await scene()
        let grant = Grant(accessToken: Secret("a"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: [])
        do { _ = try await scene.handshake.adopt(grant, as: "ada", of: "standard") }
        let key = try #require(try await scene.vault.keys(of: .account).keys.first)
        try await scene.vault.update(key) { try await $0.replace(with: [1, 2, 3]) }
        let account = try Scene.account(try await scene.get())
        #expect(account["state"]?.string == "sign_in_required")
        let answer = try await scene.disconnect(account["token"]?.string)
        #expect(answer.status == 200 && answer.text.contains("not_revocable"))
        #expect(try Scene.account(try await scene.get())["state"]?.string == "absent")
        await scene.stop()
    }

    @Test("the later of the app's own last use and the last token request counts")
    func lastUse() async throws {
        let early = try await scene { _ in 5 }
        try await early.connect()
        let issued = try #require(try await early.handshake.account("ada")).status.issuedAt
        #expect(try Scene.account(try await early.get())["last_use"] == .number(String(Int(issued.rounded()))))
        await early.stop()
        let late = try await scene { _ in 9_999_999_999.4 }
        try await late.connect()
        #expect(try Scene.account(try await late.get())["last_use"] == .number("9999999999"))
        await late.stop()
        let broken = try await scene { _ in .infinity }
        try await broken.connect()
        #expect(try Scene.account(try await broken.get())["last_use"] == .null)
        await broken.stop()
    }

    @Test("the component is served with its texts, revalidated and for this origin's pages")
    func script() async throws {
        let scene = try await scene()
        let answer = try await scene.wire.send("GET", "/connected-accounts.js", headers: [:])
        #expect(answer.status == 200 && answer["Content-Type"] == "text/javascript; charset=utf-8")
        #expect(answer["Cross-Origin-Resource-Policy"] == "same-origin")
        #expect(answer.text.hasPrefix("const WORDS = {") && answer.text.contains("Verbundene Konten"))
        let tag = try #require(answer["ETag"])
        let again = try await scene.wire.send("GET", "/connected-accounts.js", headers: ["If-None-Match": tag])
        #expect(again.status == 304 && again.text.isEmpty)
        await scene.stop()
    }

    @Test("a user who declines comes back to the page, which is told so")
    func declined() async throws {
        let scene = try await scene()
        for (page, expected) in [
            ("/settings", "/settings?connected-accounts=cancelled"),
            ("/settings?a=b", "/settings?a=b&connected-accounts=cancelled"),
        ] {
            let start = try await scene.get("/standard/start?return_to=\(page)")
            let cookies = start.fields.filter { $0.name.lowercased() == "set-cookie" }.map {
                $0.value.prefix { $0 != ";" }
            }
            let all = (["user=ada"] + cookies.map(String.init)).joined(separator: "; ")
            // An answer of the service, for its state: the request itself may have been pushed.
            let redirect = try await scene.sandbox.approve(try #require(start["Location"]))
            let url = try #require(URLComponents(string: redirect))
            let state = try #require(url.queryItems?.first { $0.name == "state" }?.value)
            let issuer = try #require(
                scene.sandbox.standard.origin.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let target = "/callback?error=access_denied&state=\(state)&iss=\(issuer)"
            let back = try await scene.wire.send("GET", target, headers: ["Cookie": all])
            #expect(back.status == 303 && back["Location"] == expected)
        }
        await scene.stop()
    }

    @Test(
        "where a failed sign-in leads is a path of this app, before its fragment",
        arguments: [
            ("/a#b", "/a?connected-accounts=failed#b"), ("/?x=1#y?z", "/?x=1&connected-accounts=failed#y?z"),
            ("/", "/?connected-accounts=failed"),
        ])
    func returning(page: String, expected: String) async throws {
        let path = try #require(LocalPath(rawValue: page))
        let failure = SignInOutcome.failed(.configuration(member: "a", problem: "b"))
        for accept in ["text/html", "application/json"] {
            let request = Request(
                head: .init(
                    method: .get, scheme: "https", authority: "app.example.test", path: "/callback",
                    headerFields: [.accept: accept]), body: RequestBody(buffer: ByteBuffer()))
            let response = await ConnectedAccountsRoutes<BasicRequestContext>.returnToPage(failure, path, request)
            #expect(response?.headers[.location] == (accept == "text/html" ? expected : nil))
        }
    }
}
