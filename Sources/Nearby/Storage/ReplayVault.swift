public import Handshake
import Synchronization

/// A vault for a replay that stores nothing.
///
/// It reads another vault, and its changes end with this value. A class, because its users share the changes.
public final class ReplayVault: Vault {
    private let base: any Vault
    private let changes = MemoryVault()
    private let removed = Mutex<Set<VaultKey>>([])

    /// - Parameter base: what is read; it is never changed.
    public init(over base: any Vault) {
        self.base = base
    }

    public func record(_ key: VaultKey) async throws -> [UInt8]? {
        if let changed = try await changes.record(key) { return changed }
        return try await unchanged(key)
    }

    public func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        let listing = try await base.keys(of: kind)
        let gone = removed.withLock(\.self)
        let keys = Set(listing.keys).subtracting(gone).union(try await changes.keys(of: kind).keys)
        return VaultListing(keys: Array(keys), damaged: listing.damaged)
    }

    public func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await changes.update(key) { record in
            try await body(Record(key: key, base: record, vault: self))
        }
    }

    private func unchanged(_ key: VaultKey) async throws -> [UInt8]? {
        removed.withLock { $0.contains(key) } ? nil : try await base.record(key)
    }

    /// A record that is read from the other vault until it is replaced.
    private struct Record: LockedRecord {
        let key: VaultKey
        let base: any LockedRecord
        let vault: ReplayVault

        /// What cannot be read counts as absent: the replay stores its own.
        var contents: [UInt8]? {
            get async {
                if let changed = await base.contents { return changed }
                return try? await vault.unchanged(key)
            }
        }

        func replace(with contents: [UInt8]) async throws { try await base.replace(with: contents) }

        func remove() async throws {
            vault.removed.withLock { _ = $0.insert(key) }
            try await base.remove()
        }
    }
}
