#if SQLite
public import Handshake
import Synchronization

/// A vault in one SQLite file. Any number of processes on one machine can use it concurrently.
///
/// ```swift
/// try SQLiteVault.migrate("\(data)/accounts.sqlite", keyFile: "\(config)/accounts.key")  // once, at installation
/// let vault = try SQLiteVault("\(data)/accounts.sqlite", keyFile: "\(config)/accounts.key")
/// ```
///
/// ### Guarantees
///
/// * **Exclusive** across tasks, across several vaults of one process, and across processes on one machine: by a lock on one byte of the
///   file with `-lock` behind its name. No transaction is open while a body runs. Tasks that wait for the same key of the same vault are
///   served in the order they came; between processes there is no order. A holder that dies releases the key.
/// * **Fenced**: each write looks, in its own transaction, whether the record is still as this holder knows it. When another holder wrote
///   meanwhile, because the lock's file was removed or restored from a backup, the write is refused and changes nothing.
/// * **Durable**: a replacement is committed in SQLite's write-ahead log with `synchronous=FULL` before it returns.
///   **Atomic**: a reader sees the old record or the new one.
/// * **Confidential and bound**: contents and names are sealed as in a `FileVault` (AES-256-GCM, a key for each record), and bound to the
///   record's kind, version and the number of the key. A record that was changed, renamed, swapped with another, brought from another
///   vault or put back without its lease is `VaultError.damaged`. So is one that was put back with its lease, in a vault
///   that has opened or written a newer version of it: of the 50,000 records used last, and for two weeks. A vault that is opened
///   afterwards does not notice it, and none notices that a record was removed by hand. The kinds and the sizes of records are readable.
/// * **Careful**: the file has mode 0600, one name and belongs to the effective user, and its folder is one where others cannot replace
///   it. Anything else is `VaultError.denied`, whose reason says how to mend it.
/// * **Several keys**: a record names the key that sealed it, and ``rotateKey(stored:)`` seals all of them with a new one while the vault is used.
/// * **Honest**: a database of another application, one of a newer version and one without tables are errors, and stay as they are. Only
///   ``migrate(_:keyFile:timeout:)`` makes or upgrades tables.
///
/// The file must be on a local file system. Copying a file that is in use needs SQLite's own means, such as `VACUUM INTO`.
public final class SQLiteVault: Vault {
    /// What distinguishes this vault from every other. A key store keeps the first master key under it.
    public let identifier: VaultIdentifier

    let file: DatabaseFile
    let store: SQLiteStore
    let source: SQLiteKeySource
    private let ring: Mutex<MasterKeyRing>
    package let seen = SeenVersions()
    package let unknownKeys = UnknownKeys()
    let queue = ExclusiveQueue<Int64>()
    let timeout: Duration
    let clock: any Clock<Duration>

    /// Opens a vault that exists. No record is read, so the vault's size does not matter.
    ///
    /// - Parameters:
    ///   - path: the database's file.
    ///   - keyFile: the file with the master key, in another folder than the database.
    ///   - timeout: how long an update waits for those before it, until it fails as `VaultError.busy`.
    ///   - clock: what measures the timeout, and the pauses between two looks at a key that another process holds.
    /// - Throws: `VaultError.locked` when the key is missing or is another vault's; `VaultError.damaged` when the
    ///   file is no database or is another application's; `VaultError.denied` when there is no vault yet, when a newer
    ///   version made it, and for what owner and modes forbid; `VaultError.unavailable` for what the storage says.
    public convenience init(
        _ path: String, keyFile: String, timeout: Duration = .seconds(60), clock: any Clock<Duration> = .continuous
    ) throws(VaultError) {
        let (file, store, contents) = try Self.connect(path)
        let source = SQLiteKeySource.file(keyFile)
        var masters: [Int64: VaultMasterKey] = [:]
        for key in contents.keys {
            masters[key.number] = try file.key(in: SQLiteKeySource.path(keyFile, key.number, key.identifier))
        }
        let ring = try source.ring(contents, masters, path: file.path)
        self.init(file, store, contents.identifier, source, ring, timeout, clock)
    }

