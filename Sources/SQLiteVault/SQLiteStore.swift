#if SQLite
import Foundation
import GRDB
import Handshake

/// The database of a vault: its statements, each group in a transaction of its own.
///
/// Nothing here blocks a thread of the concurrency runtime: statements run on GRDB's queues.
///
/// A record's `name` is the digest of its `VaultKey`, by which it is found. Its `label` is the `VaultKey` itself, sealed.
final class SQLiteStore: Sendable {
    /// Seals a record's new content, given its version and the number of the active key. Nil if the caller does not have that key.
    typealias Sealing = @Sendable (_ version: Int64, _ key: Int64) throws(VaultError) -> SealedRecord?

    private static let pageSize = 1000
    /// The longest label that is read, in bytes: what was changed by hand may be of any size.
    private static let labelLimit = RecordSeal.sealedLimit - RecordSeal.contentsLimit
    /// How long the lease of a removed record is kept, in milliseconds: 30 days.
    private static let leaseLife: Int64 = 30 * 24 * 3600 * 1000

    let pool: DatabasePool
    private let path: String

    /// Opens a database that ``look(at:)`` has seen.
    init(_ path: String) throws(VaultError) {
        self.path = path
        do {
            pool = try DatabasePool(path: path, configuration: Self.configuration)
            // GRDB lowers it to NORMAL where it turns on the write-ahead log.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        } catch {
            throw Self.failure(error, path)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.label = "handshake.vault"
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
        }
        return configuration
    }

    /// Reads whose database this is, without changing a byte of it, not even to turn on the write-ahead log.
    ///
    /// - Returns: nil for a database without any table.
    static func look(at path: String) throws(VaultError) -> SQLiteSchema.Contents? {
        do {
            return try DatabaseQueue(path: path, configuration: configuration).read { db in
                try SQLiteSchema.read(db, path: path)
            }
        } catch {
            throw failure(error, path)
        }
    }

    /// Makes the tables of a new vault.
    func make(_ contents: SQLiteSchema.Contents) throws(VaultError) {
        do {
            try pool.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    try SQLiteSchema.make(db, contents, at: Self.now())
                    return .commit
                }
            }
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// A record and its lease, as they were at one moment.
    func row(_ name: [UInt8]) async throws(VaultError) -> (lease: SQLiteLease?, record: SealedRecord?) {
        try await read { db in
            let lease = try Self.lease(name, db)
            let statement = try db.cachedStatement(
                sql: """
                    SELECT substr(kind, 1, 64) AS kind, key, version, CASE WHEN length(body) <= \(RecordSeal.sealedLimit) THEN body END AS body
                    FROM record WHERE name = ?
                    """)
            let row = try Row.fetchOne(statement, arguments: [name.data]).map { row in
                SealedRecord(
                    kind: try row.stored("kind"), key: try row.stored("key"), version: try row.stored("version"),
                    label: [], body: Array(try row.stored("body") as Data), leased: lease?.version)
            }
            return (lease, row)
        }
    }

