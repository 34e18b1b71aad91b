import Foundation
import HTTPTypes
import Handshake
import OAuth
import Sandbox
import TestFixtures
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite("The end of a session at the server", .heavy)
struct EndOfSessionTests {
    private static let returnURI = "com.example.app:/signed-out"

    /// An account at the sandbox, whose server has a page for the end of a session.
    private func signedIn() async throws -> (World, Handshake, Account) {
        let world = try await World(.standard)
        let (handshake, account) = try await world.signedIn()
        return (world, handshake, account)
    }

    /// What a browser gets to see: a GET that follows no redirect.
    private func visit(_ address: String) async throws -> ResponseMessage {
        let request = RequestMessage(.get, try EndpointURL(address, security: .allowingInsecureLoopback))
        return try await PlatformTransport().send(request, limits: World.limits)
    }

    @Test("K1: without being asked, a sign-out shows no page and says nothing of the server's session")
    func unasked() async throws {
        let (world, _, account) = try await signedIn()
        let report = try await account.signOut()
        #expect(report.serverSession == nil && report.isForgotten)
        #expect(!world.sandbox.requests(.standard).contains { $0.path == "/end_session" })
        await world.sandbox.stop()
    }

    @Test("M607, K1: the browser comes back to the listener with the state, after the account is forgotten")
    func loopback() async throws {
        let (world, handshake, account) = try await signedIn()
        let report = try await account.signOut(returningTo: .loopback(port: nil, path: "/signed-out")) { page in
            #expect(try await handshake.account() == nil, "the session here ends first")
            #expect(page.host == page.request.server.issuer.url.origin.authority)
            #expect(page.prompt(in: Language(preferred: ["en"])).contains(page.host))
            let answer = try await visit(page.url)
            #expect(answer.head.status.code == 302)
            let back = try await visit(try #require(answer.head.headerFields[.location]))
            #expect(String(decoding: back.content, as: UTF8.self).contains("signed you out too"))
            return nil
        }
        #expect(report.serverSession == .ended && report.revoked == [.refreshToken, .accessToken])
        await world.sandbox.stop()
    }

    @Test(
        "M607, K1: a return with another state, or none, is served without a word about the server", arguments: [0, 1])
    func foreignReturn(index: Int) async throws {
        let (world, handshake, account) = try await signedIn()
        let report = try await account.signOut(returningTo: .loopback(port: nil, path: "/signed-out")) { page in
            let uri = try #require(page.request.returnURI).string
            let back = try await visit([uri, uri + "?state=other"][index])
            #expect(back.head.status.code == 200)
            let text = String(decoding: back.content, as: UTF8.self)
            #expect(text.contains("You are signed out here") && !text.contains("signed you out too"))
            return nil
        }
        #expect(report.serverSession == .unconfirmed)
        #expect(try await handshake.account() == nil)
        await world.sandbox.stop()
    }

    @Test("K1: a browser that does not come back leaves the user signed out here")
    func noReturn() async throws {
        let (world, handshake, account) = try await signedIn()
        let uri = Client.Redirect.uri(try RedirectURI(Self.returnURI))
        #expect(try await account.signOut(returningTo: uri) { _ in nil }.serverSession == .unconfirmed)
        #expect(try await handshake.account() == nil)
        await world.sandbox.stop()
    }

    @Test("K1: a page that cannot be shown is told, and the account is forgotten all the same")
    func notShown() async throws {
        let (world, handshake, account) = try await signedIn()
        let error = HandshakeError.configuration(member: "browser", problem: "none")
        #expect(try await account.signOut(endingSessionAt: { _ in throw error }).serverSession == .notShown(error))
        #expect(try await handshake.account() == nil)
        await world.sandbox.stop()
    }

    @Test("K1: an error of the page's own does not hide that the user is signed out")
    func brokenPage() async throws {
        struct Broken: Error {}
        let (world, handshake, account) = try await signedIn()
        let report = try await account.signOut(endingSessionAt: { _ in throw Broken() })
        guard case .notShown? = report.serverSession else {
            Issue.record("\(String(describing: report.serverSession))")
            return
        }
        #expect(report.isForgotten && report.revoked == [.refreshToken, .accessToken])
        #expect(try await handshake.account() == nil)
        await world.sandbox.stop()
    }

    #if os(Linux)
    @Test("K1, L4: the system's browser gets the page's address without the ID token, which other users could read")
    func arguments() async throws {
        let (world, _, account) = try await signedIn()
        let page = try #require(try await account.beginSignOut(returningTo: try RedirectURI(Self.returnURI)).page)
        #expect(page.url.contains("id_token_hint="))
        let folder = try TemporaryFolder()
        let (browser, pipe) = (folder.path + "/browser", folder.path + "/seen")
        try writeProgram(Data("#!/bin/sh\nprintf '%s' \"$*\" > '\(pipe)'\n".utf8), to: browser)
        #expect(mkfifo(pipe, 0o600) == 0)
        // The browser ends when it is read.
        let written = Task { await contents(ofPipe: pipe) }
        let returned = try await SystemBrowser(environment: ["BROWSER": browser]).show(signOut: page)
        #expect(returned == nil)
        let seen = await written.value
        #expect(seen == page.request.shortAddress)
        #expect(seen.contains("client_id=") && !seen.contains("id_token_hint"))
        await world.sandbox.stop()
    }
    #endif

    @Test("M612: a server without the page ends the session here, and it is said so")
    func unsupported() async throws {
        let provider = ScriptedProvider()
        let app = try provider.app()
        let account = try await app.signIn(through: provider.browser)
        let report = try await account.signOut { _ in
            Issue.record("there is no page")
            return nil
        }
        #expect(report.serverSession == .unsupported && report.isForgotten)
        #expect(try await app.account() == nil)
    }

    @Test("M607, K1: of a web app's returns only the first with the right state reports the server's end")
    func stored() async throws {
        let (world, handshake, account) = try await signedIn()
        let (report, shown) = try await account.beginSignOut(returningTo: try RedirectURI(Self.returnURI))
        let page = try #require(shown)
        #expect(report.serverSession == .shown)
        #expect(try await handshake.account() == nil)
        let location = try #require(try await visit(page.url).head.headerFields[.location])
        #expect(location.hasPrefix(Self.returnURI + "?state="))
        let other = try world.app()
        for address in [Self.returnURI, Self.returnURI + "?state=other", location + "&state=other"] {
            #expect(try await !other.finishSignOut(returnURL: address), "\(address)")
        }
        #expect(try await other.finishSignOut(returnURL: location), "also in another process")
        #expect(try await !handshake.finishSignOut(returnURL: location), "a state counts once")
        await world.sandbox.stop()
    }

    @Test("K1: a state at another address than the registered one, or too late, confirms nothing")
    func late() async throws {
        let (world, handshake, account) = try await signedIn()
        let (_, page) = try await account.beginSignOut(returningTo: try RedirectURI(Self.returnURI))
        let state = try #require(page?.request.state).reveal()
        #expect(try await !handshake.finishSignOut(returnURL: "https://evil.example/?state=\(state)"))
        #expect(try await !handshake.finishSignOut(returnURL: "\(Self.returnURI)?state=\(state)"), "it was used")
        let again = try await handshake.signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        let (_, next) = try await again.beginSignOut(returningTo: try RedirectURI(Self.returnURI))
        let later = try #require(next?.request.state).reveal()
        world.time.advance(by: 601)
        #expect(try await !handshake.finishSignOut(returnURL: "\(Self.returnURI)?state=\(later)"))
        await world.sandbox.stop()
    }

    @Test("what is known of sign-outs and logout tokens is removed once it has expired")
    func cleaning() async throws {
        let (world, handshake, account) = try await signedIn()
        let token = world.sandbox.logoutToken(for: account.id.client, subject: "unknown")
        try await handshake.endSessions(logoutToken: Secret(token))
        _ = try await account.beginSignOut(returningTo: try RedirectURI(Self.returnURI))
        #expect(try await world.vault.keys(of: .logoutToken).keys.count == 1)
        #expect(try await world.vault.keys(of: .signOut).keys.count == 1)
        #expect(try await handshake.removeExpiredSignIns() == 0)
        world.time.advance(by: 601)
        #expect(try await handshake.removeExpiredSignIns() == 2)
        await world.sandbox.stop()
    }
}

@Suite("Back-channel logout", .heavy)
struct BackchannelLogoutTests {
    /// Two users, one of them twice, without and with offline access.
    private func signedIn(scopes: [String]) async throws -> (World, Handshake) {
        let world = try await World(.standard)
        let handshake = try world.app(try world.client(scopes: scopes))
        let users = world.sandbox.standard.users.map(\.name)
        for (account, user) in [("phone", users[0]), ("desk", users[0]), ("other", users[1])] {
            let browser = ScriptedBrowser { page in
                let redirect = try await world.sandbox.approve(page.url, as: user)
                _ = try? await PlatformTransport().send(
                    RequestMessage(.get, try EndpointURL(redirect, security: .allowingInsecureLoopback)),
                    limits: World.limits)
                return nil
            }
            _ = try await handshake.signIn(as: account, through: browser)
        }
        return (world, handshake)
    }

