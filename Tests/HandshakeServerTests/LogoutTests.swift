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

@Suite("Logout routes", .heavy)
struct LogoutTests {
    private static let address = "https://app.example.test"
    private static let clientID = "sandbox-public"

    /// An app with the routes.
    private final class Scene: Sendable {
        let sandbox: Sandbox
        let server: RunningServer
        let handshake: Handshake
        let vault: MemoryVault
        let wire: WireClient

        private init(
            _ sandbox: Sandbox, _ server: RunningServer, _ handshake: Handshake, _ vault: MemoryVault
        ) throws {
            self.sandbox = sandbox
            self.server = server
            self.handshake = handshake
            self.vault = vault
            wire = try WireClient(origin: server.origin)
        }

        static func start(
            scopes: [String] = ["openid", "api"], isBroken: Bool = false
        ) async throws -> (scene: Scene, told: Told) {
            let sandbox = try await Sandbox.start()
            let issuer = try Issuer(sandbox.standard.origin, security: .allowingInsecureLoopback)
            let service = try Service(
                name: "standard", authorizationServer: .discovered(issuer, security: .allowingInsecureLoopback),
                defaultScopes: scopes)
            let client = Client(
                service: service, id: LogoutTests.clientID,
                redirect: .uri(try RedirectURI("\(LogoutTests.address)/callback")))
            let vault = MemoryVault()
            let handshake = try Handshake(client, vault: vault)
            let router = Router()
            let told = Told()
            let address = try PublicAddress(LogoutTests.address)
            let environment = SignInEnvironment(log: World.log)
            let user: @Sendable (Request, BasicRequestContext) async throws -> String? = { request, _ in
                World.user(request)?.id
            }
            try SignInRoutes<BasicRequestContext>(handshake, at: address, environment: environment, user: user)
                .add(to: router)
            LogoutRoutes<BasicRequestContext>(
                handshake, at: address, environment: environment,
                endSessions: { logout in
                    told.logouts.withLock { $0.append(logout) }
                    if isBroken { throw CancellationError() }
                },
                endBrowserSession: { _, _ in [.setCookie: "user=; Max-Age=0"] }, user: user
            ).add(to: router)
            let server = try await RunningServer.start(router)
            return (try Scene(sandbox, server, handshake, vault), told)
        }

        /// A user of the app connects as a user of the sandbox.
        func connect(_ user: String, as name: String) async throws -> IDTokenClaims {
            let attempt = try await handshake.beginSignIn(as: user)
            let redirect = try await sandbox.approve(attempt.page.url, as: name)
            let account = try await handshake.finishSignIn(redirectURL: redirect, as: user)
            return try requireValue(account.status.identity)
        }

        func post(_ path: String, _ body: String, _ headers: [String: String] = [:]) async throws -> WireClient.Answer {
            let form = ["Content-Type": "application/x-www-form-urlencoded"]
            return try await wire.send("POST", path, headers: form.merging(headers) { $1 }, body: body)
        }

        func logout(_ token: String) async throws -> WireClient.Answer {
            try await post("/standard/backchannel-logout", "logout_token=\(token)")
        }

        func isConnected(_ user: String) async throws -> Bool {
            try await handshake.account(user)?.status.state == .signedIn
        }

        func stop() async {
            await server.stop()
            await sandbox.stop()
        }
    }

    /// What the app was told.
    private final class Told: Sendable {
        let logouts = Mutex<[BackchannelLogout]>([])
    }

