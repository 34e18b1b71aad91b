#if SQLite
public import Handshake

extension SQLiteVault {
    /// Under what a key store keeps the master key that seals now.
    public var keyIdentifier: VaultIdentifier { keys.active.identifier }

    /// Seals every record with a new master key, while the vault is used.
    ///
    /// The new key is durable where the vault's keys lie before the vault names it: in the key store under ``keyIdentifier``, or in a file
    /// with the key's identifier behind the name of the key file. From then on each write of every process uses it. Each record is held while
    /// it is sealed again. A rotation that was interrupted is completed by the next call, which then makes no other key; when a record keeps
    /// it from being completed, the call makes one anyway, and the vault has several old keys.
    ///
    /// - Parameter stored: gets the key's identifier before a record is sealed with it, and before the vault names one that is new. What it
    ///   throws ends the rotation; a new key is then removed.
    /// - Returns: what was done. A record that failed does not stop the others, and keeps its key from being retired.
    /// - Throws: `VaultError.busy` while another rotation runs; `CancellationError`; what the key store and `stored` throw; another
    ///   `VaultError` when the vault as a whole cannot be used.
    @concurrent
    public func rotateKey(
        stored: @Sendable (VaultIdentifier) async throws -> Void = { _ in }
    ) async throws -> VaultKeyRotation {
        try file.requireSame()
        guard queue.tryAcquire(FileLocks.rotation) else { throw VaultError.busy(file.path) }
        defer { queue.release(FileLocks.rotation) }
        guard try file.locks.take(FileLocks.rotation) else { throw VaultError.busy(file.path) }
        defer { file.locks.giveBack(FileLocks.rotation) }
        try await readKeys()
        var retired: [Int64] = []
        if try await store.keys().contains(where: { !$0.isActive }) {
            // The process that made it may have ended before it could say so.
            try await stored(keys.active.identifier)
            let resumed = try await resealAll(isResumed: true)
            // A record that cannot be sealed must not keep the vault from leaving its key.
            if resumed.isComplete { return resumed }
            retired = resumed.retired
        }
        try await makeKey(stored)
        var rotation = try await resealAll(isResumed: false)
        rotation.retired = retired + rotation.retired
        return rotation
    }

    /// Seals all records with the active key, and retires the keys that none needs any more.
    private func resealAll(isResumed: Bool) async throws -> VaultKeyRotation {
        var rotation = VaultKeyRotation(key: keys.active.number, isResumed: isResumed)
        var last: [UInt8] = []
        while true {
            let page = try await store.names(sealedOtherThan: rotation.key, after: last)
            guard let end = page.last else { break }
            last = end
            for name in page {
                try Task.checkCancellation()
                do {
                    if try await reseal(name) { rotation.resealed += 1 }
                } catch let error as VaultError {
                    rotation.note(error)
                }
            }
        }
        rotation.retired = try await store.retireKeys()
        return rotation
    }

    /// Makes a key and lets it seal from now on.
    private func makeKey(_ stored: @Sendable (VaultIdentifier) async throws -> Void) async throws {
        let (number, identifier) = (try await store.nextKey(), VaultIdentifier.random())
        let master = try await source.make(number, identifier, of: file, timeout: timeout)
        let key = try keys.successor(number, identifier, RecordSeal(vault: self.identifier, master: master))
        var isOffered = false
        do {
            try await stored(identifier)
            isOffered = true
            guard try await store.add(key, after: keys.active.number) else { throw VaultError.busy(file.path) }
        } catch {
            // When the storage fails, the vault may name the key all the same.
            if isOffered, case VaultError.unavailable = error { throw error }
            await removeUnnamed(number, identifier)
            throw error
        }
        try await readKeys()
    }

    /// Removes a key from where it lies, unless the vault names it: it seals nothing.
    private func removeUnnamed(_ number: Int64, _ identifier: VaultIdentifier) async {
        guard let entries = try? await store.keys(), !entries.contains(where: { $0.identifier == identifier }) else {
            return
        }
        // What remains does no harm.
        _ = try? await source.remove(number, identifier)
    }

    /// Seals a record with the active key.
    ///
    /// - Returns: false when it was removed or sealed with it meanwhile.
    private func reseal(_ bytes: [UInt8]) async throws -> Bool {
        try await holding(name(bytes)) { name in
            let newest = newest(of: name)
            let (lease, record) = try await store.row(bytes)
            guard let record, record.key != keys.active.number else { return false }
            let (canonical, contents) = try await open(record, as: name, newest: newest)
            try await write(contents, canonical: canonical, kind: record.kind, as: name, with: SQLiteHold(lease))
            return true
        }
    }
}
#endif