    /// The next labels of a kind, at most a page of them, in the order of the names.
    func labels(of kind: VaultKey.Kind, after last: [UInt8]) async throws(VaultError) -> [SealedLabel] {
        try await read { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT r.name, r.key, r.version, CASE WHEN length(r.label) <= \(Self.labelLimit) THEN r.label ELSE x'' END AS label,
                        l.version AS leased
                    FROM record r LEFT JOIN lease l ON l.name = r.name
                    WHERE r.kind = ? AND r.name > ? ORDER BY r.name LIMIT \(Self.pageSize)
                    """)
            return try Row.fetchAll(statement, arguments: [kind.rawValue, last.data]).map { row in
                SealedLabel(
                    name: Array(try row.stored("name") as Data), key: try row.stored("key"),
                    version: try row.stored("version"),
                    sealed: Array(try row.stored("label") as Data), leased: Int64.fromDatabaseValue(row["leased"]))
            }
        }
    }

    /// Replaces a record, or removes it, if its lease is still as the hold knows it.
    ///
    /// - Parameter newest: a version that the record's next one is above, whatever is stored.
    /// - Returns: the next version. Nil when `sealing` does not have the active key; then nothing was written.
    func write(
        _ sealing: Sealing?, under name: [UInt8], with hold: SQLiteHold, above newest: Int64
    ) async throws(VaultError) -> Int64? {
        let path = path
        let lease: SQLiteLease? = try await change { db in
            guard let lease = hold.next(after: try Self.lease(name, db), above: newest) else {
                throw VaultError.unavailable(
                    "\(path): another holder wrote the record meanwhile, so nothing was changed. Check whether the file or its lock file was restored or removed"
                )
            }
            guard let sealing else {
                try Self.put(lease, under: name, isFreed: true, db)
                try db.cachedStatement(sql: "DELETE FROM record WHERE name = ?").execute(arguments: [name.data])
                return lease
            }
            // In this transaction, so that nothing is sealed with a key that was retired.
            guard let key = try Int64.fetchOne(db.cachedStatement(sql: "SELECT id FROM key WHERE state = 'active'"))
            else {
                throw VaultError.damaged(what: "\(path), table key", reason: "it has no active key")
            }
            guard let row = try sealing(lease.version, key) else { return nil }
            try Self.put(lease, under: name, isFreed: false, db)
            let statement = try db.cachedStatement(
                sql: """
                    INSERT INTO record (name, kind, key, version, label, body) VALUES (?, ?, ?, ?, ?, ?)
                    ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, key = excluded.key, version = excluded.version,
                        label = excluded.label, body = excluded.body
                    """)
            try statement.execute(
                arguments: [name.data, row.kind, row.key, row.version, row.label.data, row.body.data])
            return lease
        }
        if let lease { hold.wrote(lease) }
        return lease?.version
    }

    /// Removes a record whatever it holds. The caller holds its lock.
    ///
    /// - Parameter newest: a version that the removal's is above, whatever is stored.
    /// - Returns: the version of the removal; nil when there was no record.
    func remove(_ name: [UInt8], above newest: Int64) async throws(VaultError) -> Int64? {
        try await change { db in
            let statement = try db.cachedStatement(sql: "SELECT version FROM record WHERE name = ?")
            guard let row = try Row.fetchOne(statement, arguments: [name.data]) else { return nil }
            let stored = try Self.lease(name, db)
            // Versions go on after both, whichever was written by hand.
            let last = max(stored?.version ?? 0, Int64.fromDatabaseValue(row["version"]) ?? 0)
            // The fence counts the record's holders. One that cannot be counted up starts again, so that the record can still be removed.
            let fence = stored?.fence ?? 0
            let lease = SQLiteLease(
                holder: SQLiteHold.newHolder(), fence: fence < .max - 1 ? fence + 1 : 1,
                version: RecordVersion.removal(after: last, seen: newest))
            try Self.put(lease, under: name, isFreed: true, db)
            try db.cachedStatement(sql: "DELETE FROM record WHERE name = ?").execute(arguments: [name.data])
            return lease.version
        }
    }

    /// A few names whose records were removed long ago.
    func oldLeases() async throws(VaultError) -> [[UInt8]] {
        let before = Self.now() - Self.leaseLife
        return try await read { db in
            let statement = try db.cachedStatement(sql: "SELECT name FROM lease WHERE freed_at < ? LIMIT 4")
            return try Data.fetchAll(statement, arguments: [before]).map { Array($0) }
        }
    }

    /// Forgets a name without a record. The caller holds its lock.
    func forgetLease(_ name: [UInt8]) async throws(VaultError) {
        try await change { db in
            try db.cachedStatement(sql: "DELETE FROM lease WHERE name = ? AND freed_at IS NOT NULL")
                .execute(arguments: [name.data])
        }
    }

    /// The keys that are not retired.
    func keys() async throws(VaultError) -> [MasterKeyEntry] {
        let path = path
        return try await read { db in try MasterKeyEntry.all(db, path: path) }
    }

    /// The number that the next key gets; those of retired keys are never used again.
    func nextKey() async throws(VaultError) -> Int64 {
        try await read { db in (try Int64.fetchOne(db, sql: "SELECT max(id) FROM key") ?? 0) &+ 1 }
    }

    /// Makes a new key the active one, and the one before an old one.
    ///
    /// - Parameter active: the number of the key that the caller takes for the active one.
    /// - Returns: false when another key is active; then nothing was changed.
    func add(_ key: MasterKeyEntry, after active: Int64) async throws(VaultError) -> Bool {
        try await change { db in
            guard try Int64.fetchOne(db, sql: "SELECT id FROM key WHERE state = 'active'") == active else {
                return false
            }
            try db.execute(sql: "UPDATE key SET state = 'old' WHERE state = 'active'")
            try key.insert(db, at: Self.now())
            return true
        }
    }

    /// The next names of records that other keys sealed, at most a page of them, in order.
    func names(sealedOtherThan key: Int64, after last: [UInt8]) async throws(VaultError) -> [[UInt8]] {
        try await read { db in
            let statement = try db.cachedStatement(
                sql: "SELECT name FROM record WHERE key <> ? AND name > ? ORDER BY name LIMIT \(Self.pageSize)")
            return try Data.fetchAll(statement, arguments: [key, last.data]).map { Array($0) }
        }
    }

    /// Retires the old keys that no record names any more.
    ///
    /// - Returns: their numbers.
    func retireKeys() async throws(VaultError) -> [Int64] {
        try await change { db in
            try Int64.fetchAll(
                db,
                sql: """
                    UPDATE key SET state = 'retired'
                    WHERE state = 'old' AND NOT EXISTS (SELECT 1 FROM record WHERE record.key = key.id) RETURNING id
                    """)
        }
    }

    func checkIntegrity() async throws(VaultError) {
        let path = path
        try await read { db in
            let finding = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)")
            guard finding == "ok" else {
                throw VaultError.damaged(what: path, reason: finding ?? "SQLite could not examine it")
            }
        }
    }
}

extension SQLiteStore {
    private static func lease(_ name: [UInt8], _ db: Database) throws -> SQLiteLease? {
        let statement = try db.cachedStatement(sql: "SELECT holder, fence, version FROM lease WHERE name = ?")
        return try Row.fetchOne(statement, arguments: [name.data]).map { row in
            SQLiteLease(
                holder: Array(try row.stored("holder") as Data), fence: try row.stored("fence"),
                version: try row.stored("version"))
        }
    }

    private static func put(_ lease: SQLiteLease, under name: [UInt8], isFreed: Bool, _ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO lease (name, holder, fence, version, freed_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = excluded.fence, version = excluded.version,
                    freed_at = excluded.freed_at
                """)
        try statement.execute(
            arguments: [name.data, lease.holder.data, lease.fence, lease.version, isFreed ? now() : nil])
    }

