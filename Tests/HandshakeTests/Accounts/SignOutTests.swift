import AsyncSupport
import HTTPTypes
import OAuth
import Sandbox
import TestFixtures
import Testing

@testable import Handshake

@Suite("Sign-out", .heavy)
struct SignOutTests {
    @Test(
        "K3: the tokens are revoked at the service, the refresh token first, and then the account is forgotten",
        arguments: SandboxService.Name.withSignIn)
    func revokes(_ name: SandboxService.Name) async throws {
        let world = try await World(name, configuration: .init(logsWholeRequests: true))
        let (handshake, account) = try await world.signedIn()
        let access = try await account.accessToken()
        let identity =
            switch name {
            // The service takes this one's token in the address.
            case .sequencing: world.sandbox.sequencing.origin + "/DataSourceList?all=true"
            default: try world.service().identityEndpoint?.url.string ?? world.sandbox.standard.origin + "/api/whoami"
            }
        var request = RequestMessage(.get, try EndpointURL(identity, security: .allowingInsecureLoopback))
        request.head.headerFields[.authorization] = "Bearer \(access.reveal())"
        #expect(try await PlatformTransport().send(request, limits: World.limits).head.status == .ok)
        world.sandbox.clearRequests()
        let report = try await account.signOut()
        #expect(report.revoked == [.refreshToken, .accessToken])
        #expect(report.isForgotten)
        #expect(try await handshake.account() == nil)
        #expect(await handshakeError { try await account.accessToken() } == .signInRequired(account.id, .absent))
        // What the service received, and that it no longer takes the token.
        let bodies = world.sandbox.requests(name).compactMap {
            $0.whole.map { String(decoding: $0.body, as: UTF8.self) }
        }
        #expect(bodies.count == 2)
        #expect(bodies.first?.contains("token_type_hint=refresh_token") == true)
        #expect(bodies.last?.contains("token_type_hint=access_token") == true)
        #expect(bodies.last?.contains(access.reveal()) == true)
        let refused = try await PlatformTransport().send(request, limits: World.limits)
        #expect(refused.head.status == .unauthorized)
        await world.sandbox.stop()
    }

    @Test("C15: a server that cannot revoke now keeps the account until it could, and no token is handed out meanwhile")
    func resumes() async throws {
        let world = try await World()
        let (handshake, account) = try await world.signedIn()
        try world.inject("POST /oauth/revoke => status 503 x1")
        let report = try await account.signOut()
        #expect(report.remaining == [.refreshToken, .accessToken])
        #expect(report.revoked.isEmpty)
        #expect(!report.isForgotten)
        #expect(await handshakeError { try await account.accessToken() } == .signInRequired(account.id, .signingOut))
        let later = try #require(try await world.app().account())
        #expect(later.status.state == .signingOut)
        let rest = try await later.signOut()
        #expect(rest.revoked == [.refreshToken, .accessToken])
        #expect(try await handshake.account() == nil)
        await world.sandbox.stop()
    }

