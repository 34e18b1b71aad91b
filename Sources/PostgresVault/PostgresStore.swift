#if PostgreSQL
import Handshake

/// A record as it lies in the table, sealed, with the version that its lease says.
struct PostgresRecord: Sendable {
    let kind: String
    let key: Int64
    let version: Int64
    let label: [UInt8]
    let body: [UInt8]
    /// Nil when the lease was removed by hand.
    let leased: Int64?
}

/// The statements of a vault (`vault-lease.md` 4). Each is a transaction of its own.
struct PostgresStore: Sendable {
    /// A lease that was acquired, and the record below it.
    struct Acquired: Sendable {
        let fence: Int64
        let version: Int64
        /// Whether the holder before never released it.
        let isTaken: Bool
        let record: PostgresRecord?
    }

    /// A record's sealed name.
    struct Label: Sendable {
        let name: [UInt8]
        let key: Int64
        let version: Int64
        let sealed: [UInt8]
        let leased: Int64?
    }

    static let pageSize = 1000
    /// How long a statement is repeated while the server is away.
    private static let retryTime = Duration.seconds(5)
    /// The same for what follows the first write of a hold: it may be an answer that no request brings again.
    static let answerRetryTime = Duration.seconds(30)
    /// How often a statement is repeated that another transaction was in the way of.
    private static let conflicts = 5

    let pool: PostgresPool
    let schema: PostgresSchema
    private let sql: PostgresTexts

    init(_ pool: PostgresPool, _ schema: PostgresSchema) {
        self.pool = pool
        self.schema = schema
        sql = PostgresTexts(schema)
    }

    var address: PostgresAddress { pool.address }

    // MARK: Vault

    /// Reads whose tables these are.
    func contents() async throws(VaultError) -> PostgresSchema.Contents {
        try await reporting {
            try await schema.read(at: address) { statement throws(PostgresFailure) in
                try await pool.run([statement]).first ?? []
            }
        }
    }

    /// The keys that are not retired.
    func keys() async throws(VaultError) -> [MasterKeyEntry] {
        try await reporting {
            try await schema.keys(at: address) { statement throws(PostgresFailure) in
                try await repeating { () throws(PostgresFailure) in try await pool.run([statement]).first ?? [] }
            }
        }
    }

    // MARK: Records

    /// The record under a name, which may be held.
    func record(_ name: RecordName) async throws(VaultError) -> PostgresRecord? {
        let rows = try await perform([PostgresStatement(sql.read, [.uuid(name.bytes)])])
        return try Self.record(in: rows[0])
    }

    /// The next sealed names of a kind, in the order of their digests.
    func labels(of kind: VaultKey.Kind, after last: [UInt8]?) async throws(VaultError) -> [Label] {
        let rows = try await perform([PostgresStatement(sql.labels, [.text(kind.rawValue), .uuid(last)])])[0]
        try requirePage(rows, after: last)
        var labels: [Label] = []
        for row in rows {
            labels.append(
                Label(
                    name: try row.uuid(0), key: try row.int(1), version: try row.int(2), sealed: try row.bytes(3),
                    leased: row.isNull(4) ? nil : try row.int(4)))
        }
        return labels
    }

    /// The next names of records that other keys sealed, in the order of their digests.
    func names(sealedOtherThan key: Int64, after last: [UInt8]?) async throws(VaultError) -> [[UInt8]] {
        let rows = try await perform([PostgresStatement(sql.otherKeys, [.int(key), .uuid(last)])])[0]
        try requirePage(rows, after: last)
        var names: [[UInt8]] = []
        for row in rows { names.append(try row.uuid(0)) }
        return names
    }

    /// Makes sure that a listing goes forward, and so ends: a page has as many rows as were asked for at most, and begins after the last.
    func requirePage(_ rows: [PostgresRow], after last: [UInt8]?) throws(VaultError) {
        guard let first = rows.first, let end = rows.last else { return }
        let (start, name) = (try first.uuid(0), try end.uuid(0))
        guard rows.count <= Self.pageSize, last.map({ $0.lexicographicallyPrecedes(start) }) ?? true,
            !name.lexicographicallyPrecedes(start)
        else {
            throw .damaged(what: "\(address)", reason: "its listing does not go forward; its tables were changed")
        }
    }