    @Test("M609, K2: a valid logout token ends one session or all; a user without a session is 200; a replay is 400")
    func backchannel() async throws {
        let (scene, told) = try await Scene.start()
        let users = scene.sandbox.standard.users
        let first = try await scene.connect("one", as: users[0].name)
        _ = try await scene.connect("two", as: users[0].name)
        _ = try await scene.connect("three", as: users[1].name)
        let session = scene.sandbox.logoutToken(
            for: Self.clientID, subject: first.subject, sessionID: first.sessionID)
        let answer = try await scene.logout(session)
        #expect(answer.status == 200 && answer["Cache-Control"] == "no-store" && answer.text.isEmpty)
        #expect(try await !scene.isConnected("one"))
        #expect(try await scene.isConnected("two"))
        #expect(try await scene.isConnected("three"))
        let replay = try await scene.logout(session)
        #expect(replay.status == 400 && replay["Cache-Control"] == "no-store")
        #expect(replay.string("error") == "invalid_request")
        let all = scene.sandbox.logoutToken(for: Self.clientID, subject: first.subject)
        #expect(try await scene.logout(all).status == 200)
        #expect(try await !scene.isConnected("two"))
        #expect(try await scene.isConnected("three"))
        let unknown = scene.sandbox.logoutToken(for: Self.clientID, subject: "unknown")
        #expect(try await scene.logout(unknown).status == 200)
        let names = told.logouts.withLock { $0.map { Set($0.accounts.map(\.name)) } }
        #expect(names == [["one"], ["one", "two"], []], "one that has ended before is named too")
        await scene.stop()
    }

