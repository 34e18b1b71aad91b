import HTTPTypes
import Handshake
import OAuth
import Synchronization
import Testing

@Suite("The ID token of a refresh")
struct RefreshedIdentityTests {
    @Test(
        "D9: an ID token that speaks of another sign-in is refused; its grant is neither stored nor shown, and the identity stays",
        arguments: [
            ProviderChange(name: "another user", change: { $0.claims["sub"] = "mallory" }, code: "subject_mismatch"),
            ProviderChange(
                name: "another issuer", change: { $0.claims["iss"] = "https://evil.example" }, code: "issuer_mismatch"),
            ProviderChange(name: "another client", change: { $0.claims["aud"] = "other" }, code: "audience_mismatch"),
            ProviderChange(
                name: "another authorized party", change: { $0.claims["azp"] = "other" },
                code: "authorized_party_mismatch"),
            ProviderChange(
                name: "another sign-in time", change: { $0.claims["auth_time"] = 1_700_000_001 }, code: "id_token_time"),
            ProviderChange(
                name: "an expired token", change: { $0.claims["exp"] = 1_700_000_000 }, code: "id_token_time"),
            ProviderChange(
                name: "another access token's hash", change: { $0.claims["at_hash"] = "AAAA" }, code: "at_hash_mismatch"
            ),
            ProviderChange(name: "no subject", change: { $0.claims["sub"] = .some(nil) }, code: "id_token_malformed"),
            ProviderChange(name: "garbage", change: { $0.idToken = "garbage" }, code: "id_token_malformed"),
            ProviderChange(
                name: "no signature", change: { $0.idToken = "eyJhbGciOiJub25lIn0.e30." }, code: "algorithm_refused"),
        ])
    func refused(_ row: ProviderChange) async throws {
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        let app = try provider.app(vault: vault)
        let account = try await app.signIn(through: provider.browser)
        let before = try #require(account.status.identity)
        provider.change(row.change)
        let error = await handshakeError { try await account.refresh() }
        #expect(error?.code == row.code)
        #expect(account.status.identity == before)
        #expect(account.status.state == .refreshUncertain)
        for key in try await vault.keys(of: .account).keys {
            let stored = try #require(try await vault.record(key))
            #expect(!String(decoding: stored, as: UTF8.self).contains("access-2"))
        }
        // The token before lives on, and is the one that is handed out.
        #expect(try await account.accessToken().reveal() == "access-1")
        provider.change { state in
            state.claims = [:]
            state.idToken = nil
        }
        try await account.refresh()
        #expect(account.status.identity?.subject == "alice")
        #expect(account.status.state == .signedIn)
    }