    /// Opens a vault that exists, whose master key the caller has. Such a vault keeps its key.
    ///
    /// - Parameters:
    ///   - path: the database's file.
    ///   - masterKey: the key that the vault was made with.
    ///   - timeout: as for the other initialiser.
    ///   - clock: as for the other initialiser.
    /// - Throws: as the other initialiser.
    public convenience init(
        _ path: String, masterKey: VaultMasterKey, timeout: Duration = .seconds(60),
        clock: any Clock<Duration> = .continuous
    ) throws(VaultError) {
        let (file, store, contents) = try Self.connect(path)
        let source = SQLiteKeySource.given(masterKey)
        let masters = Dictionary(contents.keys.map { ($0.number, masterKey) }, uniquingKeysWith: { first, _ in first })
        let ring = try source.ring(contents, masters, path: file.path)
        self.init(file, store, contents.identifier, source, ring, timeout, clock)
    }

    /// Opens a vault that exists, whose master key is in a key store.
    ///
    /// - Parameters:
    ///   - path: the database's file.
    ///   - keys: where the master key is kept, under the vault's identifier.
    ///   - storeName: how errors call the key store, as in `keyring`.
    ///   - timeout: as for the initialiser.
    ///   - clock: as for the initialiser.
    /// - Throws: as the initialiser, and what `keys` throws.
    public static func open(
        _ path: String, keyIn keys: some VaultKeyStore, called storeName: String, timeout: Duration = .seconds(60),
        clock: any Clock<Duration> = .continuous
    ) async throws -> SQLiteVault {
        let (file, store, contents) = try connect(path)
        let source = SQLiteKeySource.store(keys, called: storeName)
        let masters = try await masters(contents.keys) { try await source.master($0.number, $0.identifier, of: file) }
        let ring = try source.ring(contents, masters, path: file.path)
        return SQLiteVault(file, store, contents.identifier, source, ring, timeout, clock)
    }

    private static func connect(_ path: String) throws(VaultError) -> (DatabaseFile, SQLiteStore, SQLiteSchema.Contents)
    {
        guard let file = try DatabaseFile.open(path) else { throw SQLiteSchema.missing(path) }
        guard let contents = try SQLiteStore.look(at: file.path) else { throw SQLiteSchema.missing(path) }
        return (file, try SQLiteStore(file.path), contents)
    }

    private init(
        _ file: DatabaseFile, _ store: SQLiteStore, _ identifier: VaultIdentifier, _ source: SQLiteKeySource,
        _ ring: MasterKeyRing, _ timeout: Duration, _ clock: any Clock<Duration>
    ) {
        self.file = file
        self.store = store
        self.identifier = identifier
        self.source = source
        self.ring = Mutex(ring)
        self.timeout = timeout
        self.clock = clock
    }

    /// The record under a key as it is now. It does not wait for another task or process that is changing it.
    ///
    /// - Throws: `VaultError.damaged`, `VaultError.locked`, `VaultError.denied`,
    ///   `VaultError.unavailable`.
    @concurrent
    public func record(_ key: VaultKey) async throws -> [UInt8]? {
        try file.requireSame()
        return try await read(keys.seal.name(of: key)).contents
    }

