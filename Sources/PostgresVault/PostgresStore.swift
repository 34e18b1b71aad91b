#if PostgreSQL
import Handshake
import Synchronization

/// Whether a server notifies, which some engines cannot and some roles may not.
final class PostgresNotifications: Sendable {
    private let isRefused = Atomic(false)

    /// Whether the server may still take a notification.
    var areTaken: Bool { !isRefused.load(ordering: .relaxed) }

    /// Notes that the server takes none, until this process opens the vault again.
    func refuse() { isRefused.store(true, ordering: .relaxed) }
}

/// The statements of a vault (`vault-lease.md` 4). Each is a transaction of its own.
struct PostgresStore: Sendable {
    static let pageSize = 1000
    /// How many records one statement reads at most.
    static let readSize = 64
    /// How long a statement is repeated while the server is away.
    private static let retryTime = Duration.seconds(5)
    /// The same for what follows the first write of a hold: it may be an answer that no request brings again.
    static let answerRetryTime = Duration.seconds(30)
    /// How often a statement is repeated that another transaction was in the way of.
    private static let conflicts = 5

    let pool: PostgresPool
    let schema: PostgresSchema
    let sql: PostgresTexts
    let notifications = PostgresNotifications()

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

    /// The records under at most ``readSize`` names; a held record is read too.
    ///
    /// - Returns: for each name that has a row the record, or what is wrong with this row alone.
    func records(_ names: [RecordName]) async throws(VaultError) -> [[UInt8]: Result<SealedRecord?, VaultError>] {
        do throws(VaultError) {
            return try await recordsTogether(names)
        } catch {
            switch error {
            // Records of a megabyte each may take longer than a statement may.
            case .unavailable where names.count > 1: break
            // One row that the server cannot read fails the statement for all.
            case .damaged: break
            default: throw error
            }
        }
        var records: [[UInt8]: Result<SealedRecord?, VaultError>] = [:]
        for name in names {
            do throws(VaultError) {
                records[name.bytes] = .success(try await record(name))
            } catch {
                guard error.isOfOneRecord else { throw error }
                records[name.bytes] = .failure(error)
            }
        }
        return records
    }

    /// As ``records(_:)``, by one statement that is not repeated.
    private func recordsTogether(
        _ names: [RecordName]
    ) async throws(VaultError) -> [[UInt8]: Result<SealedRecord?, VaultError>] {
        let statement = PostgresStatement(sql.readAll, [.uuids(names.map(\.bytes))])
        let rows = try await perform([statement], .reading, for: .zero)[0]
        var records: [[UInt8]: Result<SealedRecord?, VaultError>] = [:]
        for row in rows {
            records[try row.uuid(5)] = Result<SealedRecord?, VaultError> { () throws(VaultError) -> SealedRecord? in
                try Self.record(in: [row])
            }
        }
        return records
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

    /// Those of the next names of records that other keys sealed, in the order of their digests.
    ///
    /// - Returns: the names, and after which one to go on; nil at the end.
    func names(
        sealedOtherThan key: Int64, after last: [UInt8]?
    ) async throws(VaultError) -> (names: [[UInt8]], last: [UInt8]?) {
        let rows = try await perform([PostgresStatement(sql.names, [.uuid(last)])])[0]
        try requirePage(rows, after: last)
        var names: [[UInt8]] = []
        for row in rows where try row.int(1) != key { names.append(try row.uuid(0)) }
        return (names, rows.count == Self.pageSize ? try rows.last?.uuid(0) : nil)
    }

    /// Makes sure that a listing goes forward, and so ends: a page has as many rows as were asked for at most, and begins after the last.
    func requirePage(_ rows: [PostgresRow], after last: [UInt8]?) throws(VaultError) {
        guard let first = rows.first, let end = rows.last else { return }
        let (start, name) = (try first.uuid(0), try end.uuid(0))
        guard rows.count <= Self.pageSize, last.map({ $0.lexicographicallyPrecedes(start) }) ?? true,
            !name.lexicographicallyPrecedes(start)
        else {
            throw .damaged(what: "\(address)", reason: "its listing does not go forward, so its tables were changed")
        }
    }

    // MARK: Keys

    /// The number that the next key gets; those of retired keys are never used again.
    func nextKey() async throws(VaultError) -> Int64 {
        let rows = try await perform([PostgresStatement(sql.lastKey.sql)])[0]
        let last = try rows.first.map { row throws(VaultError) in row.isNull(0) ? 0 : try row.int(0) } ?? 0
        guard 0..<Int64.max ~= last else {
            throw .damaged(what: "\(address), table key", reason: "it has a value that this version does not write")
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

    static func record(in rows: [PostgresRow]) throws(VaultError) -> SealedRecord? {
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
        do throws(PostgresFailure) {
            return try await attempt(statements, lane, name, for: time)
        } catch {
            throw error.vaultError(at: address, schema: schema.name)
        }
    }

    /// As ``perform(_:_:_:for:)``, with the server's own reason.
    func attempt(
        _ statements: [PostgresStatement], _ lane: PostgresRequest.Lane, _ name: RecordName?,
        for time: Duration = retryTime
    ) async throws(PostgresFailure) -> [[PostgresRow]] {
        let rows = try await repeating(for: time) { isRepeat throws(PostgresFailure) in
            // What failed once must not keep others waiting again.
            let lane = isRepeat && lane != .urgent ? .alone : lane
            return try await pool.run(PostgresRequest(statements: statements, lane: lane, name: name?.bytes ?? []))
        }
        guard rows.count == statements.count else {
            throw .connection("\(rows.count) answers came to \(statements.count) statements", mayBeDone: true)
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
            throw .unavailable("\(address): the exchange was cancelled. Try again")
        }
    }
}
#endif
