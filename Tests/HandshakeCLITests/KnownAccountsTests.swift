#if CommandLine
import Handshake
import Synchronization
import Testing

@testable import HandshakeCLI

@Suite("The accounts that handshake keep knows")
struct KnownAccountsTests {
    @Test("nothing is taken over before the first listing, when no account is known")
    func firstListing() async throws {
        let vault = ClaimedVault()
        let accounts = KnownAccounts(in: vault)
        #expect(try await accounts.unfinished()?.ids == [])
        #expect(vault.claims == 0)
        try await accounts.pages { _ in }
        _ = try await accounts.unfinished()
        #expect(vault.claims == 1)
    }
}

/// A vault in memory that counts how often records are taken over.
private final class ClaimedVault: Vault {
    private let base = MemoryVault()
    private let count = Mutex(0)

    var claims: Int { count.withLock { $0 } }

    func record(_ key: VaultKey) async throws -> [UInt8]? { try await base.record(key) }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await base.keys(of: kind) }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await base.update(key, body)
    }

    func claimUnfinished(of kind: VaultKey.Kind) async throws -> VaultListing? {
        count.withLock { $0 += 1 }
        return nil
    }
}
#endif