    private func states(_ handshake: Handshake) async throws -> [String] {
        var ended: [String] = []
        for name in ["phone", "desk", "other"] {
            let account = try #require(try await handshake.account(name))
            if account.status.state == .ended(.loggedOut) { ended.append(name) }
        }
        return ended
    }

    @Test("M609, K2: a token with sid ends that session, and a second one with the same jti is refused")
    func session() async throws {
        let (world, handshake) = try await signedIn(scopes: ["openid", "api"])
        let phone = try #require(try await handshake.account("phone"))
        let identity = try #require(phone.status.identity)
        #expect(identity.sessionID != nil)
        let token = Secret(
            world.sandbox.logoutToken(
                for: phone.id.client, subject: identity.subject, sessionID: identity.sessionID))
        let outcome = try await handshake.endSessions(logoutToken: token)
        #expect(outcome.accounts.map(\.name) == ["phone"] && outcome.keptGrants.isEmpty)
        #expect(try await states(handshake) == ["phone"])
        #expect(await handshakeError { try await phone.accessToken() } == .signInRequired(phone.id, .loggedOut))
        let other = try world.app(try world.client(scopes: ["openid", "api"]))
        let replay = await handshakeError { try await other.endSessions(logoutToken: token) }
        #expect(replay?.code == "token_replayed", "also in another process")
        await world.sandbox.stop()
    }