    @Test("C15: what is already revoked is not asked for again")
    func resumesInTheMiddle() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        provider.change { state in
            state.overrides["/revoke"] = { request in
                guard case .bytes(let form) = request.content else { return .json(400, [:]) }
                let isRefreshToken = String(decoding: form, as: UTF8.self).contains("token=refresh-1")
                return .json(isRefreshToken ? 200 : 503, [:])
            }
        }
        let report = try await account.signOut()
        #expect(report.revoked == [.refreshToken])
        #expect(report.remaining == [.accessToken])
        provider.change { $0.overrides["/revoke"] = nil }
        let rest = try await account.signOut()
        #expect(rest.revoked == [.accessToken])
        #expect(rest.isForgotten)
        #expect(provider.forms("/revoke").map { $0["token"] } == ["refresh-1", "access-1", "access-1"])
    }

    @Test(
        "C15: a revocation that can never succeed forgets the account and says that the tokens may live on",
        arguments: [
            (400, "invalid_client"), (400, "unauthorized_client"), (401, "invalid_client"), (403, nil), (404, nil),
            (405, nil), (501, nil), (400, "unsupported_token_type"),
            (200, "invalid_client"),
        ])
    func neverRevocable(_ status: Int, _ code: String?) async throws {
        let provider = ScriptedProvider()
        let app = try provider.app()
        let account = try await app.signIn(through: provider.browser)
        provider.change { $0.overrides["/revoke"] = { _ in .json(status, code.map { ["error": $0] } ?? [:]) } }
        let report = try await account.signOut()
        #expect(report.notRevocable == [.refreshToken, .accessToken])
        #expect(report.isForgotten)
        #expect(report.failure == nil)
        #expect(try await app.account() == nil)
    }

    @Test(
        "C15: a revocation that may succeed later keeps the account",
        arguments: [
            (429, nil), (500, nil), (502, nil), (503, nil), (504, nil), (nil, nil), (429, "unsupported_token_type"),
            (500, "unsupported_token_type"), (400, "temporarily_unavailable"), (400, "server_error"),
            (400, "slow_down"), (400, "use_dpop_nonce"), (401, "use_dpop_nonce"), (400, "invalid_dpop_proof"),
        ] as [(Int?, String?)])
    func laterRevocable(_ status: Int?, _ code: String?) async throws {
        let provider = ScriptedProvider()
        let app = try provider.app()
        let account = try await app.signIn(through: provider.browser)
        provider.change { state in
            state.overrides["/revoke"] = { _ in
                guard let status else { throw TransportError.unreachable(host: "op.example", reason: "offline") }
                return .json(status, code.map { ["error": $0] } ?? [:])
            }
        }
        let report = try await account.signOut()
        #expect(report.remaining == [.refreshToken, .accessToken])
        #expect(report.failure?.code == (code ?? status.map { "http_\($0)" } ?? "unreachable"))
        #expect(account.status.state == .signingOut, "this object says what another one says")
        #expect(try await app.account()?.status.state == .signingOut)
    }

    @Test("K3: a second sign-in revokes the grant of the first one, after its own is stored")
    func replaced() async throws {
        let provider = ScriptedProvider()
        let app = try provider.app()
        _ = try await app.signIn(through: provider.browser)
        let seen = Shared<[String]>([])
        provider.change { state in
            state.overrides["/revoke"] = { request in
                let token = try await app.account()?.accessToken().reveal() ?? "nothing"
                seen.change { $0.append(token) }
                return .json(200, [:])
            }
        }
        let account = try await app.signIn(through: provider.browser)
        #expect(provider.forms("/revoke").map { $0["token"] } == ["refresh-1", "access-1"])
        #expect(seen.value == ["access-2", "access-2"], "the new grant was stored before the old one was revoked")
        #expect(try await account.accessToken().reveal() == "access-2")
    }

    @Test("K3: a token that a user brings replaces the grant of a sign-in, which is revoked")
    func replacedByToken() async throws {
        let provider = ScriptedProvider()
        let app = try provider.app()
        _ = try await app.signIn(through: provider.browser)
        let brought = Grant(
            accessToken: Secret("brought"), expiresAt: nil, issuedAt: 0, refreshToken: nil, scopes: [])
        let account = try await app.adopt(brought)
        #expect(provider.forms("/revoke").map { $0["token"] } == ["refresh-1", "access-1"])
        #expect(try await account.accessToken().reveal() == "brought")
    }

    @Test("K3: a second sign-in succeeds although the first grant cannot be revoked", arguments: [400, 503, nil])
    func replacedInVain(_ status: Int?) async throws {
        let provider = ScriptedProvider()
        let app = try provider.app()
        _ = try await app.signIn(through: provider.browser)
        provider.change { state in
            state.overrides["/revoke"] = { _ in
                guard let status else { throw TransportError.cut(host: "op.example", reason: "reset") }
                return .json(status, ["error": "invalid_client"])
            }
        }
        #expect(try await app.signIn(through: provider.browser).accessToken().reveal() == "access-2")
    }

    @Test("K3: a second sign-in to which the service gives the same refresh token revokes nothing")
    func sameGrant() async throws {
        let provider = ScriptedProvider()
        let app = try provider.app()
        provider.change { state in
            state.overrides["/token"] = { request in
                var answer = try provider.answer("/token", request)
                let text = String(decoding: answer.content, as: UTF8.self).replacing(
                    /refresh-[0-9]+/, with: "refresh-0")
                answer.content = Array(text.utf8)
                return answer
            }
        }
        _ = try await app.signIn(through: provider.browser)
        _ = try await app.signIn(through: provider.browser)
        #expect(provider.count("/token") == 2)
        #expect(provider.count("/revoke") == 0)
    }

    @Test(
        "K3: where a revocation ends all of a user's tokens, the same user's grant is left, and another user's revoked",
        arguments: [("alice", 0), (nil, 0), ("bob", 2)] as [(String?, Int)])
    func wholeAuthorization(_ first: String?, _ count: Int) async throws {
        let provider = ScriptedProvider()
        let strict = try provider.client()
        var deviations = Service.Deviations()
        deviations.revokesWholeAuthorization = true
        let service = try Service(
            name: strict.service.name, authorizationServer: strict.service.authorizationServer,
            deviations: deviations)
        let vault = MemoryVault()
        func app(_ scopes: [String]) throws -> Handshake {
            try provider.app(
                Client(service: service, id: strict.id, redirect: strict.redirect, scopes: scopes), vault: vault)
        }
        provider.change { state in
            if let first { state.claims["sub"] = first } else { state.idToken = "" }
            state.overrides["/revoke"] = { _ in
                if first != "bob" {
                    provider.change { $0.overrides["/token"] = { _ in .json(400, ["error": "invalid_grant"]) } }
                }
                return .json(200, [:])
            }
        }
        _ = try await app(first == nil ? ["offline_access"] : ["openid", "offline_access"])
            .signIn(through: provider.browser)
        provider.change { state in
            state.claims["sub"] = "alice"
            state.idToken = nil
        }
        let account = try await app(["openid", "offline_access"]).signIn(through: provider.browser)
        #expect(account.status.identity?.subject == "alice")
        #expect(provider.count("/revoke") == count)
        try await account.refresh()
        #expect(try await account.accessToken().reveal() == "access-3")
    }

    @Test("forgetting only leaves the service alone")
    func local() async throws {
        let world = try await World()
        let (handshake, account) = try await world.signedIn()
        #expect(try await account.signOut(revoking: false).isForgotten)
        #expect(world.sandbox.requests().isEmpty)
        #expect(try await handshake.account() == nil)
        await world.sandbox.stop()
    }

    @Test("an account whose record is damaged is forgotten, and then signed in to again", arguments: [false, true])
    func damaged(isLiving: Bool) async throws {
        let folder = try VaultFolder()
        let world = try await World(vault: try folder.open())
        let (_, account) = try await world.signedIn()
        let path = try #require(folder.records().first)
        try Files.write([1, 2, 3], to: path)
        let handshake = try world.app()
        #expect(await handshakeError { try await handshake.account() }?.code == "vault_damaged")
        #expect(await handshakeError { try await account.signOut() }?.code == "vault_damaged")
        #expect(try Files.read(path) == [1, 2, 3])
        if isLiving {
            #expect(try await account.signOut(revoking: false).isForgotten)
            #expect(account.status.state == .ended(.absent))
        } else {
            try await handshake.forget()
        }
        #expect(folder.records().isEmpty)
        #expect(try await handshake.account() == nil)
        try await handshake.forget()
        _ = try await handshake.signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        try await handshake.forget()
        #expect(try await handshake.account() == nil)
        await world.sandbox.stop()
    }

    @Test("a service without revocation is said to have none")
    func noRevocation() async throws {
        let world = try await World()
        let (_, account) = try await world.signedIn()
        try world.inject("POST /oauth/revoke => status 404 not here")
        let report = try await account.signOut()
        #expect(report.notRevocable == [.refreshToken, .accessToken])
        #expect(report.isForgotten)
        await world.sandbox.stop()
    }

    @Test("E10: every change of an account's tokens is told with its reason, and without a token")
    func events() async throws {
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        let app = try provider.app(vault: vault)
        let elsewhere = try provider.app(vault: vault)
        let events = app.events
        let account = try await app.signIn(through: provider.browser)
        try await account.refresh()
        try await #require(try await elsewhere.account()).refresh()
        provider.time.advance(by: 3_700)
        try await #require(try await elsewhere.account()).refresh()
        _ = try await account.accessToken()
        provider.change { $0.overrides["/token"] = { _ in .json(503, [:]) } }
        _ = await handshakeError { try await account.refresh() }
        provider.change { $0.overrides["/token"] = { _ in throw TransportError.timedOut(host: "op.example") } }
        _ = await handshakeError { try await account.refresh() }
        provider.change { $0.overrides["/token"] = { _ in .json(400, ["error": "invalid_grant"]) } }
        _ = await handshakeError { try await account.refresh() }
        provider.change { $0.overrides["/token"] = nil }
        _ = try await app.signIn(through: provider.browser)
        _ = try await account.signOut()
        let scopes = ["openid", "offline_access"]
        let expected: [AccountEvent.Change] = [
            .signedIn(scopes: scopes, asked: scopes), .refreshed(rotated: true), .adopted,
            .refreshFailed(code: "http_503"), .refreshUncertain, .ended(.answerLost),
            .signedIn(scopes: scopes, asked: scopes), .signedOut(revoked: true),
        ]
        let seen = await told(events, by: app)
        #expect(seen.map(\.change) == expected)
        for event in seen {
            #expect(event.account == account.id)
            #expect(event.time > 0)
            #expect(!"\(event)".contains("access-"))
            #expect(!"\(event)".contains("refresh-"))
        }
    }

    @Test(
        "E10: a sign-out that stays incomplete is told once in each process, and so is its end",
        arguments: [false, true])
    func unfinishedEvents(isBrokenOff: Bool) async throws {
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        let app = try provider.app(vault: vault)
        let elsewhere = try provider.app(vault: vault)
        let account = try await app.signIn(through: provider.browser)
        let other = try #require(try await elsewhere.account())
        let (here, there) = (app.events, elsewhere.events)
        provider.change { state in
            state.overrides["/revoke"] = { request in
                guard case .bytes(let form) = request.content else { return .json(400, [:]) }
                let isRefreshToken = String(decoding: form, as: UTF8.self).contains("token=refresh-1")
                if !isRefreshToken, isBrokenOff { throw CancellationError() }
                return .json(isRefreshToken ? 200 : 503, [:])
            }
        }
        for _ in 0..<2 {
            let report = try? await account.signOut()
            #expect(report?.isForgotten != true)
            #expect(await handshakeError { try await account.refresh() } == .signInRequired(account.id, .signingOut))
            #expect(await handshakeError { try await other.refresh() } == .signInRequired(account.id, .signingOut))
        }
        provider.change { $0.overrides["/revoke"] = nil }
        #expect(try await account.signOut().isForgotten)
        for _ in 0..<2 {
            #expect(await handshakeError { try await account.refresh() } == .signInRequired(account.id, .absent))
            #expect(await handshakeError { try await other.refresh() } == .signInRequired(account.id, .absent))
        }
        #expect(await told(here, by: app).map(\.change) == [.ended(.signingOut), .signedOut(revoked: true)])
        #expect(await told(there, by: elsewhere).map(\.change) == [.ended(.signingOut), .ended(.absent)])
    }

    /// All that an app has told until now. Its events end with it, so that one that does not come is missed, and not waited for.
    private func told(_ events: AsyncStream<AccountEvent>, by app: Handshake) async -> [AccountEvent] {
        app.environment.events.finish()
        return await events.reduce(into: []) { $0.append($1) }
    }
}
