#if PostgreSQL
import AsyncSupport
public import Handshake
import Synchronization

/// A vault in a PostgreSQL database. Any number of processes on any number of machines can use it concurrently.
///
/// ```swift
/// // Once, at installation.
/// try await PostgresVault.migrate("postgresql://app@db.example.com/vault", keyFolder: "/etc/app/keys")
/// let vault = try await PostgresVault.open("postgresql://app@db.example.com/vault", keyFolder: "/etc/app/keys")
/// ```
///
/// ### Guarantees
///
/// * **Exclusive** by a lease: a row beside each record names its holder, with a fencing number. No connection and no transaction is held
///   while a body runs. The lease is renewed meanwhile. A holder that dies or stalls loses it: another one takes it when it has expired by
///   the server's clock, and was seen unchanged for 12 s by the waiter's own clock. Tasks that wait for the same key of the same vault are
///   served in the order they came; between processes there is no order.
/// * **Fenced**: each write looks, in its own statement, whether the lease still has this holder, fencing number and version. A holder that
///   lost its lease writes nothing, and every later call of its body throws `VaultError.unavailable`.
/// * **Durable**: a replacement is committed before it returns, as durably as the server's `synchronous_commit` says; leave that on.
///   **Atomic**: a reader sees the old record or the new one. A write whose answer was lost is looked up before it counts as failed.
/// * **Confidential and bound**: contents and names are sealed as in a `FileVault` (AES-256-GCM, a key for each record), and bound to the
///   record's kind, version and the number of the key. A record that was changed, renamed, swapped with another, brought from another
///   vault or put back without its lease is `VaultError.damaged`. So is one that was put back with its lease, in a vault
///   that has opened or written a newer version of it: of the 50,000 records used last, and for two weeks. A vault that is opened
///   afterwards does not notice it. Kinds, sizes and the number of records are readable.
/// * **Several keys**: a record names the key that sealed it, and ``rotateKey(stored:)`` seals all of them with a new one while the vault is used.
/// * **Honest**: tables of another application, of a newer version and missing ones are errors, and stay as they are. Only `migrate` makes
///   tables. No error and no description holds a password.
///
/// Reads and writes go to the primary server: a connection whose session cannot write is refused, unless the connection string sets
/// `target_session_attrs`. It keeps no state in a session, so a pooler in transaction mode may stand before the server.
///
/// What it does not guarantee: that a holder that stalls while it talks to a service does not talk to it at the same time as the next
/// holder. It only cannot store what it learned.
public final class PostgresVault: Vault {
    /// How a vault is reached beside its connection string.
    public struct Options: Sendable {
        /// The schema with the vault's tables: lower-case letters, digits and `_`. One schema is one vault.
        public var schema = "handshake"
        /// How many connections are open at most, beside one that listens.
        public var connections = 8
        /// A connection string that leads to the server itself, for notifications. Nil: that of the vault, unless a pooler answers there.
        public var listen: String?
        /// How long an update waits for those before it. Nil: 90 s, or 10 s longer than a lease and its observation.
        public var timeout: Duration?

        public init() {}
    }

    /// What distinguishes this vault from every other. A key store keeps the first master key under it.
    public let identifier: VaultIdentifier

    let store: PostgresStore
    let timing: LeaseTiming
    let holds: PostgresHolds
    let listener: PostgresListener
    let keySource: any VaultKeyStore
    private let keySourceName: String
    private let ring: Mutex<MasterKeyRing>
    package let seen = SeenVersions()
    package let unknownKeys = UnknownKeys()
    let lockedNames = LockedNames()
    let watched = WatchedLeases()
    let queue = ExclusiveQueue<RecordName>()
    let timeout: Duration
    let clock: any Clock<Duration>

    init(
        _ store: PostgresStore, _ identifier: VaultIdentifier, _ ring: MasterKeyRing,
        _ keys: (source: any VaultKeyStore, name: String), _ holds: PostgresHolds, _ listener: PostgresListener,
        _ timing: LeaseTiming, _ timeout: Duration, _ clock: any Clock<Duration>
    ) {
        self.store = store
        self.identifier = identifier
        self.ring = Mutex(ring)
        (keySource, keySourceName) = keys
        self.holds = holds
        self.listener = listener
        self.timing = timing
        self.timeout = timeout
        self.clock = clock
    }

    deinit {
        listener.stop()
        store.pool.close()
    }

    /// The record under a key as it is now. It does not wait for another task or process that is changing it.
    ///
    /// - Throws: `VaultError.damaged`, `VaultError.locked`, `VaultError.denied`,
    ///   `VaultError.unavailable`.
    @concurrent
    public func record(_ key: VaultKey) async throws -> [UInt8]? {
        let name = name(of: key)
        // Before the record is read: what another task writes meanwhile does not make it an old one.
        let newest = newest(of: name)
        guard let record = try await store.record(name) else { return nil }
        return try await open(record, as: name, newest: newest).contents
    }

    /// The records under several keys as they are now, in the order of the keys.
    ///
    /// One statement reads 64. Where the server does not send them in time, they are read one by one.
    ///
    /// - Throws: `VaultError.denied`, `VaultError.unavailable`, `CancellationError`.
    @concurrent
    public func records(_ keys: [VaultKey]) async throws -> [Result<[UInt8]?, VaultError>] {
        var records: [Result<[UInt8]?, VaultError>] = []
        var rest = keys[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            // Before the records are read: what another task writes meanwhile does not make them old ones.
            let names = rest.prefix(PostgresStore.readSize).map { name(of: $0) }
            let wanted = names.map { (name: $0, newest: newest(of: $0)) }
            rest = rest.dropFirst(PostgresStore.readSize)
            let stored = try await store.records(names)
            for (name, newest) in wanted {
                do throws(VaultError) {
                    var contents: [UInt8]?
                    if let record = try stored[name.bytes]?.get() {
                        contents = try await open(record, as: name, newest: newest).contents
                    }
                    records.append(.success(contents))
                } catch {
                    guard error.isOfOneRecord else { throw error }
                    records.append(.failure(error))
                }
            }
        }
        return records
    }

