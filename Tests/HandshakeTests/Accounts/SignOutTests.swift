import HTTPTypes
import Handshake
import OAuth
import Sandbox
import Testing

@Suite("Sign-out")
struct SignOutTests {
    @Test(
        "K3: the tokens are revoked at the service, the refresh token first, and then the account is forgotten",
        arguments: SandboxService.Name.withSignIn)
    func revokes(_ name: SandboxService.Name) async throws {
        let world = try await World(name)
        let (handshake, account) = try await world.signedIn()
        let report = try await account.signOut()
        #expect(report.revoked == [.refreshToken, .accessToken])
        #expect(report.isForgotten)
        #expect(try await handshake.account() == nil)
        #expect(await handshakeError { try await account.accessToken() } == .signInRequired(account.id, .absent))
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
        let world = try await World()
        let (_, account) = try await world.signedIn()
        try world.inject("POST /oauth/revoke => delay 0 x1")
        try world.inject("POST /oauth/revoke => status 503 x1")
        let report = try await account.signOut()
        let rest = try await account.signOut()
        #expect(report.revoked + rest.revoked == [.refreshToken, .accessToken])
        #expect(rest.isForgotten)
        await world.sandbox.stop()
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

    @Test("an account whose record is damaged is forgotten, and only then signed in to anew", arguments: [false, true])
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
        let world = try await World()
        let handshake = try world.app()
        var events = handshake.events.makeAsyncIterator()
        let account = try await handshake.signIn(through: ApprovingBrowser(sandbox: world.sandbox))
        let token = try await account.accessToken().reveal()
        try await account.refresh()
        world.sandbox.revokeRefreshTokens(.recurseCenter)
        _ = await handshakeError { try await account.refresh() }
        let expected: [AccountEvent.Change] = [
            .signedIn(scopes: ["public"], asked: []), .refreshed(rotated: true), .ended(.refreshRejected),
        ]
        for change in expected {
            let event = try #require(await events.next())
            #expect(event.change == change)
            #expect(event.account == account.id)
            #expect(!"\(event)".contains(token))
        }
        await world.sandbox.stop()
    }
}