    // MARK: Leases

    /// Acquires a lease, unless another one holds it.
    ///
    /// - Parameters:
    ///   - own: a holder of this process that may not have been released.
    ///   - claim: what was seen of a holder that seems to be gone.
    func acquire(
        _ name: RecordName, as holder: [UInt8], own: [UInt8]?,
        claim: (look: LeaseObservation.Look, isForced: Bool)?, timing: LeaseTiming
    ) async throws(VaultError) -> Acquired? {
        let acquire = PostgresStatement(
            sql.acquire,
            [
                .uuid(name.bytes), .uuid(holder), .int(timing.lease.milliseconds), .uuid(own),
                .uuid(claim?.look.holder), .int(claim?.look.fence ?? 0), .int(claim?.look.beat ?? 0),
                .bool(claim?.isForced ?? false),
            ])
        // A transaction of its own: it must see what the holder before wrote.
        let rows = try await perform([acquire, PostgresStatement(sql.read, [.uuid(name.bytes)])])
        guard let row = rows[0].first else { return nil }
        return Acquired(
            fence: try row.int(0), version: try row.int(1), isTaken: try row.bool(2),
            record: try Self.record(in: rows[1]))
    }

    /// Says that a lease is waited for, and looks at it.
    ///
    /// - Returns: nil when it is free.
    func want(_ name: RecordName) async throws(VaultError) -> LeaseObservation.Look? {
        let name = [PostgresParameter.uuid(name.bytes)]
        let rows = try await perform([PostgresStatement(sql.want, name), PostgresStatement(sql.look, name)])[1]
        guard let row = rows.first, !row.isNull(0) else { return nil }
        return LeaseObservation.Look(holder: try row.uuid(0), fence: try row.int(1), beat: try row.int(2))
    }

    /// What became of a write.
    enum Written: Sendable {
        case done(version: Int64)
        /// Another holder has the lease, or it was changed by hand.
        case lost
        /// Another key seals now.
        case otherKey(Int64)
    }

    /// Replaces a record, if the hold still has its lease and the record's key is the one that seals.
    ///
    /// - Parameters:
    ///   - expected: the version of the lease, which the record's follows.
    ///   - takesOldKey: also with a key that is not retired yet.
    func replace(
        _ record: PostgresRecord, of hold: PostgresHold, after expected: Int64, takesOldKey: Bool = false,
        timing: LeaseTiming, for time: Duration
    ) async throws(VaultError) -> Written {
        let replace = PostgresStatement(
            sql.replace,
            [
                .uuid(hold.name.bytes), .uuid(hold.holder), .int(hold.fence), .int(expected),
                .int(timing.lease.milliseconds), .text(record.kind), .int(record.key), .int(record.version),
                .bytes(record.label), .bytes(record.body), .bool(takesOldKey),
            ])
        if let row = try await perform([replace], for: time)[0].first { return .done(version: try row.int(0)) }
        // Either it is lost, or the statement was applied before and its answer did not come.
        let state = try await look(at: hold)
        if state.version == record.version, state.body == record.body { return .done(version: record.version) }
        if state.isOurs, state.version == expected, let active = state.active, active != record.key {
            return .otherKey(active)
        }
        return .lost
    }

    /// Removes a record, if the hold still has its lease.
    ///
    /// - Returns: the lease's version afterwards, and whether there was a record; nil when the hold is lost.
    func remove(
        _ hold: PostgresHold, after expected: Int64, as version: Int64, timing: LeaseTiming, for time: Duration
    ) async throws(VaultError) -> (version: Int64, existed: Bool)? {
        let remove = PostgresStatement(
            sql.remove,
            [
                .uuid(hold.name.bytes), .uuid(hold.holder), .int(hold.fence), .int(expected),
                .int(timing.lease.milliseconds), .int(version),
            ])
        if let row = try await perform([remove], for: time)[0].first {
            return (try row.int(0), try row.int(1) > 0)
        }
        let state = try await look(at: hold)
        return state.isOurs && state.version == version && state.body == nil ? (version, true) : nil
    }

