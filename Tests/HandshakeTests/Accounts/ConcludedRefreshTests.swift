import OAuth
import TestFixtures
import Testing

@testable import Handshake

@Suite("Refreshes that were stored with the last write of their hold, and whose vault did not say so")
struct ConcludedRefreshTests {
    private let server = StrictAccounts()
    private let vault = SilentVault()

    private func account() async throws -> Account { try #require(try await server.app(vault).account("first")) }

    @Test("what another process stored since is taken over, and nothing is undone or sent again")
    func followed() async throws {
        try await server.store(["first"], in: vault)
        let (account, other) = (try await account(), try await account())
        vault.meanwhile.change {
            $0 = {
                // Takes the new token over, and then asks for another one.
                for _ in 1...2 { try await other.refresh() }
            }
        }
        let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
        #expect(error?.code == "vault_unavailable" && server.requests == 2)
        let token = try await account.accessToken()
        #expect(try await other.accessToken().matches(token) && server.requests == 2)
        try await account.refresh()
        #expect(server.refreshes.count == 3 && server.reused.isEmpty)
    }

    @Test("it is taken over where no other process had the record")
    func alone() async throws {
        try await server.store(["first"], in: vault)
        let account = try await account()
        vault.meanwhile.change { $0 = {} }
        await #expect(throws: HandshakeError.self) { try await account.refresh() }
        #expect(try await account.accessToken().matches(Secret("access-first.1")) && server.requests == 1)
    }

    @Test("a session that ended stays ended, also when the user signed in again meanwhile")
    func ended() async throws {
        try await server.store(["first"], in: vault)
        let (account, server, vault) = (try await account(), server, vault)
        server.answer { _, _ in .json(400, ["error": "invalid_grant"]) }
        vault.meanwhile.change { $0 = {} }
        await #expect(throws: HandshakeError.self) { try await account.refresh() }
        let error = await #expect(throws: HandshakeError.self) { try await account.accessToken() }
        #expect(error == .signInRequired(account.id, .refreshRejected) && server.requests == 1)

        try await server.store(["first"], in: vault)
        let again = try await self.account()
        let grant = Grant(
            accessToken: Secret("new"), expiresAt: server.now + 3_600, issuedAt: server.now,
            refreshToken: Secret("new"),
            scopes: [])
        let bytes = try AccountRecord(
            id: again.id, grant: grant, state: .signedIn, refreshMethod: .refreshToken, generation: 0
        ).stored()
        vault.meanwhile.change { [key = again.id.vaultKey] in
            $0 = { try await vault.update(key) { try await $0.replace(with: bytes) } }
        }
        await #expect(throws: HandshakeError.self) { try await again.refresh() }
        #expect(try await again.accessToken().matches(Secret("new")))
    }
}

/// A vault in memory that fails after a concluding write was stored, when other processes have had the record.
private struct SilentVault: ForwardingVault {
    let base = MemoryVault()
    /// What they do; nil for a vault that answers. It happens once.
    let meanwhile = Shared<(@Sendable () async throws -> Void)?>(nil)

    private struct Record: LockedRecord {
        let base: any LockedRecord
        let isAnswered: Bool

        var contents: [UInt8]? { get async { await base.contents } }

        func replace(with contents: [UInt8]) async throws { try await base.replace(with: contents) }

        func conclude(with contents: [UInt8]) async throws {
            try await base.conclude(with: contents)
            if !isAnswered { throw VaultError.unavailable("the answer was lost") }
        }

        func remove() async throws { try await base.remove() }
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        let others = meanwhile.change { meanwhile in
            defer { meanwhile = nil }
            return meanwhile
        }
        do {
            return try await base.update(key) { try await body(Record(base: $0, isAnswered: others == nil)) }
        } catch {
            try await others?()
            throw error
        }
    }
}