    /// The keys of all records of a kind, in no order. It reads no contents.
    ///
    /// A record whose name does not open, or whose versions disagree, is left out and reported beside. One that is damaged elsewhere is
    /// listed, and is an error when it is read.
    ///
    /// - Throws: `CancellationError`, and `VaultError` when the database cannot be read.
    @concurrent
    public func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        try file.requireSame()
        return try await listing(of: kind)
    }

    /// Hands over the keys of all records of a kind, a thousand at a time.
    ///
    /// - Throws: as ``keys(of:)``, and what `body` throws.
    @concurrent
    public func forEachPage(
        of kind: VaultKey.Kind, _ body: @Sendable (VaultListing) async throws -> Void
    ) async throws {
        try file.requireSame()
        try await eachPage(of: kind, body)
    }

    /// Runs `body` while holding this key. It is held against every task and every process that uses the vault.
    ///
    /// Waiting for another process means looking again after 1 to 10 ms, which one task a key does; the others queue behind it.
    ///
    /// - Throws: `VaultError.busy` when callers before took longer than the vault's timeout; `CancellationError` when the task was
    ///   cancelled before it had the key; another `VaultError` when the record cannot be read, in which case `body` does not run; and
    ///   whatever `body` throws. A replacement made before `body` throws stays.
    @concurrent
    public func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await holding(key) { name in
            let (contents, lease) = try await read(name)
            let hold = SQLiteHold(lease)
            let record = HeldRecord(self.path(of: name), contents: contents) {
                [self] contents async throws(VaultError) in
                try file.requireSame()
                try await write(contents, of: key, as: name, with: hold)
            }
            return try await record.use(by: body)
        }
    }

    /// Removes a record durably while holding its key, without reading it.
    ///
    /// - Returns: whether there was a record.
    /// - Throws: as ``update(_:_:)``, but never `VaultError.damaged` because of the record.
    @concurrent @discardableResult
    public func remove(_ key: VaultKey) async throws -> Bool {
        try await holding(key) { name in
            let removed = try await store.remove(name.bytes, above: newest(of: name))
            if let removed { note(removed, of: name) }
            await forgetOldLeases()
            return removed != nil
        }
    }

    /// Examines the database's own structure, which reading every record does not.
    ///
    /// - Throws: `VaultError.damaged` with SQLite's first finding; another `VaultError` when it cannot be read.
    @concurrent
    public func checkIntegrity() async throws {
        try file.requireSame()
        try await store.checkIntegrity()
    }
}

extension SQLiteVault: TableVault {
    package var keys: MasterKeyRing { ring.withLock { $0 } }
    package var place: String { file.path }

    package func labels(
        of kind: VaultKey.Kind, after last: [UInt8]?
    ) async throws(VaultError) -> [SealedLabel] {
        try await store.labels(of: kind, after: last ?? [])
    }

    package func name(_ bytes: [UInt8]) throws(VaultError) -> RecordName {
        guard bytes.count == 32 else {
            throw .damaged(what: "\(place), table record", reason: "a record's name has \(bytes.count) bytes, not 32")
        }
        return RecordName(digest: bytes)
    }

    package static func now() -> Int64 { SQLiteStore.now() }

    private func read(_ name: RecordName) async throws(VaultError) -> (contents: [UInt8]?, lease: SQLiteLease?) {
        // Before the record is read: what another task writes meanwhile does not make it an old one.
        let newest = newest(of: name)
        let (lease, record) = try await store.row(name.bytes)
        guard let record else { return (nil, lease) }
        return (try await open(record, as: name, newest: newest).contents, lease)
    }

    private func write(
        _ contents: [UInt8]?, of key: VaultKey, as name: RecordName, with hold: SQLiteHold
    ) async throws(VaultError) {
        guard let contents else {
            if let version = try await store.write(nil, under: name.bytes, with: hold, above: newest(of: name)) {
                note(version, of: name)
            }
            return
        }
        try await write(contents, canonical: key.canonical, kind: key.kind.rawValue, as: name, with: hold)
    }

    func write(
        _ contents: [UInt8], canonical: [UInt8], kind: String, as name: RecordName, with hold: SQLiteHold
    ) async throws(VaultError) {
        let path = path(of: name)
        // Once more for each rotation that began meanwhile.
        for _ in 0..<3 {
            let keys = keys
            // The version and the key are known only within the transaction.
            let sealed: SQLiteStore.Sealing = { version, number throws(VaultError) in
                guard let seal = keys[number] else { return nil }
                try keys.requireNotOlder(number, path: path)
                return try self.sealed(
                    contents, canonical: canonical, kind: kind, as: name, by: seal, key: number, version: version)
            }
            if let version = try await store.write(sealed, under: name.bytes, with: hold, above: newest(of: name)) {
                return note(version, of: name)
            }
            try await readKeys()
        }
        throw .unavailable("\(path): the vault's keys change faster than they can be read. Try again")
    }

    package func readKeys() async throws(VaultError) {
        let contents = SQLiteSchema.Contents(identifier: identifier, keys: try await store.keys())
        let known = keys
        let masters = try await Self.masters(contents.keys.filter { known[$0.number] == nil }) { [source, file] in
            try await source.master($0.number, $0.identifier, of: file)
        }
        try ring.withLock { ring throws(VaultError) in
            ring = try source.ring(contents, masters, after: ring, path: file.path)
        }
    }
}
#endif