    private func look(
        at hold: PostgresHold
    ) async throws(VaultError) -> (isOurs: Bool, version: Int64, body: [UInt8]?, active: Int64?) {
        let rows = try await perform([PostgresStatement(sql.state, [.uuid(hold.name.bytes)])])[0]
        guard let row = rows.first else { return (false, 0, nil, nil) }
        let holder = row.isNull(0) ? nil : try row.uuid(0)
        let fence = try row.int(1)
        let isOurs = holder == hold.holder && fence == hold.fence
        return (
            isOurs, try row.int(2), row.isNull(3) ? nil : try row.bytes(3), row.isNull(4) ? nil : try row.int(4)
        )
    }

    /// Renews leases.
    ///
    /// - Returns: the holders whose lease stands.
    func renew(_ holds: [PostgresHold], timing: LeaseTiming) async throws(VaultError) -> Set<[UInt8]> {
        let renew = PostgresStatement(
            sql.renew,
            [
                .uuids(holds.map(\.name.bytes)), .uuids(holds.map(\.holder)), .ints(holds.map(\.fence)),
                .int(timing.lease.milliseconds),
            ])
        var standing: Set<[UInt8]> = []
        // Not repeated here: the next renewal comes in a second.
        for row in try await perform([renew], for: .zero, isUrgent: true)[0] { standing.insert(try row.uuid(0)) }
        return standing
    }

    /// Releases a lease. Nothing happens when the hold is lost.
    func release(_ hold: PostgresHold) async throws(VaultError) {
        let release = PostgresStatement(
            sql.release, [.uuid(hold.name.bytes), .uuid(hold.holder), .int(hold.fence)])
        _ = try await perform([release])
    }

    /// Forgets a few of the names whose records were removed long ago.
    func forgetOldLeases() async throws(VaultError) {
        _ = try await perform([PostgresStatement(sql.sweep)], for: .zero)
    }

    // MARK: Keys

    /// The number that the next key gets; those of retired keys are never used again.
    func nextKey() async throws(VaultError) -> Int64 {
        let rows = try await perform([PostgresStatement(sql.lastKey)])[0]
        let last = try rows.first.map { row throws(VaultError) in row.isNull(0) ? 0 : try row.int(0) } ?? 0
        guard 0..<Int64.max ~= last else {
            throw .damaged(what: "\(address), table key", reason: "it holds what this version did not write")
        }
        return last + 1
    }

    /// Makes a key the one that seals, and the one before an old one, if that is still the active one.
    ///
    /// - Returns: false when it is not.
    func add(_ key: MasterKeyEntry, after active: Int64) async throws(VaultError) -> Bool {
        try await reporting {
            try await pool.transaction { transaction in
                let former = try await transaction.run(PostgresStatement(sql.makeOld, [.int(active)]))
                guard !former.isEmpty else { return false }
                try await transaction.run(schema.insertion(of: key))
                return true
            }
        }
    }

    /// Retires the old keys that no record names any more.
    ///
    /// For a moment no record can be written: each writer that saw an old key seal has then committed.
    ///
    /// - Returns: their numbers.
    func retireKeys() async throws(VaultError) -> [Int64] {
        try await reporting {
            try await pool.transaction { transaction in
                try await transaction.run(PostgresStatement("SET LOCAL lock_timeout = '2s'"))
                try await transaction.run(PostgresStatement(sql.stopWriters))
                return try await transaction.run(PostgresStatement(sql.retire)).map { try $0.int(0) }
            }
        }
    }

    // MARK: Statements

