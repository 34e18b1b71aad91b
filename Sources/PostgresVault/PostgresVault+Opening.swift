#if PostgreSQL
public import Handshake

extension PostgresVault {
    /// Opens a vault that exists. No record is read, so the vault's size does not matter.
    ///
    /// - Parameters:
    ///   - connection: a URI, or pairs of keywords and values, as libpq takes it (PostgreSQL, chapter 34.1.1). What it leaves out comes from
    ///     `PGHOST`, `PGPASSFILE` and libpq's other variables.
    ///   - keys: where the master keys are kept, under their identifiers. Every machine needs them.
    ///   - storeName: how errors call the key store, as in `keyring`.
    ///   - options: the schema, the number of connections, the wait.
    ///   - clock: what measures the wait for other holders.
    /// - Throws: `VaultError.denied` when there is no vault yet, when the tables are another application's or a newer
    ///   version's, or the server refuses the role; `VaultError.locked` when the key is missing or is another vault's;
    ///   `VaultError.unavailable` when the server cannot be reached or is read-only; what `keys` throws.
    @concurrent
    public static func open(
        _ connection: String, keyIn keys: some VaultKeyStore, called storeName: String,
        options: Options = Options(), clock: any Clock<Duration> = .continuous
    ) async throws -> PostgresVault {
        try await open(connection, keyIn: keys, called: storeName, options: options, clock: clock, timing: nil)
    }

    /// As the other, with the keys in a folder, one file each.
    ///
    /// - Parameters:
    ///   - connection: as for the other.
    ///   - keyFolder: where `migrate` and ``rotateKey(stored:)`` store the keys. Copy it to every machine that opens the vault.
    ///   - options: as for the other.
    ///   - clock: as for the other.
    @concurrent
    public static func open(
        _ connection: String, keyFolder: String, options: Options = Options(), clock: any Clock<Duration> = .continuous
    ) async throws -> PostgresVault {
        try await open(connection, keyFolder: keyFolder, options: options, clock: clock, timing: nil)
    }

    /// As the other, with a master key that the caller has. Such a vault keeps its key.
    ///
    /// - Parameters:
    ///   - connection: as for the other.
    ///   - masterKey: the key that the vault was made with.
    ///   - options: as for the other.
    ///   - clock: as for the other.
    @concurrent
    public static func open(
        _ connection: String, masterKey: VaultMasterKey, options: Options = Options(),
        clock: any Clock<Duration> = .continuous
    ) async throws -> PostgresVault {
        try await open(
            connection, keyIn: GivenKey(key: masterKey), called: "given key", options: options, clock: clock,
            timing: nil)
    }

    static func open(
        _ connection: String, keyFolder: String, options: Options, clock: any Clock<Duration>, timing: LeaseTiming?,
        bodyLimit: Duration = PostgresHolds.bodyLimit
    ) async throws -> PostgresVault {
        try await open(
            connection, keyIn: KeyFolder(path: keyFolder), called: "folder \(keyFolder)", options: options,
            clock: clock,
            timing: timing, bodyLimit: bodyLimit)
    }

    /// - Parameters:
    ///   - timing: other than what the tables say, and unchecked, for tests that wait for it.
    ///   - bodyLimit: how long a body may run.
    static func open(
        _ connection: String, keyIn keys: some VaultKeyStore, called storeName: String,
        options: Options = Options(), clock: any Clock<Duration> = .continuous, timing: LeaseTiming?,
        bodyLimit: Duration = PostgresHolds.bodyLimit
    ) async throws -> PostgresVault {
        let store = try store(connection, options)
        do {
            let contents = try await store.contents()
            let wait = options.timeout ?? max(.seconds(90), contents.timing.shortestWait)
            guard timing != nil || wait >= contents.timing.shortestWait else {
                throw VaultError.denied(
                    what: "the wait of the PostgreSQL vault",
                    reason:
                        "\(wait) is too short. A holder that died is replaced only after up to \(contents.timing.shortestWait): wait at least that long."
                )
            }
            let masters = try await masters(contents.keys) { try await keys.key(of: $0.identifier) }
            let ring = try MasterKeyRing(
                vault: contents.identifier, contents.keys, masters, path: "\(store.address)",
                missing: { Self.missing($0, in: storeName, of: store) })
            let listener = PostgresListener(
                try options.listen.map { text throws(VaultError) in try PostgresAddress(text) } ?? store.address,
                isDirect: options.listen != nil)
            let holds = PostgresHolds(store, timing ?? contents.timing, bodyLimit: bodyLimit)
            return PostgresVault(
                store, contents.identifier, ring, (keys, storeName), holds, listener, timing ?? contents.timing, wait,
                clock)
        } catch {
            store.pool.close()
            throw error
        }
    }

    /// What a connection string leads to, as a URI without passwords.
    ///
    /// It is itself a connection string for the same server, role and options. A value that may be secret is “…” there.
    ///
    /// - Throws: `VaultError.denied` when it cannot be read.
    public static func address(of connection: String) throws(VaultError) -> String {
        "\(try PostgresAddress(connection))"
    }

    static func store(_ connection: String, _ options: Options) throws(VaultError) -> PostgresStore {
        let pool = PostgresPool(try PostgresAddress(connection), limit: min(max(1, options.connections), 100))
        return PostgresStore(pool, try PostgresSchema(options.schema))
    }
}
#endif