    @Test("M608, K2: a logout token with one rule broken is 400, and touches no session", arguments: 0..<17)
    func broken(index: Int) async throws {
        let (scene, told) = try await Scene.start()
        let identity = try await scene.connect("one", as: scene.sandbox.standard.users[0].name)
        let event = "http://schemas.openid.net/event/backchannel-logout"
        let changes: [[String: String?]] = [
            ["iss": #""https://evil.example""#], ["iss": nil], ["aud": #""other""#], ["aud": nil], ["iat": nil],
            ["iat": "99999999999"], ["exp": nil], ["exp": "1"], ["jti": nil], ["sub": nil, "sid": nil],
            ["events": nil], ["events": "[]"], ["events": #"{"\#(event)":null}"#], ["events": #"{"\#(event)":[]}"#],
            ["events": #"{"\#(event)":"x"}"#], ["nonce": #""n""#], ["sub": "1"],
        ]
        let token = scene.sandbox.logoutToken(for: Self.clientID, subject: identity.subject, changing: changes[index])
        let answer = try await scene.logout(token)
        #expect(answer.status == 400 && answer.string("error") == "invalid_request", "\(changes[index])")
        #expect(answer["Cache-Control"] == "no-store")
        #expect(try await scene.isConnected("one"))
        #expect(told.logouts.withLock { $0.isEmpty })
        await scene.stop()
    }

    @Test("M608, K2: wrong headers, signatures and forms are 400")
    func malformed() async throws {
        let (scene, _) = try await Scene.start()
        let identity = try await scene.connect("one", as: scene.sandbox.standard.users[0].name)
        for header in [["alg": "none"], ["alg": "HS256"], ["kid": "unknown"], ["typ": "at+jwt"]] {
            let token = scene.sandbox.logoutToken(for: Self.clientID, subject: identity.subject, header: header)
            #expect(try await scene.logout(token).status == 400, "\(header)")
        }
        let token = scene.sandbox.logoutToken(for: Self.clientID, subject: identity.subject)
        let path = "/standard/backchannel-logout"
        for body in [
            "", "logout_token=", "token=\(token)", "logout_token=\(token)&logout_token=\(token)",
            "logout_token=%zz", "logout_token=\(token)x", "logout_token=" + String(repeating: "a", count: 200_000),
        ] { #expect(try await scene.post(path, body).status == 400, "\(body.prefix(40))") }
        let json = try await scene.post(path, #"{"logout_token":"\#(token)"}"#, ["Content-Type": "application/json"])
        #expect(json.status == 400)
        #expect(try await scene.post("/other/backchannel-logout", "logout_token=\(token)").status == 404)
        #expect(try await scene.isConnected("one"))
        #expect(try await scene.logout(token).status == 200)
        await scene.stop()
    }

    @Test("K2: when the app cannot end its sessions the answer is 400, and the token may come again")
    func appFails() async throws {
        let (scene, told) = try await Scene.start(isBroken: true)
        let identity = try await scene.connect("one", as: scene.sandbox.standard.users[0].name)
        let token = scene.sandbox.logoutToken(for: Self.clientID, subject: identity.subject)
        for _ in 0..<2 {
            let answer = try await scene.logout(token)
            #expect(answer.status == 400 && answer.string("error") == "temporarily_unavailable")
        }
        #expect(told.logouts.withLock { $0.map { $0.accounts.map(\.name) } } == [["one"], ["one"]])
        await scene.stop()
    }

    @Test("M610: a front-channel GET ends the browser's session when iss and sid are its own, and revokes nothing")
    func frontchannel() async throws {
        let (scene, _) = try await Scene.start()
        let identity = try await scene.connect("one", as: scene.sandbox.standard.users[0].name)
        let session = try #require(identity.sessionID)
        let origin = scene.sandbox.standard.origin
        let issuer = origin.replacing(":", with: "%3A").replacing("/", with: "%2F")
        func get(_ query: String, _ user: String? = "one", for use: String? = nil) async throws -> WireClient.Answer {
            var headers = user.map { ["Cookie": "user=\($0)"] } ?? [:]
            headers["Sec-Fetch-Dest"] = use
            return try await scene.wire.send("GET", "/standard/frontchannel-logout\(query)", headers: headers)
        }
        let foreign = "?iss=https%3A%2F%2Fevil.example&sid=\(session)"
        for query in [
            foreign, "?sid=\(session)", "?iss=\(issuer)", "?iss=\(issuer)&sid=other",
            "?iss=\(issuer)&iss=\(issuer)&sid=\(session)", "?iss=\(issuer)&sid=\(session)&sid=\(session)",
        ] {
            let answer = try await get(query)
            #expect(answer["Set-Cookie"] == nil && answer.status == 400, "\(query)")
        }
        #expect(try await get("?iss=\(issuer)&sid=\(session)", "two")["Set-Cookie"] == nil)
        #expect(try await get("?iss=\(issuer)&sid=\(session)", nil)["Set-Cookie"] == nil)
        let answer = try await get("?iss=\(issuer)&sid=\(session)")
        #expect(answer.status == 200 && answer["Set-Cookie"] == "user=; Max-Age=0")
        #expect(answer["Cache-Control"] == "no-store")
        #expect(answer["Content-Security-Policy"]?.contains("frame-ancestors \(origin)") == true)
        #expect(try await get("")["Set-Cookie"] != nil, "without both it is about this browser")
        for use in ["image", "script", "document", "empty"] {
            let answer = try await get("", for: use)
            #expect(answer["Set-Cookie"] == nil && answer.status == 400, "\(use) in a comment logs no reader out")
        }
        for use in ["iframe", "frame"] { #expect(try await get("", for: use)["Set-Cookie"] != nil) }
        #expect(try await scene.isConnected("one"), "anyone can embed it, so tokens stay")
        #expect(!scene.sandbox.requests(.standard).contains { $0.path == "/revoke" })
        await scene.stop()
    }

    @Test("M610: a frame ends the session that is stored, also where this process knows an earlier one")
    func newerSession() async throws {
        let (scene, _) = try await Scene.start()
        let name = scene.sandbox.standard.users[0].name
        _ = try await scene.connect("one", as: name)
        let held = try #require(try await scene.handshake.account("one"))
        let other = try Handshake(scene.handshake.clients[0], vault: scene.vault)
        let attempt = try await other.beginSignIn(as: "one")
        let redirect = try await scene.sandbox.approve(attempt.page.url, as: name)
        let account = try await other.finishSignIn(redirectURL: redirect, as: "one")
        let session = try #require(account.status.identity?.sessionID)
        let issuer = scene.sandbox.standard.origin.replacing(":", with: "%3A").replacing("/", with: "%2F")
        let answer = try await scene.wire.send(
            "GET", "/standard/frontchannel-logout?iss=\(issuer)&sid=\(session)", headers: ["Cookie": "user=one"])
        #expect(answer.status == 200 && answer["Set-Cookie"] == "user=; Max-Age=0")
        #expect(held.status.identity?.sessionID != session, "this process has not heard of it")
        await scene.stop()
    }

    @Test("M607, K1: the user signs out here, then at the server, whose return with the right state is told")
    func signOut() async throws {
        let (scene, _) = try await Scene.start()
        _ = try await scene.connect("one", as: scene.sandbox.standard.users[0].name)
        let cookie = ["Cookie": "user=one"]
        let token = try #require(try await scene.wire.send("GET", "/standard", headers: cookie).string("token"))
        let json = cookie.merging(["Content-Type": "application/json"]) { $1 }
        let forged = try await scene.wire.send("POST", "/standard/sign-out", headers: json, body: #"{"token":"x"}"#)
        #expect(forged.status == 403)
        #expect(try await scene.isConnected("one"))
        let answer = try await scene.wire.send(
            "POST", "/standard/sign-out", headers: json, body: #"{"token":"\#(token)"}"#)
        #expect(answer.status == 200 && answer.text.contains("access_token"))
        #expect(try await scene.handshake.account("one") == nil)
        let body = try #require(try JSONValue(parsing: Array(answer.text.utf8)).object?["end_session"]?.object)
        #expect(body["method"]?.string == "GET")
        let page = try #require(body["url"]?.string)
        let there = try WireClient(origin: scene.sandbox.standard.origin)
        let location = try #require(
            try await there.send("GET", String(page.dropFirst(scene.sandbox.standard.origin.count)))["Location"])
        #expect(location.hasPrefix(Self.address + "/standard/signed-out?state="))
        let target = String(location.dropFirst(Self.address.count))
        for wrong in ["/standard/signed-out", "/standard/signed-out?state=x", target + "&state=x"] {
            let page = try await scene.wire.send("GET", wrong, headers: ["Accept-Language": "en"])
            #expect(page.status == 200 && page.text.contains("You are signed out here"), "\(wrong)")
            #expect(!page.text.contains("signed you out too"), "\(wrong)")
        }
        let back = try await scene.wire.send("GET", target, headers: ["Accept-Language": "en"])
        #expect(back.status == 200 && back.text.contains("signed you out too"))
        #expect(back["Cache-Control"] == "no-store")
        await scene.stop()
    }

    @Test("K1: a damaged account is signed out as it is disconnected: forgotten, and told as not revoked")
    func damaged() async throws {
        let (scene, _) = try await Scene.start()
        let grant = Grant(accessToken: Secret("a"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: [])
        do { _ = try await scene.handshake.adopt(grant, as: "one", of: "standard") }
        let key = try #require(try await scene.vault.keys(of: .account).keys.first)
        try await scene.vault.update(key) { try await $0.replace(with: [1, 2, 3]) }
        let tokens = AntiForgeryTokens(vault: scene.vault, random: .system)
        let token = try await tokens.token(of: "one", for: "standard").reveal()
        let answer = try await scene.wire.send(
            "POST", "/standard/sign-out", headers: ["Cookie": "user=one", "Content-Type": "application/json"],
            body: #"{"token":"\#(token)"}"#)
        #expect(answer.status == 200)
        let body = try #require(try JSONValue(parsing: Array(answer.text.utf8)).object)
        #expect(body["not_revocable"]?.array?.first?.string == "refresh_token" && body["end_session"] == .null)
        #expect(try await scene.handshake.account("one") == nil)
        await scene.stop()
    }

    @Test("M702, J5: a notice without a waiting sign-in is 401, and what is no notice too")
    func notifications() async throws {
        let router = Router()
        let notifications = BackchannelNotifications()
        BackchannelNotificationRoute<BasicRequestContext>(notifications).add(to: router, at: "ping")
        let server = try await RunningServer.start(router)
        let wire = try WireClient(origin: server.origin)
        for (authorization, body) in [
            ("Bearer x", #"{"auth_req_id":"a"}"#), ("Basic x", #"{"auth_req_id":"a"}"#), ("Bearer x", "{}"),
        ] {
            let answer = try await wire.send(
                "POST", "/ping", headers: ["Authorization": authorization, "Content-Type": "application/json"],
                body: body)
            #expect(answer.status == 401 && answer["WWW-Authenticate"] == "Bearer")
        }
        let form = try await wire.send(
            "POST", "/ping", headers: ["Authorization": "Bearer x", "Content-Type": "text/plain"], body: "{}")
        #expect(form.status == 415)
        await server.stop()
    }
}
