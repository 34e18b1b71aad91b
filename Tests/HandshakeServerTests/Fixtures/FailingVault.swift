import Handshake
import Synchronization

/// A vault in memory whose storage can be taken away.
final class FailingVault: Vault {
    private let vault: MemoryVault
    private let updatesLeft = Mutex<Int?>(nil)

    init(_ vault: MemoryVault = MemoryVault()) {
        self.vault = vault
    }

    /// Fails after so many more updates.
    func fail(after count: Int = 0) { updatesLeft.withLock { $0 = count } }

    func recover() { updatesLeft.withLock { $0 = nil } }

    func record(_ key: VaultKey) async throws -> [UInt8]? { try await vault.record(key) }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await vault.keys(of: kind) }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        let isOver = updatesLeft.withLock { left in
            guard let count = left else { return false }
            left = max(count - 1, 0)
            return count == 0
        }
        if isOver { throw VaultError.unavailable("the test says so") }
        return try await vault.update(key, body)
    }
}