    private typealias Statements<Value> = @Sendable (Database) throws -> Value

    private func read<Value: Sendable>(_ body: @escaping Statements<Value>) async throws(VaultError) -> Value {
        try await outcome { pool, finish in
            pool.asyncRead { db in finish { try body(db.get()) } }
        }
    }

    /// A transaction that is finished whether or not the task is cancelled: a caller must know what was stored.
    private func change<Value: Sendable>(_ body: @escaping Statements<Value>) async throws(VaultError) -> Value {
        let path = path
        return try await outcome { pool, finish in
            pool.asyncWriteWithoutTransaction { db in
                finish {
                    var value: Value?
                    try db.inTransaction(.immediate) {
                        value = try body(db)
                        return .commit
                    }
                    guard let value else { throw VaultError.unavailable("\(path): SQLite committed nothing") }
                    return value
                }
            }
        }
    }

    /// Waits for statements that `start` hands to a queue of GRDB's.
    private func outcome<Value: Sendable>(
        _ start: (DatabasePool, @escaping @Sendable (() throws -> Value) -> Void) -> Void
    ) async throws(VaultError) -> Value {
        let path = path
        return try await withCheckedContinuation { continuation in
            start(pool) { continuation.resume(returning: Self.outcome(path, $0)) }
        }.get()
    }

    private static func outcome<Value>(_ path: String, _ body: () throws -> Value) -> Result<Value, VaultError> {
        do {
            return .success(try body())
        } catch {
            return .failure(failure(error, path))
        }
    }

    static func now() -> Int64 {
        Int64(Date().timeIntervalSince1970 * 1000)
    }
}
#endif
