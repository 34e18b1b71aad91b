/// Keeps the master keys of file vaults apart from the vaults. Such a store is a keyring, the Keychain, or a key
/// management service.
public protocol VaultKeyStore: Sendable {
    /// The key of the vault with this identifier; nil when the store does not have it.
    ///
    /// - Throws: ``VaultError/locked(_:)`` when the store has to be unlocked first; ``VaultError/damaged(what:reason:)``
    ///   when what it has is no key; another ``VaultError`` when it cannot be used.
    func key(of identifier: VaultIdentifier) async throws -> VaultMasterKey?

    /// Stores the key of a new vault durably, before there is the vault.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - identifier: under what it is found again.
    ///   - label: what the store shows to the user.
    func store(_ key: VaultMasterKey, of identifier: VaultIdentifier, label: String) async throws

    /// Removes the key of a vault that was never made. Removing an absent key is no error.
    func remove(_ identifier: VaultIdentifier) async throws
}

extension FileVault {
    /// Opens or makes a vault whose master key is in a key store. It is made in an empty or missing folder.
    ///
    /// It never falls back to another place, and never makes a new key for a vault that exists: a store that is locked, or
    /// that lost the key, is an error, and the records stay as they are.
    ///
    /// - Parameters:
    ///   - directory: the vault's folder.
    ///   - keys: where the master key is kept.
    ///   - storeName: how errors call the key store, as in `keyring`.
    ///   - timeout: how long an update waits for those before it, until it fails as ``VaultError/busy(_:)``.
    ///   - clock: what measures the timeout.
    /// - Throws: ``VaultError/locked(_:)`` when the store is locked, or does not have the key of the vault that is there;
    ///   what `keys` and `FileVault` throw; `CancellationError`.
    public static func open(
        directory: String, keyIn keys: some VaultKeyStore, called storeName: String,
        timeout: Duration = .seconds(60), clock: any Clock<Duration> = .continuous
    ) async throws -> FileVault {
        // Twice at most: a process that loses the race to make a vault finds it made.
        for _ in 0..<2 {
            if let identifier = try VaultIdentifier.ofVault(in: directory) {
                guard let key = try await keys.key(of: identifier) else {
                    throw VaultError.locked(
                        "the \(storeName) does not have the key of \(directory). If it is lost, so are the records: move "
                            + "the folder away and sign in again")
                }
                return try FileVault(
                    directory: directory, identifier: identifier, masterKey: key, timeout: timeout, clock: clock)
            }
            if let vault = try await make(directory, keyIn: keys, timeout, clock) { return vault }
        }
        throw VaultError.busy(directory)
    }

    /// Stores the key and then makes the vault, so that a vault never exists without its key.
    ///
    /// - Returns: nil when another process made the vault meanwhile.
    private static func make(
        _ directory: String, keyIn keys: some VaultKeyStore, _ timeout: Duration, _ clock: any Clock<Duration>
    ) async throws -> FileVault? {
        let (identifier, key) = (VaultIdentifier.random(), VaultMasterKey.random())
        try await keys.store(key, of: identifier, label: "Handshake: key of \(directory)")
        do {
            return try FileVault(
                directory: directory, identifier: identifier, masterKey: key, timeout: timeout, clock: clock)
        } catch {
            // The key opens nothing. When it cannot be removed, it does no harm.
            _ = try? await keys.remove(identifier)
            if let made = try VaultIdentifier.ofVault(in: directory), made != identifier { return nil }
            throw error
        }
    }
}
