#if PostgreSQL
public import Handshake
import Synchronization

extension PostgresVault {
    /// Takes over the keys of records whose journal no process follows up.
    ///
    /// A holder that died in the middle of its request is noticed when it was silent for so long that its lease ends within an update's
    /// observation: the next holder has the record when the lease ends, not later. 200 keys at most.
    ///
    /// - Throws: as ``keys(of:)``.
    @concurrent
    public func claimUnfinished(of kind: VaultKey.Kind) async throws -> VaultListing? {
        var keys: [VaultKey] = []
        var damaged: [VaultError] = []
        var locked: [[UInt8]] = []
        for label in try await store.claimUnfinished(of: kind, endingWithin: timing.lookahead) {
            do throws(VaultError) {
                if let key = try await key(of: label, kind) { keys.append(key) }
            } catch {
                if case .locked = error { locked.append(label.name) }
                damaged.append(error)
            }
        }
        // Another machine may have the key.
        try? await giveBack(locked)
        return VaultListing(keys: keys, damaged: damaged)
    }

    /// Hands keys of ``claimUnfinished(of:)`` out to the next caller.
    ///
    /// Those that wait longer go first. A key that comes back to this vault within a minute stays with it: no other caller has a use for it.
    ///
    /// - Throws: `VaultError` when the database cannot be written.
    @concurrent
    public func returnUnfinished(_ keys: [VaultKey]) async throws {
        try await giveBack(keys.map { name(of: $0).bytes })
    }

    private func giveBack(_ names: [[UInt8]]) async throws(VaultError) {
        let names = givenBack.note(names, at: LeaseMoment.now().instant)
        if !names.isEmpty { try await store.returnUnfinished(names) }
    }
}

/// What a vault has given back lately, so that it does not go to and fro.
final class GivenBack: Sendable {
    private static let interval = Duration.seconds(60)
    private let times = Mutex<[[UInt8]: ContinuousClock.Instant]>([:])

    /// Notes names.
    ///
    /// - Returns: those that were not noted within the last minute.
    func note(_ names: [[UInt8]], at now: ContinuousClock.Instant) -> [[UInt8]] {
        times.withLock { times in
            times = times.filter { $0.value.duration(to: now) < Self.interval }
            let new = names.filter { times[$0] == nil }
            for name in new { times[name] = now }
            return new
        }
    }
}

extension LeaseTiming {
    /// How long before its end a lease counts as abandoned: a holder that lives would have renewed it three times.
    var lookahead: Duration { max(.zero, min(observation, lease - renewal * 3)) }
}

extension PostgresStore {
    static let claimSize = 200

    /// Postpones unfinished records and names them. One query of an index, also where there is none of them.
    fileprivate func claimUnfinished(
        of kind: VaultKey.Kind, endingWithin time: Duration
    ) async throws(VaultError) -> [SealedLabel] {
        let rows = try await perform([PostgresStatement(sql.claim, [.int(time.milliseconds), .text(kind.rawValue)])])[0]
        var names: [[UInt8]] = []
        for row in rows { names.append(try row.uuid(0)) }
        guard !names.isEmpty else { return [] }
        // A statement of its own: record and lease as they were at one moment.
        return try Self.labels(in: await perform([PostgresStatement(sql.claimed, [.uuids(names)])], .reading)[0])
    }

    /// Undoes the postponement of records.
    fileprivate func returnUnfinished(_ names: [[UInt8]]) async throws(VaultError) {
        _ = try await perform([PostgresStatement(sql.giveBack, [.uuids(names)])])
    }
}
#endif
