import Foundation
import HTTPTypes
import OAuth
import Testing

@testable import Handshake

@Suite("Requests that demand more of the user")
struct StepUpTests {
    private static func refusal(_ status: Int, _ challenge: String) -> ResponseMessage {
        .json(status, [:], [.wwwAuthenticate: challenge])
    }

    /// An account, its app, and a browser that notes the requests it was given.
    private static func scene() async throws -> (
        ScriptedProvider, Handshake, Account, ScriptedBrowser, Shared<[[String: String]]>
    ) {
        let provider = ScriptedProvider()
        provider.change { $0.claims["email"] = "alice@example.com" }
        let app = try provider.app()
        let account = try await app.signIn(through: provider.browser)
        let asked = Shared<[[String: String]]>([])
        let browser = ScriptedBrowser { page in
            let items = URLComponents(string: page.url)?.queryItems ?? []
            asked.change { $0.append(items.reduce(into: [:]) { $0[$1.name] = $1.value }) }
            return try await provider.browser.show(page)
        }
        return (provider, app, account, browser, asked)
    }

    private static func request() throws -> RequestMessage {
        RequestMessage(.get, try EndpointURL(ScriptedProvider.issuer + "/me"))
    }

    @Test("M518: a demanded scope is asked of the user with those of the account, by a sign-in and not by a refresh")
    func scopes() async throws {
        let (provider, app, account, browser, asked) = try await Self.scene()
        let script = Script([Self.refusal(403, #"Bearer error="insufficient_scope", scope="b""#), .json(200, [:])])
        provider.answer("/me") { _ in await script.next() }
        let response = try await app.send(try Self.request(), as: account, steppingUpThrough: browser)
        #expect(response.head.status == .ok)
        #expect(asked.value.map { $0["scope"] } == ["openid offline_access b"])
        #expect(provider.forms("/token").map { $0["grant_type"] } == ["authorization_code", "authorization_code"])
        #expect(account.status.scopes == ["openid", "offline_access", "b"])
        #expect(provider.requests.last?.head.headerFields[.authorization] == "Bearer access-2")
    }

    @Test(
        "M518, M214: what the API demands after the sign-in is final, and nothing is asked where no sign-in helps",
        arguments: [
            (#"Bearer error="insufficient_scope", scope="b""#, 403, 1),
            (#"Bearer error="insufficient_user_authentication", max_age=0"#, 401, 1),
            (#"Bearer error="insufficient_scope""#, 403, 0),
        ])
    func final(_ challenge: String, _ status: Int, _ count: Int) async throws {
        let (provider, app, account, browser, asked) = try await Self.scene()
        provider.change { $0.claims["auth_time"] = Int(provider.time.source.now()) }
        provider.answer("/me") { _ in Self.refusal(status, challenge) }
        let error = await handshakeError {
            try await app.send(try Self.request(), as: account, steppingUpThrough: browser)
        }
        guard case .demanded? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(asked.value.count == count)
        #expect(provider.count("/me") == count + 1)
    }

    @Test("M518: another app's account is refused before the user is asked, with the app to call")
    func otherApp() async throws {
        let (provider, _, account, browser, asked) = try await Self.scene()
        let own = try provider.client()
        let other = try provider.app(Client(service: own.service, id: "other", redirect: own.redirect))
        let error = await handshakeError {
            try await other.signIn(again: account, for: .scopes(["b"]), through: browser)
        }
        #expect(
            error?.description
                == "This app has no client for the account op. Call the Handshake that opened the account.")
        #expect(asked.value.isEmpty)
    }

    @Test("M212: a demanded authentication is asked for with the account's scopes and user")
    func stepUp() async throws {
        let (provider, app, account, browser, asked) = try await Self.scene()
        provider.change {
            $0.claims["acr"] = "gold"
            $0.claims["auth_time"] = Int(provider.time.source.now())
        }
        let challenge = #"Bearer error="insufficient_user_authentication", acr_values="gold silver", max_age=0"#
        let script = Script([Self.refusal(401, challenge), .json(200, [:])])
        provider.answer("/me") { _ in await script.next() }
        #expect(try await app.send(try Self.request(), as: account, steppingUpThrough: browser).head.status == .ok)
        let query = try #require(asked.value.first)
        #expect(query["acr_values"] == "gold silver")
        #expect(query["max_age"] == "0")
        #expect(query["scope"] == "openid offline_access")
        #expect(query["login_hint"] == "alice@example.com")
    }

    @Test("M212: scopes that stand beside a demanded authentication are asked for too")
    func stepUpWithScopes() async throws {
        let (provider, app, account, browser, asked) = try await Self.scene()
        provider.change { $0.claims["auth_time"] = Int(provider.time.source.now()) }
        let challenge = #"Bearer error="insufficient_user_authentication", max_age=0, scope="b openid""#
        let script = Script([Self.refusal(401, challenge), .json(200, [:])])
        provider.answer("/me") { _ in await script.next() }
        #expect(try await app.send(try Self.request(), as: account, steppingUpThrough: browser).head.status == .ok)
        #expect(asked.value.map { $0["scope"] } == ["openid offline_access b"])
        #expect(asked.value.map { $0["max_age"] } == ["0"])
    }

    @Test(
        "M213: another user, another context and an old authentication stop, and the account keeps its grant",
        arguments: [
            ("sub", "mallory", "subject_mismatch"), ("acr", "bronze", "authentication_insufficient"),
            ("auth_time", nil, "authentication_insufficient"), ("auth_time", "old", "authentication_insufficient"),
        ] as [(String, String?, String)])
    func refused(_ claim: String, _ value: String?, _ code: String) async throws {
        let (provider, app, account, browser, _) = try await Self.scene()
        provider.change {
            $0.claims["acr"] = "gold"
            let now = Int(provider.time.source.now())
            $0.claims["auth_time"] = now
            // A second more than the age that was asked for and the leeway.
            $0.claims[claim] = value == "old" ? now - 121 : .some(value)
        }
        let error = await handshakeError {
            try await app.signIn(again: account, for: .stepUp(acrValues: ["gold"], maximumAge: 60), through: browser)
        }
        #expect(error?.code == code)
        #expect(try await account.accessToken().reveal() == "access-1")
        #expect(provider.count("/revoke") == 0)
    }

    @Test("M213: a sign-in without an ID token does not take the place of a known user's")
    func unidentified() async throws {
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        // Fewer scopes than were asked for, so that the next sign-in asks for no identity.
        provider.answer("/token") { request in
            let answer = try provider.answer("/token", request)
            var members = try JSONSerialization.jsonObject(with: Data(answer.content)) as? [String: Any] ?? [:]
            members["scope"] = "offline_access"
            return .json(200, members)
        }
        _ = try await provider.app(vault: vault).signIn(through: provider.browser)
        let known = try provider.client()
        let app = try provider.app(
            Client(service: known.service, id: known.id, redirect: known.redirect, scopes: ["offline_access"]),
            vault: vault)
        let account = try #require(try await app.account())
        #expect(account.status.identity?.subject == "alice")
        let error = await handshakeError {
            try await app.signIn(again: account, for: .scopes(["b"]), through: provider.browser)
        }
        #expect(error?.code == "subject_mismatch")
        #expect(try await account.accessToken().reveal() == "access-1")
    }

    /// A service without ID tokens whose API names the user, and an account there.
    private static func namingScene(
        asking parameters: [String: String] = [:]
    ) async throws -> (ScriptedProvider, Handshake, Account) {
        let provider = ScriptedProvider()
        let known = try provider.client()
        let service = try Service(
            name: "op", authorizationServer: known.service.authorizationServer,
            identityEndpoint: Service.IdentityEndpoint(
                url: try EndpointURL(ScriptedProvider.issuer + "/userinfo"), subjectMember: "sub", nameMembers: []))
        provider.change { $0.idToken = "" }
        let vault = MemoryVault()
        let first = try provider.app(
            Client(service: service, id: known.id, redirect: known.redirect, scopes: ["read"]), vault: vault)
        let account = try await first.signIn(through: provider.browser)
        guard !parameters.isEmpty else { return (provider, first, account) }
        var demanding = Client(
            service: service, id: known.id, redirect: known.redirect, scopes: ["read"], parameters: parameters)
        demanding.options.requiresAuthenticationContext = true
        let app = try provider.app(demanding, vault: vault)
        return (provider, app, try #require(try await app.account()))
    }

    /// Makes the API answer for the first token and for every later one.
    private static func answer(
        _ provider: ScriptedProvider, first: (Int, String), later: (Int, String)
    ) {
        provider.answer("/userinfo") { request in
            let isFirst = request.head.headerFields[.authorization] == "Bearer access-1"
            let (status, user) = isFirst ? first : later
            return .json(status, status == 200 ? ["sub": user] : [:])
        }
    }

    @Test(
        "M213: without ID tokens the API says whether the same user has signed in, and another one changes nothing",
        arguments: ["alice", "mallory"])
    func namedByTheAPI(_ user: String) async throws {
        let (provider, app, account) = try await Self.namingScene()
        Self.answer(provider, first: (200, "alice"), later: (200, user))
        let error = await handshakeError {
            try await app.signIn(again: account, for: .scopes(["b"]), through: provider.browser)
        }
        let isSame = user == "alice"
        #expect(error?.code == (isSame ? nil : "subject_mismatch"))
        #expect(try await account.accessToken().reveal() == (isSame ? "access-2" : "access-1"))
        #expect(provider.count("/revoke") == (isSame ? 2 : 0))
        #expect(provider.count("/userinfo") == 2)
    }

    @Test(
        "M213: where the API names the user of the old token alone, it stays; where of none, none is compared",
        arguments: [
            (200, 401, "invalid_token"), (200, 403, "http_403"), (403, 403, nil), (503, 200, "http_503"),
        ] as [(Int, Int, String?)])
    func unnamed(_ first: Int, _ later: Int, _ code: String?) async throws {
        let (provider, app, account) = try await Self.namingScene()
        Self.answer(provider, first: (first, "alice"), later: (later, "alice"))
        let error = await handshakeError {
            try await app.signIn(again: account, for: .scopes(["b"]), through: provider.browser)
        }
        #expect(error?.code == code)
        #expect(try await account.accessToken().reveal() == (code == nil ? "access-2" : "access-1"))
        #expect(provider.count("/revoke") == (code == nil ? 2 : 0))
        #expect(provider.count("/userinfo") == (first == 200 ? 2 : 1))
    }

    @Test(
        "M213: without an ID token the API judges itself what it has demanded, and what the app demands is refused",
        arguments: [
            ([:], nil), (["acr_values": "gold"], "authentication_insufficient"),
            (["max_age": "600"], "authentication_insufficient"),
        ] as [([String: String], String?)])
    func judgedByTheAPI(_ own: [String: String], _ code: String?) async throws {
        let (provider, app, account) = try await Self.namingScene(asking: own)
        Self.answer(provider, first: (200, "alice"), later: (200, "alice"))
        let demand = ResourceDemand.stepUp(acrValues: ["silver"], maximumAge: 0)
        let error = await handshakeError {
            try await app.signIn(again: account, for: demand, through: provider.browser)
        }
        #expect(error?.code == code)
        #expect(provider.count("/token") == (code == nil ? 2 : 1))
        #expect(try await account.accessToken().reveal() == (code == nil ? "access-2" : "access-1"))
    }
}
