import Handshake
import Synchronization

/// A vault in memory of which one record cannot be opened. Its name stays readable, as in a database.
final class UnreadableVault: ForwardingVault {
    let base: MemoryVault
    private let unreadable = Mutex<(key: VaultKey, error: VaultError)?>(nil)

    init(_ base: MemoryVault = MemoryVault()) { self.base = base }

    /// From now on this record fails.
    func fail(_ key: VaultKey, with error: VaultError) { unreadable.withLock { $0 = (key, error) } }

    private func check(_ key: VaultKey) throws {
        if let unreadable = unreadable.withLock({ $0 }), unreadable.key == key { throw unreadable.error }
    }

    func record(_ key: VaultKey) async throws -> [UInt8]? {
        try check(key)
        return try await base.record(key)
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try check(key)
        return try await base.update(key, body)
    }
}