    @Test("D9: a refresh without an ID token keeps the identity, and one with a right ID token takes it over")
    func accepted() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        provider.change { $0.claims["name"] = "Alice" }
        try await account.refresh()
        #expect(account.status.identity?.claims["name"]?.string == "Alice")
        provider.change { $0.idToken = "" }
        try await account.refresh()
        #expect(account.status.identity?.claims["name"]?.string == "Alice")
        #expect(try await account.accessToken().reveal() == "access-3")
    }

    @Test(
        "D9: keys out of reach keep the new grant unseen until its ID token could be checked; no refresh token is lost")
    func keysOutOfReach() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        provider.change { state in
            state.signingKeyID = "second"
            state.publishedKeyIDs = ["second"]
            state.overrides["/jwks"] = { _ in throw TransportError.unreachable(host: "op.example", reason: "offline") }
        }
        #expect(await handshakeError { try await account.refresh() }?.code == "unreachable")
        #expect(account.status.identity?.subject == "alice")
        #expect(
            try await account.accessToken().reveal() == "access-1", "a token that was not checked is not handed out")
        provider.time.advance(by: 61)
        provider.change { $0.overrides["/jwks"] = nil }
        #expect(try await account.accessToken().reveal() == "access-2")
        #expect(provider.count("/token") == 2, "one sign-in and one refresh")
    }

    @Test("D9: a grant whose ID token could not be checked outlives its process, and is checked by the next one")
    func uncheckedOutlives() async throws {
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        let account = try await provider.app(vault: vault).signIn(through: provider.browser)
        provider.change { $0.overrides["/jwks"] = Self.unreachable }
        // The cached keys are too old.
        provider.time.advance(by: 90_000)
        #expect(await handshakeError { try await account.refresh() }?.code == "unreachable")
        let next = try #require(try await provider.app(vault: vault).account())
        #expect(await handshakeError { try await next.accessToken() }?.code == "unreachable")
        // The ID token, which lives ten minutes, was good when it came.
        provider.time.advance(by: 700)
        provider.change { $0.overrides["/jwks"] = nil }
        #expect(try await next.accessToken().reveal() == "access-2")
        #expect(next.status.state == .signedIn)
        #expect(provider.count("/token") == 2, "one sign-in and one refresh")
        try await next.refresh()
        #expect(provider.forms("/token").last?["refresh_token"] == "refresh-2")
        // The first process follows.
        try await account.refresh()
        #expect(try await account.accessToken().reveal() == "access-3")
        #expect(provider.count("/token") == 3)
    }

    @Test("D9: an unchecked grant that turns out to be another user's is removed unseen")
    func uncheckedRefused() async throws {
        let provider = ScriptedProvider()
        let vault = MemoryVault()
        let account = try await provider.app(vault: vault).signIn(through: provider.browser)
        provider.change { state in
            state.claims["sub"] = "mallory"
            state.signingKeyID = "second"
            state.publishedKeyIDs = ["first", "second"]
            state.overrides["/jwks"] = Self.unreachable
        }
        #expect(await handshakeError { try await account.refresh() }?.code == "unreachable")
        #expect(try await Self.contents(of: vault).contains("access-2"))
        provider.time.advance(by: 61)
        provider.change { $0.overrides["/jwks"] = nil }
        #expect(await handshakeError { try await account.refresh() }?.code == "subject_mismatch")
        #expect(try await !Self.contents(of: vault).contains("access-2"))
        #expect(account.status.identity?.subject == "alice")
        #expect(try await account.accessToken().reveal() == "access-1")
        #expect(provider.count("/token") == 2, "one sign-in and one refresh")
    }

    @Test("D9: a grant signed by a key that is not published yet waits for it; no refresh token is lost")
    func unpublishedKey() async throws {
        let provider = ScriptedProvider()
        let account = try await provider.app().signIn(through: provider.browser)
        provider.change { $0.signingKeyID = "second" }
        for _ in 0..<3 {
            #expect(await handshakeError { try await account.refresh() }?.code == "key_unknown")
        }
        #expect(try await account.accessToken().reveal() == "access-1", "the token before is used meanwhile")
        #expect(provider.count("/token") == 2, "one sign-in and one refresh")
        provider.time.advance(by: 61)
        provider.change { $0.publishedKeyIDs = ["first", "second"] }
        #expect(try await account.accessToken().reveal() == "access-2")
        #expect(provider.count("/token") == 2)
    }

    @Test(
        "D9: a key that is not published within a day, whichever way the clock was set, ends the wait and the session",
        arguments: [86_401, -86_401])
    func neverPublishedKey(seconds: Double) async throws {
        let provider = ScriptedProvider()
        _ = provider.time.hold()
        let account = try await Self.waiting(try provider.app(), at: provider)
        provider.time.advance(by: seconds)
        #expect(await handshakeError { try await account.refresh() }?.code == "key_unknown")
        provider.change { state in
            state.overrides["/token"] = { _ in .json(400, ["error": "invalid_grant"]) }
        }
        #expect(
            await handshakeError { try await account.refresh() } == .signInRequired(account.id, .answerLost))
        #expect(provider.forms("/token").last?["refresh_token"] == "refresh-1")
    }

    @Test("C15: a sign-out revokes an unchecked grant, whose refresh token is the only one that lives")
    func uncheckedSignOut() async throws {
        let provider = ScriptedProvider()
        let account = try await Self.waiting(try provider.app(), at: provider)
        _ = try await account.signOut()
        #expect(provider.forms("/revoke").map { $0["token"] } == ["refresh-2", "access-2"])
    }

    @Test("D9: a late refusal of the old token does not forget a newer grant that is still to be checked")
    func uncheckedKept() async throws {
        let provider = ScriptedProvider()
        let account = try await Self.waiting(try provider.app(), at: provider)
        #expect(try await account.forget(ifStill: Secret("access-1")) == false)
        provider.change { $0.publishedKeyIDs = ["first", "second"] }
        provider.time.advance(by: 61)
        #expect(try await account.accessToken().reveal() == "access-2")
    }

    @Test("C15: a new sign-in revokes the unchecked grant that it replaces")
    func uncheckedReplaced() async throws {
        let provider = ScriptedProvider()
        let app = try provider.app()
        _ = try await Self.waiting(app, at: provider)
        provider.change { $0.signingKeyID = "first" }
        _ = try await app.signIn(through: provider.browser)
        #expect(provider.forms("/revoke").map { $0["token"] } == ["refresh-2", "access-2"])
    }

    /// An account whose refreshed grant waits for a key that the server does not publish yet.
    private static func waiting(_ app: Handshake, at provider: ScriptedProvider) async throws -> Account {
        let account = try await app.signIn(through: provider.browser)
        provider.change { $0.signingKeyID = "second" }
        #expect(await handshakeError { try await account.refresh() }?.code == "key_unknown")
        return account
    }

    private static let unreachable: @Sendable (RequestMessage) async throws -> ResponseMessage = { _ in
        throw TransportError.unreachable(host: "op.example", reason: "offline")
    }

    /// All account records of a vault.
    private static func contents(of vault: MemoryVault) async throws -> String {
        var text = ""
        for key in try await vault.keys(of: .account).keys {
            text += String(decoding: try await vault.record(key) ?? [], as: UTF8.self)
        }
        return text
    }

    @Test("D6: a key that the server rotated in is fetched once for all who meet it, and not again within a minute")
    func rotation() async throws {
        let provider = ScriptedProvider()
        let app = try provider.app()
        var accounts: [Account] = []
        for number in 0..<32 { accounts.append(try await app.signIn(as: "user\(number)", through: provider.browser)) }
        #expect(provider.count("/jwks") == 1)
        provider.change { state in
            state.signingKeyID = "second"
            state.publishedKeyIDs = ["first", "second"]
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for account in accounts { group.addTask { try await account.refresh() } }
            try await group.waitForAll()
        }
        #expect(provider.count("/jwks") == 2)
        #expect(try await app.signIn(through: provider.browser).status.identity?.subject == "alice")
        #expect(provider.count("/jwks") == 2)
    }

    @Test("D6: a key that no set has is asked for once in a cooling period, however many tokens name it")
    func unknownKey() async throws {
        let provider = ScriptedProvider()
        _ = provider.time.hold()
        let app = try provider.app()
        _ = try await app.signIn(through: provider.browser)
        provider.change { $0.signingKeyID = "second" }
        for _ in 0..<5 {
            let error = await handshakeError { try await app.signIn(through: provider.browser) }
            #expect(["key_not_found", "key_unknown"].contains(error?.code))
        }
        #expect(provider.count("/jwks") == 2)
        provider.time.advance(by: 61)
        _ = await handshakeError { try await app.signIn(through: provider.browser) }
        #expect(provider.count("/jwks") == 3)
    }

    @Test("D6: a re-fetch that fails is the only one of its cooling period, and its error is told until then")
    func failedRefetch() async throws {
        let provider = ScriptedProvider()
        _ = provider.time.hold()
        let app = try provider.app()
        _ = try await app.signIn(through: provider.browser)
        provider.change { state in
            state.signingKeyID = "second"
            state.publishedKeyIDs = ["first", "second"]
            state.overrides["/jwks"] = { _ in .json(503, [:]) }
        }
        for _ in 0..<5 {
            #expect(await handshakeError { try await app.signIn(through: provider.browser) }?.code == "http_503")
            provider.time.advance(by: 11)
        }
        provider.change { $0.overrides["/jwks"] = nil }
        #expect(await handshakeError { try await app.signIn(through: provider.browser) }?.code == "http_503")
        #expect(provider.count("/jwks") == 2)
        provider.time.advance(by: 6)
        #expect(try await app.signIn(through: provider.browser).status.identity?.subject == "alice")
        #expect(provider.count("/jwks") == 3)
    }

    @Test("D6: the cached keys have an age, and a server in trouble does not take them away")
    func age() async throws {
        let provider = ScriptedProvider()
        let app = try provider.app()
        _ = try await app.signIn(through: provider.browser)
        provider.time.advance(by: 3_601)
        _ = try await app.signIn(through: provider.browser)
        #expect(provider.count("/jwks") == 2)
        provider.time.advance(by: 3_601)
        provider.change { $0.overrides["/jwks"] = { _ in .json(503, [:]) } }
        _ = try await app.signIn(through: provider.browser)
        #expect(provider.count("/jwks") == 3)
        provider.time.advance(by: 86_401)
        #expect(await handshakeError { try await app.signIn(through: provider.browser) }?.code == "http_503")
    }
}
