#if PostgreSQL
public import Handshake

extension PostgresVault {
    /// Makes a vault's tables, or brings older ones to this version. Idempotent.
    ///
    /// Several processes may do it concurrently: one makes the vault, and the others find it made. All of it is one transaction, so a process
    /// that dies on the way leaves nothing but a key that opens nothing. The role needs the right to create a schema in the database, or
    /// one to create tables in a schema that is there.
    ///
    /// - Parameters:
    ///   - connection: a URI, or pairs of keywords and values, as libpq takes it.
    ///   - keys: where the key of a new vault is stored, under its identifier, before there is the vault.
    ///   - options: the schema.
    ///   - timing: how long leases last, for every process that uses a new vault.
    /// - Returns: whether the vault is new.
    /// - Throws: as `open`, and what `keys` throws.
    @concurrent @discardableResult
    public static func migrate(
        _ connection: String, keyIn keys: some VaultKeyStore, options: Options = Options(),
        timing: LeaseTiming = .standard
    ) async throws -> Bool {
        try await migrate(connection, options, timing, key: VaultMasterKey.random(), keyIn: keys)
    }

    /// As the other, with a master key that the caller keeps.
    ///
    /// - Parameters:
    ///   - connection: as for the other.
    ///   - masterKey: the key of a new vault. One that exists keeps its own, which is not looked at.
    ///   - options: as for the other.
    ///   - timing: as for the other.
    @concurrent @discardableResult
    public static func migrate(
        _ connection: String, masterKey: VaultMasterKey, options: Options = Options(), timing: LeaseTiming = .standard
    ) async throws -> Bool {
        try await migrate(connection, options, timing, key: masterKey, keyIn: nil)
    }

    /// - Parameter keys: where the key of a new vault is stored; nil when the caller keeps it.
    private static func migrate(
        _ connection: String, _ options: Options, _ timing: LeaseTiming, key: VaultMasterKey,
        keyIn keys: (any VaultKeyStore)?
    ) async throws -> Bool {
        let store = try store(connection, options)
        defer { store.pool.close() }
        let identifier = VaultIdentifier.random()
        let entry = MasterKeyEntry(
            number: PostgresSchema.firstKey, identifier: identifier,
            proof: RecordSeal(vault: identifier, master: key).check, names: nil, isActive: true)
        let contents = PostgresSchema.Contents(identifier: identifier, timing: timing, keys: [entry])
        // No key is made for a vault that is there.
        if try await store.exists() { return try await store.migrate(contents) }
        try await keys?.store(key, of: identifier, label: "Handshake: key of \(store.address)")
        do {
            if try await store.migrate(contents) { return true }
        } catch {
            // A commit whose answer was lost may have made it; then the key stays.
            if (try? await store.contents())?.identifier == identifier { return true }
            if (try? await store.exists()) == false { try? await keys?.remove(identifier) }
            throw error
        }
        // Another process made it meanwhile.
        try? await keys?.remove(identifier)
        return false
    }

    /// As the other, with the keys in a folder, one file each.
    @concurrent @discardableResult
    public static func migrate(
        _ connection: String, keyFolder: String, options: Options = Options(), timing: LeaseTiming = .standard
    ) async throws -> Bool {
        try await migrate(connection, keyIn: KeyFolder(path: keyFolder), options: options, timing: timing)
    }
}

extension PostgresStore {
    /// How long a process may wait for others that make the same vault.
    private static let migrationTime = Duration.seconds(60)

    /// Whether there are tables in the schema.
    fileprivate func exists() async throws(VaultError) -> Bool {
        try await reporting {
            try await schema.isVault { statement throws(PostgresFailure) in
                try await pool.run(PostgresRequest(statements: [statement])).first ?? []
            } != nil
        }
    }

    fileprivate func migrate(_ contents: PostgresSchema.Contents) async throws(VaultError) -> Bool {
        try await reporting {
            try await pool.transaction(within: Self.migrationTime) { transaction in
                try await schema.migrate(contents, at: address, in: transaction)
            }
        }
    }
}
#endif