    @Test("M609, K2: a token with sub alone ends all sessions of that user, and no others")
    func user() async throws {
        let (world, handshake) = try await signedIn(scopes: ["openid", "api"])
        let phone = try #require(try await handshake.account("phone"))
        let subject = try #require(phone.status.identity?.subject)
        let token = Secret(world.sandbox.logoutToken(for: phone.id.client, subject: subject))
        let outcome = try await handshake.endSessions(logoutToken: token)
        #expect(Set(outcome.accounts.map(\.name)) == ["phone", "desk"])
        #expect(try await states(handshake) == ["phone", "desk"])
        await world.sandbox.stop()
    }

    @Test("K2: a grant for offline use stays, and the app is told whose session ended")
    func offline() async throws {
        let (world, handshake) = try await signedIn(scopes: ["openid", "offline_access", "api"])
        let phone = try #require(try await handshake.account("phone"))
        let subject = try #require(phone.status.identity?.subject)
        let token = Secret(world.sandbox.logoutToken(for: phone.id.client, subject: subject))
        let outcome = try await handshake.endSessions(logoutToken: token)
        #expect(outcome.accounts.count == 2 && Set(outcome.keptGrants) == Set(outcome.accounts))
        #expect(try await states(handshake).isEmpty)
        try await phone.refresh()
        await world.sandbox.stop()
    }

    @Test(
        "M609: a user without a session is no error; M608: a token that is refused touches no session and is not noted")
    func noSession() async throws {
        let (world, handshake) = try await signedIn(scopes: ["openid", "api"])
        let client = try #require(try await handshake.account("phone")).id.client
        let none = try await handshake.endSessions(
            logoutToken: Secret(world.sandbox.logoutToken(for: client, subject: "unknown")))
        #expect(none.accounts.isEmpty)
        let bad = world.sandbox.logoutToken(for: client, subject: "unknown", changing: ["events": nil])
        #expect(
            await handshakeError { try await handshake.endSessions(logoutToken: Secret(bad)) }?.code
                == "logout_token_malformed")
        #expect(try await world.vault.keys(of: .logoutToken).keys.count == 1)
        #expect(try await states(handshake).isEmpty)
        await world.sandbox.stop()
    }

