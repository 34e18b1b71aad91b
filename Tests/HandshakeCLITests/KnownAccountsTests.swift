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
        #expect(try await accounts.unfinished(except: [])?.ids == [])
        #expect(vault.claims == 0)
        try await accounts.pages { _ in }
        _ = try await accounts.unfinished(except: [])
        #expect(vault.claims == 1)
    }
}

/// A vault in memory that counts how often records are taken over.
private final class ClaimedVault: ForwardingVault {
    let base = MemoryVault()
    private let count = Mutex(0)

    var claims: Int { count.withLock { $0 } }

    func claimUnfinished(
        of kind: VaultKey.Kind, except passedOver: Set<VaultKey>
    ) async throws -> UnfinishedRecords? {
        count.withLock { $0 += 1 }
        return nil
    }
}
#endif
