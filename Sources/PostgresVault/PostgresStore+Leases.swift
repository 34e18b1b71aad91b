#if PostgreSQL
import Handshake

extension PostgresStore {
    /// A lease that was acquired, and the record below it.
    struct Acquired: Sendable {
        let fence: Int64
        let version: Int64
        /// Whether the holder before never released it.
        let isTaken: Bool
        let record: SealedRecord?
    }

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
        // write has, so it shows whose it is, also when the lease was released with it and another holder has it.
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
    ///
    /// A waiter is notified where the server lets this role: nothing depends on it, since each waiter looks for itself after a while.
    func release(_ hold: PostgresHold) async throws(VaultError) {
        let parameters: [PostgresParameter] = [.uuid(hold.name.bytes), .uuid(hold.holder), .int(hold.fence)]
        var refusal: PostgresFailure?
        if notifications.areTaken {
            do throws(PostgresFailure) {
                _ = try await attempt([PostgresStatement(sql.release, parameters)], .lease, hold.name)
                return
            } catch {
                // It is not known which part was refused: the release alone tells.
                guard error.isRefusal else { throw error.vaultError(at: address, schema: schema.name) }
                refusal = error
            }
        }
        _ = try await perform([PostgresStatement(sql.releaseSilently, parameters)], .lease, hold.name)
        if refusal?.isOfFunction == true { notifications.refuse() }
    }

    /// Forgets some of the names whose records were removed long ago.
    ///
    /// - Parameter name: behind which 4,096 names are looked at, however many there are. Names are digests, so chance brings every one.
    func forgetOldLeases(after name: [UInt8] = PostgresHold.newHolder()) async throws(VaultError) {
        _ = try await perform([PostgresStatement(sql.sweep.sql, [.uuid(name)])], for: .zero)
    }
}
#endif