    @Test("K2: when the app cannot end its sessions, the server may send the token again")
    func retried() async throws {
        struct Broken: Error {}
        let (world, handshake) = try await signedIn(scopes: ["openid", "api"])
        let phone = try #require(try await handshake.account("phone"))
        let subject = try #require(phone.status.identity?.subject)
        let token = Secret(world.sandbox.logoutToken(for: phone.id.client, subject: subject))
        await #expect(throws: Broken.self) {
            try await handshake.endSessions(logoutToken: token) { _ in throw Broken() }
        }
        let outcome = try await handshake.endSessions(logoutToken: token)
        #expect(Set(outcome.accounts.map(\.name)) == ["phone", "desk"], "the app still has to end its own")
        #expect(await handshakeError { try await handshake.endSessions(logoutToken: token) }?.code == "token_replayed")
        await world.sandbox.stop()
    }

    /// A provider whose user alice has signed in under these names, and a logout token about her.
    private func alice(_ names: [String], in vault: any Vault) async throws -> (ScriptedProvider, Handshake, Secret) {
        let provider = ScriptedProvider()
        let handshake = try provider.app(vault: vault)
        for name in names { _ = try await handshake.signIn(as: name, through: provider.browser) }
        let now = Int(provider.time.source.now())
        let token = try provider.sign([
            "iss": ScriptedProvider.issuer, "aud": "app", "sub": "alice", "iat": now, "exp": now + 120, "jti": "1",
            "events": ["http://schemas.openid.net/event/backchannel-logout": [String: String]()],
        ])
        return (provider, handshake, Secret(token))
    }

    @Test("M608, K2: a signature by an algorithm that the client does not accept ends no session")
    func algorithm() async throws {
        let vault = MemoryVault()
        let (provider, handshake, token) = try await alice(["a"], in: vault)
        var client = try provider.client()
        client.options.idTokenAlgorithm = .ps256
        let strict = try provider.app(client, vault: vault)
        #expect(
            await handshakeError { try await strict.endSessions(logoutToken: token) }?.code == "algorithm_refused")
        #expect(try await handshake.account("a")?.status.state == .signedIn)
        #expect(try await handshake.endSessions(logoutToken: token).accounts.map(\.name) == ["a"], "it is a good one")
    }

    @Test("K2: an account that ended before is named too, for the app may not have ended its own session")
    func endedBefore() async throws {
        let (provider, handshake, token) = try await alice(["a", "b"], in: MemoryVault())
        provider.change { $0.overrides["/token"] = { _ in .json(400, ["error": "invalid_grant"]) } }
        let account = try #require(try await handshake.account("a"))
        #expect(await handshakeError { try await account.refresh() }?.code == "sign_in_required")
        let outcome = try await handshake.endSessions(logoutToken: token)
        #expect(Set(outcome.accounts.map(\.name)) == ["a", "b"])
        #expect(outcome.keptGrants.map(\.name) == ["b"], "the other one has no grant")
    }

    @Test("K2: a damaged record keeps no other user signed in", arguments: [false, true])
    func damaged(isOpened: Bool) async throws {
        let vault = UnreadableVault()
        let (_, handshake, token) = try await alice(["a", "b", "c"], in: vault)
        let keys = try await vault.keys(of: .account).keys
        let key = try #require(keys.first { AccountID($0)?.name == "b" })
        if isOpened {
            try await vault.update(key) { try await $0.replace(with: Array("{}".utf8)) }
        } else {
            vault.fail(key, with: .damaged(what: "the record", reason: "a test"))
        }
        // The offline grants stay, and their sessions are told.
        #expect(Set(try await handshake.endSessions(logoutToken: token).accounts.map(\.name)) == ["a", "c"])
    }
}