    private static func record(in rows: [PostgresRow]) throws(VaultError) -> PostgresRecord? {
        guard let row = rows.first, !row.isNull(2) else { return nil }
        return PostgresRecord(
            kind: try row.text(0), key: try row.int(1), version: try row.int(2), label: [],
            body: try row.bytes(3), leased: row.isNull(4) ? nil : try row.int(4))
    }

    /// Sends statements that may be repeated, also those whose answer did not come.
    private func perform(
        _ statements: [PostgresStatement], for time: Duration = retryTime, isUrgent: Bool = false
    ) async throws(VaultError) -> [[PostgresRow]] {
        let rows: [[PostgresRow]]
        do throws(PostgresFailure) {
            rows = try await repeating(for: time) { () throws(PostgresFailure) in
                try await pool.run(statements, isUrgent: isUrgent)
            }
        } catch {
            throw error.vaultError(at: address, schema: schema.name)
        }
        guard rows.count == statements.count else {
            throw .unavailable("\(address) gave \(rows.count) answers to \(statements.count) statements")
        }
        return rows
    }

    private func repeating<Value: Sendable>(
        for time: Duration = retryTime, _ body: () async throws(PostgresFailure) -> Value
    ) async throws(PostgresFailure) -> Value {
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(20)
        var conflicts = 0
        while true {
            do throws(PostgresFailure) {
                return try await body()
            } catch {
                let isConflict = error.isConflict && conflicts < Self.conflicts
                guard isConflict || error.isPassing && start.duration(to: .now) + pause < time else { throw error }
                if error.isConflict { conflicts += 1 }
                await Self.pause(pause)
                pause = min(pause * 2, .seconds(1))
            }
        }
    }

    /// Waits, also when the task is cancelled: a write whose answer did not come must be finished.
    private static func pause(_ duration: Duration) async {
        await Task.detached { try? await Task.sleep(for: duration) }.value
    }

    func reporting<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws(VaultError) -> Value {
        do { return try await body() } catch let error as VaultError { throw error } catch let error as PostgresFailure
        {
            throw error.vaultError(at: address, schema: schema.name)
        } catch {
            throw .unavailable("\(address): the exchange was cancelled")
        }
    }
}

/// The texts of the statements, which differ in the schema's name alone.
private struct PostgresTexts: Sendable {
    let acquire, read, replace, remove, renew, want, look, release, state, sweep: String
    let labels, otherKeys, lastKey, makeOld, stopWriters, retire: String

