#if SQLite
public import Handshake

extension SQLiteVault {
    /// Makes a vault, or brings an older one's tables to this version. Idempotent.
    ///
    /// Several processes may do it concurrently: one makes the vault, and the others find it made. A process that dies on the way leaves
    /// a file without tables, which the next call completes.
    ///
    /// - Parameters:
    ///   - path: the database's file. It is made with mode 0600, and missing folders above it with mode 0700.
    ///   - keyFile: the file with the master key, in another folder. It is made if it is missing; several vaults may share it.
    ///   - timeout: how long another process may take that makes the same vault.
    /// - Returns: whether the vault is new.
    /// - Throws: as the initialiser of ``SQLiteVault``; `VaultError.busy` after the timeout.
    @discardableResult
    public static func migrate(
        _ path: String, keyFile: String, timeout: Duration = .seconds(60)
    ) throws(VaultError) -> Bool {
        try migrate(path, timeout) { file throws(VaultError) in try file.keyOrNew(in: keyFile, timeout: timeout) }
    }

    /// As the other, with a master key that the caller keeps.
    ///
    /// - Parameters:
    ///   - path: the database's file.
    ///   - masterKey: the key of a new vault. One that exists keeps its own, which is not looked at.
    ///   - timeout: how long another process may take that makes the same vault.
    /// - Returns: whether the vault is new.
    /// - Throws: as the other.
    @discardableResult
    public static func migrate(
        _ path: String, masterKey: VaultMasterKey, timeout: Duration = .seconds(60)
    ) throws(VaultError) -> Bool {
        try migrate(path, timeout) { _ in masterKey }
    }

    private static func migrate(
        _ path: String, _ timeout: Duration, key: (DatabaseFile) throws(VaultError) -> VaultMasterKey
    ) throws(VaultError) -> Bool {
        let file = try DatabaseFile.openOrMake(path)
        try awaitBriefly(timeout, for: path) { () throws(VaultError) in try file.locks.take(FileLocks.setup) }
        defer { file.locks.giveBack(FileLocks.setup) }
        try file.requireSame()
        guard try SQLiteStore.look(at: file.path) == nil else { return false }
        try make(file, VaultIdentifier.random(), key(file))
        return true
    }

    /// As the other, with a master key that a key store keeps. The key is there before the vault.
    ///
    /// - Parameters:
    ///   - path: the database's file.
    ///   - keys: where the key of a new vault is stored, under its identifier.
    ///   - timeout: how long another process may take that makes the same vault.
    ///   - clock: what measures the timeout.
    /// - Returns: whether the vault is new.
    /// - Throws: as the other, what `keys` throws, and `CancellationError`.
    @discardableResult
    public static func migrate(
        _ path: String, keyIn keys: some VaultKeyStore, timeout: Duration = .seconds(60),
        clock: any Clock<Duration> = .continuous
    ) async throws -> Bool {
        let file = try DatabaseFile.openOrMake(path)
        try await takeSetup(of: file, within: timeout, on: clock)
        defer { file.locks.giveBack(FileLocks.setup) }
        try file.requireSame()
        guard try SQLiteStore.look(at: file.path) == nil else { return false }
        let (identifier, key) = (VaultIdentifier.random(), VaultMasterKey.random())
        try await keys.store(key, of: identifier, label: "Handshake: key of \(file.path)")
        do {
            try make(file, identifier, key)
            return true
        } catch {
            // A commit whose answer was lost may have made it; then the key stays.
            if try SQLiteStore.look(at: file.path) == nil { _ = try? await keys.remove(identifier) }
            throw error
        }
    }

    private static func takeSetup<C: Clock<Duration>>(of file: DatabaseFile, within timeout: Duration, on clock: C)
        async throws
    {
        let deadline = clock.now.advanced(by: timeout)
        while try !file.locks.take(FileLocks.setup) {
            guard clock.now < deadline else { throw VaultError.busy(file.path) }
            try await clock.sleep(for: .milliseconds(1))
        }
    }

    private static func make(
        _ file: DatabaseFile, _ identifier: VaultIdentifier, _ key: VaultMasterKey
    ) throws(VaultError) {
        let key = MasterKeyEntry(
            number: SQLiteSchema.firstKey, identifier: identifier,
            proof: RecordSeal(vault: identifier, master: key).check,
            names: nil, isActive: true)
        try SQLiteStore(file.path).make(SQLiteSchema.Contents(identifier: identifier, keys: [key]))
    }
}
#endif
