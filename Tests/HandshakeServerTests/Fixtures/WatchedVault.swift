import Handshake
import Synchronization

/// A vault in memory that counts what is written and can fail.
final class WatchedVault: Vault {
    private let inner = MemoryVault()
    private let listingFailure = Mutex<VaultError?>(nil)
    private let state = Mutex<(writes: [VaultKey.Kind], failure: (@Sendable (VaultKey) -> VaultError?)?)>(([], nil))

    /// What was written, in order.
    var writes: [VaultKey.Kind] { state.withLock { $0.writes } }

    /// From now on.
    func fail(_ failure: (@Sendable (VaultKey) -> VaultError?)?) {
        state.withLock { $0.failure = failure }
    }

    /// From now on nothing can be listed; nil ends that.
    func failListing(_ failure: VaultError?) {
        listingFailure.withLock { $0 = failure }
    }

    private func check(_ key: VaultKey) throws {
        if let error = state.withLock({ $0.failure })?(key) { throw error }
    }

    func record(_ key: VaultKey) async throws -> [UInt8]? {
        try check(key)
        return try await inner.record(key)
    }

    func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        if let error = listingFailure.withLock({ $0 }) { throw error }
        return try await inner.keys(of: kind)
    }

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try check(key)
        return try await inner.update(key) { record in
            try await body(Watched(inner: record) { self.state.withLock { $0.writes.append(key.kind) } })
        }
    }

    /// What is damaged can be removed all the same.
    func remove(_ key: VaultKey) async throws -> Bool {
        do {
            try check(key)
        } catch VaultError.damaged {
            return try await inner.remove(key)
        }
        return try await update(key) { record in
            let existed = await record.contents != nil
            try await record.remove()
            return existed
        }
    }

    private struct Watched: LockedRecord {
        let inner: any LockedRecord
        let wrote: @Sendable () -> Void

        var contents: [UInt8]? { get async { await inner.contents } }

        func replace(with contents: [UInt8]) async throws {
            wrote()
            try await inner.replace(with: contents)
        }

        func remove() async throws {
            try await inner.remove()
        }
    }
}
