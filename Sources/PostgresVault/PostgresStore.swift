#if PostgreSQL
import Handshake

/// The statements of a vault (`vault-lease.md` 4). Each is a transaction of its own.
struct PostgresStore: Sendable {
    /// A lease that was acquired, and the record below it.
    struct Acquired: Sendable {
        let fence: Int64
        let version: Int64
        /// Whether the holder before never released it.
        let isTaken: Bool
        let record: SealedRecord?
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
    let sql: PostgresTexts

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
                try await pool.run(PostgresRequest(statements: [statement])).first ?? []
            }
        }
    }

    /// The keys that are not retired.
    func keys() async throws(VaultError) -> [MasterKeyEntry] {
        try await reporting {
            try await schema.keys(at: address) { statement throws(PostgresFailure) in
                try await repeating { _ throws(PostgresFailure) in
                    try await pool.run(PostgresRequest(statements: [statement])).first ?? []
                }
            }
        }
    }

    // MARK: Records

    /// The record under a name, which may be held.
    func record(_ name: RecordName) async throws(VaultError) -> SealedRecord? {
        let rows = try await perform([PostgresStatement(sql.read, [.uuid(name.bytes)])], .reading)
        return try Self.record(in: rows[0])
    }

    /// The next sealed names of a kind, in the order of their digests.
    func labels(of kind: VaultKey.Kind, after last: [UInt8]?) async throws(VaultError) -> [SealedLabel] {
        let rows = try await perform([PostgresStatement(sql.labels, [.text(kind.rawValue), .uuid(last)])])[0]
        try requirePage(rows, after: last)
        return try Self.labels(in: rows)
    }

    static func labels(in rows: [PostgresRow]) throws(VaultError) -> [SealedLabel] {
        var labels: [SealedLabel] = []
        for row in rows {
            labels.append(
                SealedLabel(
                    name: try row.uuid(0), key: try row.int(1), version: try row.int(2),
                    sealed: row.isNull(3) ? [] : try row.bytes(3),
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
        // A statement of its own, and so with a snapshot of its own: it must see what the holder before wrote.
        let rows = try await perform([acquire, PostgresStatement(sql.read, [.uuid(name.bytes)])], .lease, name)
        guard let row = rows[0].first else { return nil }
        return Acquired(
            fence: try row.int(0), version: try row.int(1), isTaken: try row.bool(2),
            record: try Self.record(in: rows[1]))
    }

    /// Says that a lease is waited for, and looks at it.
    ///
    /// - Returns: nil when it is free.
    func want(_ name: RecordName) async throws(VaultError) -> LeaseObservation.Look? {
        let parameter = [PostgresParameter.uuid(name.bytes)]
        let rows = try await perform(
            [PostgresStatement(sql.want, parameter), PostgresStatement(sql.look, parameter)], .lease, name)[1]
        guard let row = rows.first, !row.isNull(0) else { return nil }
        return LeaseObservation.Look(holder: try row.uuid(0), fence: try row.int(1), beat: try row.int(2))
    }

    /// What became of a write.
    enum Written: Sendable {
        case done(version: Int64, isReleased: Bool)
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
    ///   - isUnfinished: whether another replacement is to follow; nil when that stays as it was.
    ///   - concludes: whether the lease is released with it, if no other holder waits for it.
    func replace(
        _ record: SealedRecord, of hold: PostgresHold, after expected: Int64, takesOldKey: Bool = false,
        isUnfinished: Bool? = nil, concludes: Bool = false, timing: LeaseTiming, for time: Duration
    ) async throws(VaultError) -> Written {
        let replace = PostgresStatement(
            sql.replace,
            [
                .uuid(hold.name.bytes), .uuid(hold.holder), .int(hold.fence), .int(expected),
                .int(timing.lease.milliseconds), .text(record.kind), .int(record.key), .int(record.version),
                .bytes(record.label), .bytes(record.body), .bool(takesOldKey),
                .bool(isUnfinished), .bool(concludes),
            ])
        if let row = try await perform([replace], .record, hold.name, for: time)[0].first {
            return .done(version: try row.int(0), isReleased: try row.bool(1))
        }
        // Either it is lost, or the statement was applied before and its answer did not come. The body is sealed with a number that no other
        // write has, so it tells whose it is, also when the lease was released with it and another holder has it.
        let state = try await look(at: hold)
        if state.version == record.version, state.body == record.body {
            // A concluding write releases the lease itself. After another one it was lost, and nothing may follow.
            if !concludes, !state.isOurs { hold.end("another holder took the record after this change of it") }
            return .done(version: record.version, isReleased: concludes && !state.isOurs)
        }
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
        if let row = try await perform([remove], .record, hold.name, for: time)[0].first {
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
        // In the order in which other statements lock them.
        let holds = holds.sorted { $0.name.bytes.lexicographicallyPrecedes($1.name.bytes) }
        let renew = PostgresStatement(
            sql.renew,
            [
                .uuids(holds.map(\.name.bytes)), .uuids(holds.map(\.holder)), .ints(holds.map(\.fence)),
                .int(timing.lease.milliseconds),
            ])
        var standing: Set<[UInt8]> = []
        // Not repeated here: the next renewal comes in a second.
        for row in try await perform([renew], .urgent, for: .zero)[0] { standing.insert(try row.uuid(0)) }
        return standing
    }

    /// Releases a lease. Nothing happens when the hold is lost.
    func release(_ hold: PostgresHold) async throws(VaultError) {
        let release = PostgresStatement(
            sql.release, [.uuid(hold.name.bytes), .uuid(hold.holder), .int(hold.fence)])
        _ = try await perform([release], .lease, hold.name)
    }

    /// Forgets a few of the names whose records were removed long ago.
    func forgetOldLeases() async throws(VaultError) {
        _ = try await perform([PostgresStatement(sql.sweep.sql)], for: .zero)
    }

    // MARK: Keys

    /// The number that the next key gets; those of retired keys are never used again.
    func nextKey() async throws(VaultError) -> Int64 {
        let rows = try await perform([PostgresStatement(sql.lastKey.sql)])[0]
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
                let former = try await transaction.run(PostgresStatement(sql.makeOld.sql, [.int(active)]))
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
                try await transaction.run(PostgresStatement(sql.stopWriters.sql))
                return try await transaction.run(PostgresStatement(sql.retire.sql)).map { try $0.int(0) }
            }
        }
    }

    // MARK: Statements

    private static func record(in rows: [PostgresRow]) throws(VaultError) -> SealedRecord? {
        guard let row = rows.first, !row.isNull(2) else { return nil }
        return SealedRecord(
            kind: try row.text(0), key: try row.int(1), version: try row.int(2), label: [],
            body: row.isNull(3) ? [] : try row.bytes(3), leased: row.isNull(4) ? nil : try row.int(4))
    }

    /// Sends the statements of one transaction, which may be repeated, also when its answer did not come.
    ///
    /// - Parameters:
    ///   - lane: with which others they may share the transaction, the first time.
    ///   - name: the record that they lock.
    func perform(
        _ statements: [PostgresStatement], _ lane: PostgresRequest.Lane = .alone, _ name: RecordName? = nil,
        for time: Duration = retryTime
    ) async throws(VaultError) -> [[PostgresRow]] {
        let rows: [[PostgresRow]]
        do throws(PostgresFailure) {
            rows = try await repeating(for: time) { isRepeat throws(PostgresFailure) in
                // What failed once must not keep others waiting again.
                let lane = isRepeat && lane != .urgent ? .alone : lane
                return try await pool.run(
                    PostgresRequest(statements: statements, lane: lane, name: name?.bytes ?? []))
            }
        } catch {
            throw error.vaultError(at: address, schema: schema.name)
        }
        guard rows.count == statements.count else {
            throw .unavailable("\(address) gave \(rows.count) answers to \(statements.count) statements")
        }
        return rows
    }

    /// - Parameter body: gets whether it was tried before.
    private func repeating<Value: Sendable>(
        for time: Duration = retryTime, _ body: (_ isRepeat: Bool) async throws(PostgresFailure) -> Value
    ) async throws(PostgresFailure) -> Value {
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(20)
        var conflicts = 0
        var isRepeat = false
        while true {
            do throws(PostgresFailure) {
                return try await body(isRepeat)
            } catch {
                let isConflict = error.isConflict && conflicts < Self.conflicts
                guard isConflict || error.isPassing && start.duration(to: .now) + pause < time else { throw error }
                if error.isConflict { conflicts += 1 }
                isRepeat = true
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
#endif
