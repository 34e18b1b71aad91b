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
///   lost its lease writes nothing, and every later call of its body throws ``VaultError/unavailable(_:)``.
/// * **Durable**: a replacement is committed before it returns, as durably as the server's `synchronous_commit` says; leave that on.
///   **Atomic**: a reader sees the old record or the new one. A write whose answer was lost is looked up before it counts as failed.
/// * **Confidential and bound**: contents and names are sealed as in a ``FileVault`` (AES-256-GCM, a key for each record), and bound to the
///   record's kind, version and the number of the key. A record that was changed, renamed, swapped with another, brought from another
///   vault or put back without its lease is ``VaultError/damaged(what:reason:)``. So is one that was put back with its lease, in a vault
///   that has opened or written a newer version of it: of the 50,000 records used last, and for two weeks. A vault that is opened
///   afterwards does not notice it. Kinds, sizes and the number of records are readable.
/// * **Several keys**: a record names the key that sealed it, and ``rotateKey()`` seals all of them with a new one while the vault is used.
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
    let givenBack = GivenBack()
    private let queue = ExclusiveQueue<RecordName>()
    private let timeout: Duration
    private let clock: any Clock<Duration>

    /// Opens a vault that exists. It looks at no record, so its size does not matter.
    ///
    /// - Parameters:
    ///   - connection: a URI, or pairs of keywords and values, as libpq takes it (PostgreSQL, chapter 34.1.1). What it leaves out comes from
    ///     `PGHOST`, `PGPASSFILE` and libpq's other variables.
    ///   - keys: where the master keys are kept, under their identifiers. Every machine needs them.
    ///   - storeName: how errors call the key store, as in `keyring`.
    ///   - options: the schema, the number of connections, the wait.
    ///   - clock: what measures the wait for other holders.
    /// - Throws: ``VaultError/denied(what:reason:)`` when there is no vault yet, when the tables are another application's or a newer
    ///   version's, or the server refuses the role; ``VaultError/locked(_:)`` when the key is missing or is another vault's;
    ///   ``VaultError/unavailable(_:)`` when the server cannot be reached or is read-only; what `keys` throws.
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
    ///   - keyFolder: where `migrate` and ``rotateKey()`` store the keys. Copy it to every machine that opens the vault.
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
                        "\(wait) is too short: a holder that died is replaced only after up to \(contents.timing.shortestWait)"
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

    /// What a connection string leads to, as a URI without password and options.
    ///
    /// - Throws: ``VaultError/denied(what:reason:)`` when it cannot be read.
    public static func address(of connection: String) throws(VaultError) -> String {
        "\(try PostgresAddress(connection))"
    }

    static func store(_ connection: String, _ options: Options) throws(VaultError) -> PostgresStore {
        let pool = PostgresPool(try PostgresAddress(connection), limit: min(max(1, options.connections), 100))
        return PostgresStore(pool, try PostgresSchema(options.schema))
    }

    private init(
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
    /// - Throws: ``VaultError/damaged(what:reason:)``, ``VaultError/locked(_:)``, ``VaultError/denied(what:reason:)``,
    ///   ``VaultError/unavailable(_:)``.
    @concurrent
    public func record(_ key: VaultKey) async throws -> [UInt8]? {
        let name = name(of: key)
        // Before the record is read: what another task writes meanwhile does not make it an old one.
        let newest = newest(of: name)
        guard let record = try await store.record(name) else { return nil }
        return try await open(record, as: name, newest: newest).contents
    }

    /// The keys of all records of a kind, in no order. It reads no contents.
    ///
    /// A record whose name does not open, or whose versions disagree, is left out and reported beside. One that is damaged elsewhere is
    /// listed, and is an error when it is read. The pages are not one snapshot: a record that exists throughout is listed once.
    ///
    /// - Throws: `CancellationError`, and ``VaultError`` when the database cannot be read.
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
    /// - Throws: ``VaultError/busy(_:)`` when callers before took longer than the vault's timeout; `CancellationError` when the task was
    ///   cancelled before it had the key; another ``VaultError`` when the record cannot be read, in which case `body` does not run; and
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
    /// - Throws: as ``update(_:_:)``, but never ``VaultError/damaged(what:reason:)`` because of the record.
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

    /// Of this machine. What was seen counts for two weeks, so that differences of clocks do not matter.
    package static func now() -> Int64 { LeaseMoment.now().wall.milliseconds }

    func name(of key: VaultKey) -> RecordName { keys.seal.shortName(of: key) }

    /// How many tasks of this vault wait for another one of its own.
    func waitingCount(for name: RecordName) -> Int { queue.waitingCount(for: name) }

    // MARK: Writing

    /// A write that concludes is as fenced as any other, and its lease is free in the same commit that stores the contents, so no holder gets it
    /// without them (`vault-lease.md` 5). While its answer is out, it is repeated: a copy that comes late finds another holder, fence or version.
    /// If another holder has written by then, it counts as lost though it was stored; the caller looks before it stores again.
    ///
    /// - Parameters:
    ///   - isUnfinished: whether another replacement is to follow; nil when that stays as it was.
    ///   - concludes: whether this is the last write of the hold.
    func write(
        _ contents: [UInt8], canonical: [UInt8], kind: String, isUnfinished: Bool? = nil, concludes: Bool = false,
        with hold: PostgresHold
    ) async throws(VaultError) {
        try await noting(hold) { () throws(VaultError) in
            var takesOldKey = false
            // Once more for each rotation that began meanwhile.
            for _ in 0..<3 {
                let keys = keys
                let (key, expected) = (keys.active.number, hold.version)
                let version = try next(after: expected, of: hold.name)
                guard let seal = keys[key] else { break }
                let record = try sealed(
                    contents, canonical: canonical, kind: kind, as: hold.name, by: seal, key: key, version: version,
                    ciphers: hold.ciphers)
                let now = LeaseMoment.now()
                let written = try await store.replace(
                    record, of: hold, after: expected, takesOldKey: takesOldKey, isUnfinished: isUnfinished,
                    concludes: concludes, timing: timing, for: retryTime(of: hold))
                switch written {
                case .done(let version, let isReleased):
                    note(version, of: hold.name)
                    if isReleased { holds.remove(hold) }
                    return hold.wrote(version, sentAt: now, isReleased: isReleased)
                case .lost: throw lost(hold, mayBeStored: concludes)
                case .otherKey(let number):
                    try keys.requireNotOlder(number, path: path(of: hold.name))
                    do throws(VaultError) { try await readKeys() } catch {
                        // The new key has not come to this machine. What follows a first write may be an answer that no request brings
                        // again: it is stored with the key that it was to leave, and the next rotation finds it.
                        guard case .locked = error, hold.hasWritten, !takesOldKey else { throw error }
                        takesOldKey = true
                    }
                }
            }
            throw .unavailable("\(path(of: hold.name)): the vault's keys change faster than they can be read")
        }
    }

    /// The version that follows a hold's, and every one that was seen.
    private func next(after version: Int64, of name: RecordName) throws(VaultError) -> Int64 {
        guard let next = RecordVersion.next(after: version, seen: newest(of: name)) else {
            throw .versionsDiffer(of: path(of: name))
        }
        return next
    }

    private func remove(with hold: PostgresHold) async throws(VaultError) -> Bool {
        var existed = false
        try await noting(hold) { () throws(VaultError) in
            let now = LeaseMoment.now()
            let expected = hold.version
            let version = RecordVersion.removal(after: expected, seen: newest(of: hold.name))
            let removed = try await store.remove(
                hold, after: expected, as: version, timing: timing, for: retryTime(of: hold))
            guard let removed else { throw lost(hold) }
            note(removed.version, of: hold.name)
            hold.wrote(removed.version, sentAt: now)
            existed = removed.existed
        }
        // What remains does no harm, and another removal comes back to it.
        if UInt8.random(in: .min ... .max) == 0 { try? await store.forgetOldLeases() }
        return existed
    }

    /// The first write of a hold is a journal or stands alone; what follows may be an answer that no request brings again.
    private func retryTime(of hold: PostgresHold) -> Duration {
        hold.hasWritten ? PostgresStore.answerRetryTime : .seconds(5)
    }

    /// Runs a write of a hold, and notes when the storage fails.
    private func noting(_ hold: PostgresHold, _ body: () async throws(VaultError) -> Void) async throws(VaultError) {
        if let reason = hold.end { throw .unavailable("\(path(of: hold.name)): \(reason)") }
        do throws(VaultError) { try await body() } catch {
            // For whatever reason it was not stored: an answer that is lost here comes from no request again.
            if hold.hasWritten, hold.end == nil { hold.failedToWrite() }
            throw error
        }
    }

    private func lost(_ hold: PostgresHold, mayBeStored: Bool = false) -> VaultError {
        hold.end(
            mayBeStored
                ? "another holder took the record; this change may have been stored before"
                : "another holder took the record, so nothing was changed")
        return .unavailable("\(path(of: hold.name)): \(hold.end ?? "the hold ended")")
    }

    // MARK: Confirming

    /// Makes sure that a hold lasts for a time from now, and some more: by what is durable, and by this machine's clock.
    ///
    /// - Throws: ``VaultError/unavailable(_:)`` when it does not, and cannot be renewed.
    private func confirm(_ hold: PostgresHold, for time: Duration) async throws(VaultError) {
        for isRenewed in [false, true] {
            if let reason = hold.end { throw .unavailable("\(path(of: hold.name)): \(reason)") }
            if let sent = hold.durable, timing.lasts(for: time, sentAt: sent, at: .now()) { return }
            guard !isRenewed else { break }
            let sent = LeaseMoment.now()
            guard try await store.renew([hold], timing: timing).contains(hold.holder) else { throw lost(hold) }
            hold.wasRenewed(at: sent)
        }
        throw .unavailable(
            "\(path(of: hold.name)): a lease of \(timing.lease) could not be had for the next \(time), so nothing was sent"
        )
    }

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

    private static func missing(_ key: MasterKeyEntry, in storeName: String, of store: PostgresStore) -> VaultError {
        .locked(
            "the \(storeName) does not have the key \(key.identifier) of \(store.address). If it is lost, so are the records: make "
                + "another vault and sign in again")
    }

    // MARK: Holding

    /// Runs a body while holding the record of a name.
    func holding<Result: Sendable>(
        _ name: RecordName, _ body: (PostgresHold, SealedRecord?) async throws -> Result
    ) async throws -> Result {
        let (hold, record) = try await take(name, on: clock)
        defer { queue.release(name) }
        holds.add(hold)
        do {
            let result = try await body(hold, record)
            await release(hold)
            return result
        } catch {
            await release(hold)
            throw error
        }
    }

    /// Takes a record's lease: first in this vault, in order, then against all others.
    private func take<C: Clock<Duration>>(
        _ name: RecordName, on clock: C
    ) async throws -> (PostgresHold, SealedRecord?) {
        let start = clock.now
        let deadline = start.advanced(by: timeout)
        guard try await queue.acquire(name, until: deadline, on: clock) else { throw VaultError.busy(path(of: name)) }
        let holder = PostgresHold.newHolder()
        do {
            var observation = LeaseObservation()
            var pause = Duration.milliseconds(50)
            var attempts = 0
            while true {
                if let taken = try await acquire(name, as: holder, observation.claim(timing)) { return taken }
                let ticket = await listener.join(name)
                let look: LeaseObservation.Look?
                do { look = try await store.want(name) } catch {
                    listener.leave(ticket)
                    throw error
                }
                guard let look else {
                    listener.leave(ticket)
                    // Free, as it seems: others may be faster a few times, or the lease was changed by hand.
                    attempts += 1
                    guard clock.now < deadline else { throw VaultError.busy(path(of: name)) }
                    let next = clock.now.advanced(by: .milliseconds(50))
                    if attempts > 3 { try await clock.sleep(until: next, tolerance: nil) }
                    try Task.checkCancellation()
                    continue
                }
                observation.note(look, at: start.duration(to: clock.now))
                guard clock.now < deadline else {
                    listener.leave(ticket)
                    throw VaultError.busy(path(of: name))
                }
                let next = clock.now.advanced(by: pause * Double.random(in: 0.75...1.25))
                let isNotified = try await listener.wait(ticket, until: min(next, deadline), on: clock)
                pause = isNotified ? .milliseconds(50) : min(pause * 2, .seconds(1))
            }
        } catch {
            queue.release(name)
            throw error
        }
    }

    private func acquire(
        _ name: RecordName, as holder: [UInt8], _ claim: (look: LeaseObservation.Look, isForced: Bool)?
    ) async throws -> (PostgresHold, SealedRecord?)? {
        let now = ContinuousClock.now
        // Before the record is read.
        let newest = newest(of: name)
        let own = holds.unreleased(name)
        do {
            let acquired = try await store.acquire(name, as: holder, own: own, claim: claim, timing: timing)
            guard let acquired else { return nil }
            holds.note(nil, of: name)
            let hold = PostgresHold(
                name, holder: holder, fence: acquired.fence, version: acquired.version, newest: newest, at: now)
            guard !Task.isCancelled else {
                await release(hold)
                throw CancellationError()
            }
            return (hold, acquired.record)
        } catch let error as VaultError {
            // The statement may have been done, and its answer lost.
            if own == nil, error.mayLeaveLease { holds.note(holder, of: name) }
            throw error
        }
    }

    /// Releases a lease, unless it says that an answer is under way that no other holder may know of.
    ///
    /// Then it is renewed until the time of a body is over, and this process takes it at its next update (`vault-lease.md` 5).
    private func release(_ hold: PostgresHold) async {
        if hold.isUnstored, hold.end == nil {
            holds.note(hold.holder, of: hold.name)
            return
        }
        holds.remove(hold)
        guard hold.end == nil, !hold.isReleased else { return }
        do throws(VaultError) {
            try await store.release(hold)
        } catch {
            holds.note(hold.holder, of: hold.name)
        }
    }
}

extension VaultError {
    /// Whether a statement that acquires a lease may have done so all the same.
    fileprivate var mayLeaveLease: Bool {
        switch self {
        case .unavailable, .damaged: true
        case .locked, .denied, .busy: false
        }
    }
}

/// The one key that a caller has. No other can be put there.
struct GivenKey: VaultKeyStore {
    let key: VaultMasterKey

    func key(of identifier: VaultIdentifier) -> VaultMasterKey? { key }

    func store(_ key: VaultMasterKey, of identifier: VaultIdentifier, label: String) throws {
        throw VaultError.keyCannotChange(of: "the PostgreSQL vault")
    }

    func remove(_ identifier: VaultIdentifier) {}
}
#endif