    init(_ schema: PostgresSchema) {
        let (lease, record, key) = (schema.table("lease"), schema.table("record"), schema.table("key"))
        // What was changed by hand may have the largest number.
        func next(_ column: String) -> String {
            "CASE WHEN \(column) < \(Int64.max) THEN \(column) + 1 ELSE 1 END"
        }
        let end = "pg_catalog.clock_timestamp() + %@ * interval '1 millisecond'"
        func until(_ parameter: String) -> String { end.replacing("%@", with: parameter) }
        let unsynchronized = "pg_catalog.set_config('synchronous_commit', 'off', true) = 'off'"
        acquire = """
            INSERT INTO \(lease) AS l (name, holder, fence, beat, until, taken, wanted, version)
            VALUES ($1, $2, 1, 1, \(until("$3")), false, 0, 0) ON CONFLICT (name) DO UPDATE SET
              fence = CASE WHEN l.holder = excluded.holder THEN l.fence ELSE \(next("l.fence")) END,
              taken = CASE WHEN l.holder = excluded.holder THEN l.taken ELSE l.holder IS NOT NULL END,
              holder = excluded.holder, beat = \(next("l.beat")), until = \(until("$3"))
            WHERE (l.holder IS NULL OR l.holder = excluded.holder OR l.holder = $4
                OR (l.holder = $5 AND l.fence = $6 AND l.beat = $7 AND (l.until <= pg_catalog.clock_timestamp() OR $8)))
              AND \(unsynchronized) RETURNING fence, version, taken
            """
        read = """
            SELECT r.kind, r.key, r.version, r.body, l.version FROM (SELECT $1::uuid AS name) n
            LEFT JOIN \(lease) l ON l.name = n.name LEFT JOIN \(record) r ON r.name = n.name
            """
        let held = """
            name = $1 AND holder = $2 AND fence = $3 AND version = $4
            """
        replace = """
            WITH held AS (UPDATE \(lease) SET version = $8, beat = \(next("beat")), until = \(until("$5"))
              WHERE \(held) AND EXISTS (SELECT 1 FROM \(key) k WHERE k.id = $7
                AND (k.state = 'active' OR ($11 AND k.state = 'old')))
              RETURNING name, version)
            INSERT INTO \(record) AS r (name, kind, key, version, label, body) SELECT name, $6, $7, $8, $9, $10 FROM held
            ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, key = excluded.key, version = excluded.version,
              label = excluded.label, body = excluded.body RETURNING version
            """
        remove = """
            WITH held AS (UPDATE \(lease) SET version = $6, beat = \(next("beat")), lane = NULL, due_at = NULL,
                until = \(until("$5")) WHERE \(held) RETURNING name, version),
              gone AS (DELETE FROM \(record) r USING held WHERE r.name = held.name RETURNING r.name)
            SELECT held.version, (SELECT count(*) FROM gone) FROM held
            """
        renew = """
            UPDATE \(lease) l SET beat = \(next("beat")), until = \(until("$4"))
            FROM unnest($1, $2, $3) AS m (name, holder, fence)
            WHERE l.name = m.name AND l.holder = m.holder AND l.fence = m.fence RETURNING l.holder
            """
        want = "UPDATE \(lease) SET wanted = fence WHERE name = $1 AND holder IS NOT NULL AND wanted <> fence"
        look = "SELECT holder, fence, beat FROM \(lease) WHERE name = $1"
        release = """
            WITH freed AS (UPDATE \(lease) SET holder = NULL, taken = false
              WHERE name = $1 AND holder = $2 AND fence = $3 AND \(unsynchronized) RETURNING name, fence, wanted)
            SELECT pg_catalog.pg_notify('handshake', name::text) FROM freed WHERE wanted = fence
            """
        state = """
            SELECT l.holder, l.fence, l.version, r.body, (SELECT min(k.id) FROM \(key) k WHERE k.state = 'active')
            FROM \(lease) l LEFT JOIN \(record) r ON r.name = l.name WHERE l.name = $1
            """
        sweep = """
            DELETE FROM \(lease) WHERE name IN (SELECT l.name FROM \(lease) l WHERE l.holder IS NULL AND l.due_at IS NULL
              AND l.until < pg_catalog.clock_timestamp() - interval '30 days'
              AND NOT EXISTS (SELECT 1 FROM \(record) r WHERE r.name = l.name) LIMIT 1000)
              AND holder IS NULL AND until < pg_catalog.clock_timestamp() - interval '30 days'
            """
        let page = "AND ($2::uuid IS NULL OR r.name > $2) ORDER BY r.name LIMIT \(PostgresStore.pageSize)"
        labels = """
            SELECT r.name, r.key, r.version, r.label, l.version FROM \(record) r LEFT JOIN \(lease) l ON l.name = r.name
            WHERE r.kind = $1 \(page)
            """
        otherKeys = "SELECT r.name FROM \(record) r WHERE r.key <> $1 \(page)"
        lastKey = "SELECT max(id) FROM \(key)"
        makeOld = "UPDATE \(key) SET state = 'old' WHERE state = 'active' AND id = $1 RETURNING id"
        stopWriters = "LOCK TABLE \(record) IN SHARE MODE"
        retire = """
            UPDATE \(key) k SET state = 'retired'
            WHERE k.state = 'old' AND NOT EXISTS (SELECT 1 FROM \(record) r WHERE r.key = k.id) RETURNING k.id
            """
    }
}
#endif
