#if PostgreSQL
public import Handshake

extension PostgresVault {
    /// Under what a key store keeps the master key that seals now.
    public var keyIdentifier: VaultIdentifier { keys.active.identifier }

    /// What is held by the process that rotates keys: a name that no record has, since those are keyed digests.
    static let rotation = RecordName(digest: Array("handshake rotate".utf8))

    /// Seals every record with a new master key, while the vault is used.
    ///
    /// The new key is durable in the key store before the vault names it. As soon as the vault does, each write of every process uses it: a
    /// machine that does not have it can write nothing, and cannot read what it has sealed. So give it to the other machines in `stored`.
    /// Afterwards it is under ``keyIdentifier``. Each record is held while it is sealed again. A rotation that was interrupted is completed by
    /// the next call, which then makes no other key; when a record keeps it from being completed, the call makes one anyway. The role needs
    /// the right to change the table `key`.
    ///
    /// - Parameter stored: gets the name of the key in the key store before this call seals a record with it, and before the vault names one that
    ///   is new. What it throws ends the rotation; a new key is then removed.
    /// - Returns: what was done. A record that failed does not stop the others, and keeps its key from being retired.
    /// - Throws: `VaultError.busy` while another rotation runs; `CancellationError`; what the key store and `stored` throw; another
    ///   `VaultError` when the vault as a whole cannot be used.
    @concurrent
    public func rotateKey(
        stored: @Sendable (VaultIdentifier) async throws -> Void = { _ in }
    ) async throws -> VaultKeyRotation {
        return try await holding(Self.rotation) { hold, _ in
            try await readKeys()
            var retired: [Int64] = []
            if try await store.keys().contains(where: { !$0.isActive }) {
                // The process that made it may have ended before it could say so.
                try await stored(keys.active.identifier)
                let resumed = try await resealAll(isResumed: true, hold)
                // A record that cannot be sealed must not keep the vault from leaving its key.
                if resumed.isComplete { return resumed }
                retired = resumed.retired
            }
            try await makeKey(stored)
            var rotation = try await resealAll(isResumed: false, hold)
            rotation.retired = retired + rotation.retired
            return rotation
        }
    }

    /// Seals all records with the active key, and retires the keys that none needs any more.
    private func resealAll(isResumed: Bool, _ hold: PostgresHold) async throws -> VaultKeyRotation {
        var rotation = VaultKeyRotation(key: keys.active.number, isResumed: isResumed)
        var last: [UInt8]?
        repeat {
            let page = try await store.names(sealedOtherThan: rotation.key, after: last)
            for name in page.names {
                try Task.checkCancellation()
                try requireHold(hold)
                do {
                    if try await reseal(RecordName(digest: name)) { rotation.resealed += 1 }
                } catch let error as VaultError {
                    rotation.note(error)
                }
            }
            last = page.last
        } while last != nil
        try requireHold(hold)
        rotation.retired = try await store.retireKeys()
        return rotation
    }

    /// Ends a rotation that another one may have taken over.
    private func requireHold(_ hold: PostgresHold) throws(VaultError) {
        guard hold.end != nil else { return }
        throw .unavailable(
            "\(store.address): the rotation lost its hold, because this process was silent for too long. Run it again")
    }

    /// Makes a key and lets it seal from now on.
    private func makeKey(_ stored: @Sendable (VaultIdentifier) async throws -> Void) async throws {
        let (number, identifier, master) = (
            try await store.nextKey(), VaultIdentifier.random(), VaultMasterKey.random()
        )
        try await keySource.store(master, of: identifier, label: "Handshake: key \(number) of \(store.address)")
        let key = try keys.successor(number, identifier, RecordSeal(vault: self.identifier, master: master))
        var isOffered = false
        do {
            try await stored(identifier)
            isOffered = true
            guard try await store.add(key, after: keys.active.number) else {
                throw VaultError.busy("\(store.address), table key")
            }
        } catch {
            // When the storage fails, the vault may name the key all the same.
            if isOffered, case VaultError.unavailable = error { throw error }
            await removeUnnamed(identifier)
            throw error
        }
        try await readKeys()
    }

    /// Removes a key from the key store, unless the vault names it: it seals nothing.
    private func removeUnnamed(_ identifier: VaultIdentifier) async {
        guard let entries = try? await store.keys(), !entries.contains(where: { $0.identifier == identifier }) else {
            return
        }
        // What remains does no harm.
        _ = try? await keySource.remove(identifier)
    }

    /// Seals a record with the active key.
    ///
    /// - Returns: false when it was removed or sealed with it meanwhile.
    private func reseal(_ name: RecordName) async throws -> Bool {
        try await holding(name) { hold, record in
            // An answer that waits is not stored here.
            defer { if hold.unstoredSince != nil { hold.failedToWrite() } }
            guard let record, record.key != keys.active.number else { return false }
            let (canonical, contents) = try await open(record, as: name, newest: hold.newest)
            try await write(contents, canonical: canonical, kind: record.kind, with: hold)
            return true
        }
    }
}
#endif