    /// The keys of all records of a kind, in no order. It reads no contents.
    ///
    /// A record whose name does not open, or whose versions disagree, is left out and reported beside. One that is damaged elsewhere is
    /// listed, and is an error when it is read. The pages are not one snapshot: a record that exists throughout is listed once.
    ///
    /// - Throws: `CancellationError`, and `VaultError` when the database cannot be read.
    @concurrent
    public func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        try await listing(of: kind)
    }

    /// Hands over the keys of all records of a kind, a thousand at a time.
    ///
    /// - Throws: as ``keys(of:)``, and what `body` throws.
    @concurrent
    public func forEachPage(
        of kind: VaultKey.Kind, _ body: @Sendable (VaultListing) async throws -> Void
    ) async throws {
        try await eachPage(of: kind, body)
    }

    /// Runs `body` while holding this key. It is held against every task and every process that uses the vault.
    ///
    /// A body may run for 5 minutes. No connection is held meanwhile.
    ///
    /// - Throws: `VaultError.busy` when callers before took longer than the vault's timeout; `CancellationError` when the task was
    ///   cancelled before it had the key; another `VaultError` when the record cannot be read, in which case `body` does not run; and
    ///   whatever `body` throws. A replacement made before `body` throws stays.
    @concurrent
    public func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        let (canonical, kind) = (key.canonical, key.kind.rawValue)
        return try await holding(keys.seal.shortName(ofCanonical: canonical)) { hold, record in
            var contents: [UInt8]?
            if let record {
                contents =
                    try await open(record, as: hold.name, newest: hold.newest, ciphers: hold.ciphers).contents
            }
            let locked = HeldRecord(
                self.path(of: hold.name), contents: contents, version: { hold.version },
                confirm: { [self] time throws(VaultError) in try await confirm(hold, for: time) },
                journal: { [self] contents throws(VaultError) in
                    try await write(contents, canonical: canonical, kind: kind, isUnfinished: true, with: hold)
                },
                conclude: { [self] contents throws(VaultError) in
                    try await write(
                        contents, canonical: canonical, kind: kind, isUnfinished: false, concludes: true, with: hold)
                },
                store: { [self] contents throws(VaultError) in
                    guard let contents else {
                        _ = try await remove(with: hold)
                        return
                    }
                    try await write(contents, canonical: canonical, kind: kind, isUnfinished: false, with: hold)
                })
            return try await locked.use(by: body)
        }
    }

    /// Removes a record durably while holding its key, without reading it.
    ///
    /// - Returns: whether there was a record.
    /// - Throws: as ``update(_:_:)``, but never `VaultError.damaged` because of the record.
    @concurrent @discardableResult
    public func remove(_ key: VaultKey) async throws -> Bool {
        try Task.checkCancellation()
        return try await holding(name(of: key)) { hold, _ in try await remove(with: hold) }
    }
}

extension PostgresVault: RestoringVault {
    package func restore(
        _ key: VaultKey, from version: Int64, _ newer: @Sendable ([UInt8]) throws -> [UInt8]?
    ) async throws -> Bool {
        try Task.checkCancellation()
        return try await holding(name(of: key)) { hold, record in
            // An answer that waits is not stored here.
            defer { if hold.unstoredSince != nil { hold.failedToWrite() } }
            guard let record, record.version < hold.newest, version == hold.newest else { return false }
            let older = try await open(record, as: hold.name, newest: 0, ciphers: hold.ciphers)
            guard let contents = try newer(older.contents) else { return false }
            try await write(contents, canonical: older.canonical, kind: record.kind, with: hold)
            return true
        }
    }
}

extension PostgresVault: TableVault {
    package var keys: MasterKeyRing { ring.withLock { $0 } }
    package var place: String { "\(store.address)" }

    package func labels(
        of kind: VaultKey.Kind, after last: [UInt8]?
    ) async throws(VaultError) -> [SealedLabel] {
        try await store.labels(of: kind, after: last)
    }

    package func name(_ bytes: [UInt8]) -> RecordName { RecordName(digest: bytes) }

    /// This machine's time. What was seen counts for two weeks, so that differences of clocks do not matter.
    package static func now() -> Int64 { LeaseMoment.now().wall.milliseconds }

    func name(of key: VaultKey) -> RecordName { keys.seal.shortName(of: key) }

    /// How many tasks of this vault wait for another one of its own.
    func waitingCount(for name: RecordName) -> Int { queue.waitingCount(for: name) }

    // MARK: Keys

    package func readKeys() async throws(VaultError) {
        let entries = try await store.keys()
        let known = keys
        let masters = try await Self.masters(entries.filter { known[$0.number] == nil }) { [keySource] in
            try await keySource.key(of: $0.identifier)
        }
        try ring.withLock { ring throws(VaultError) in
            ring = try MasterKeyRing(
                vault: identifier, entries, masters, after: ring, path: "\(store.address)",
                missing: { Self.missing($0, in: keySourceName, of: store) })
        }
    }

    static func missing(_ key: MasterKeyEntry, in storeName: String, of store: PostgresStore) -> VaultError {
        .locked(
            "the \(storeName) does not have the key \(key.identifier) of \(store.address). If it is lost, so are the records: make "
                + "another vault and sign in again")
    }
}
#endif
