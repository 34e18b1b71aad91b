#if PostgreSQL
public import Handshake
import Synchronization

extension PostgresVault {
    /// Takes over the keys of records whose journal no process follows up.
    ///
    /// A holder that died in the middle of its request still has its lease. This vault watches such leases, one look a call, and hands the
    /// key out as soon as the lease has ended and was seen unchanged for as long as an update demands, which then takes it at its first
    /// attempt. Every vault that asks watches, so that it does not matter if the one that has got the key dies too. 200 keys at most.
    /// A record whose master key this machine lacks is left to others for a minute.
    ///
    /// - Throws: as ``keys(of:)``.
    @concurrent
    public func claimUnfinished(
        of kind: VaultKey.Kind, except passedOver: Set<VaultKey> = []
    ) async throws -> UnfinishedRecords? {
        let now = LeaseMoment.now().instant
        let (labels, looks) = try await store.claimUnfinished(
            of: kind, abandoned: watched.abandoned(at: now, timing),
            except: passedOver.map { name(of: $0).bytes } + lockedNames.names(at: now))
        watched.note(looks, at: LeaseMoment.now().instant)
        var keys: [VaultKey] = []
        var damaged: [VaultError] = []
        var locked: [[UInt8]] = []
        for label in labels {
            do throws(VaultError) {
                if let key = try await key(of: label, kind) { keys.append(key) }
            } catch {
                if case .locked = error { locked.append(label.name) }
                damaged.append(error)
            }
        }
        if !locked.isEmpty {
            // Another machine may have the key.
            lockedNames.note(locked, at: now)
            try? await store.returnUnfinished(locked)
        }
        return UnfinishedRecords(keys: keys, damaged: damaged, isWatching: !looks.isEmpty)
    }

    /// Hands keys of ``claimUnfinished(of:except:)`` out to the next caller.
    ///
    /// - Throws: `VaultError` when the database cannot be written.
    @concurrent
    public func returnUnfinished(_ keys: [VaultKey]) async throws {
        guard !keys.isEmpty else { return }
        try await store.returnUnfinished(keys.map { name(of: $0).bytes })
    }
}

/// What a vault has seen of leases below unfinished records.
///
/// An update that needs one of them continues the observation instead of beginning its own.
final class WatchedLeases: Sendable {
    private let start = ContinuousClock.now
    private let leases = Mutex<[[UInt8]: LeaseObservation]>([:])

    /// Notes a look at each lease. One that was not looked at for too long is forgotten.
    func note(_ looks: [(name: [UInt8], look: LeaseObservation.Look)], at now: ContinuousClock.Instant) {
        let time = start.duration(to: now)
        leases.withLock { leases in
            for (name, look) in looks { leases[name, default: LeaseObservation()].note(look, at: time) }
            leases = leases.filter { $0.value.isRecent(at: time) }
        }
    }

    /// The leases that were seen unchanged for so long that they may be taken when they end, and those that may be taken in any case.
    func abandoned(
        at now: ContinuousClock.Instant, _ timing: LeaseTiming
    ) -> (ending: [[UInt8]], forced: [[UInt8]]) {
        let time = start.duration(to: now)
        let claims = leases.withLock { leases in
            leases.compactMap { name, observation in
                observation.isRecent(at: time) ? observation.claim(timing).map { (name, $0.isForced) } : nil
            }
        }
        return (claims.filter { !$0.1 }.map(\.0), claims.filter(\.1).map(\.0))
    }

    /// What was seen of a lease, with times that count from `now`.
    func observation(of name: [UInt8], at now: ContinuousClock.Instant) -> LeaseObservation {
        let time = start.duration(to: now)
        let seen = leases.withLock { $0[name] }
        return seen.flatMap { $0.isRecent(at: time) ? $0.counted(from: time) : nil } ?? LeaseObservation()
    }
}

/// Records whose master key was missing lately, which are left to other machines.
final class LockedNames: Sendable {
    private static let interval = Duration.seconds(60)
    private let times = Mutex<[[UInt8]: ContinuousClock.Instant]>([:])

    func note(_ names: [[UInt8]], at now: ContinuousClock.Instant) {
        times.withLock { times in for name in names { times[name] = now } }
    }

    /// The names that were noted within the last minute.
    func names(at now: ContinuousClock.Instant) -> [[UInt8]] {
        times.withLock { times in
            times = times.filter { $0.value.duration(to: now) < Self.interval }
            return Array(times.keys)
        }
    }
}

extension PostgresStore {
    static let claimSize = 200

    /// Postpones unfinished records and names them, and looks at the leases of those that are or will soon be due. Two queries of an index.
    fileprivate func claimUnfinished(
        of kind: VaultKey.Kind, abandoned: (ending: [[UInt8]], forced: [[UInt8]]), except names: [[UInt8]]
    ) async throws(VaultError) -> (labels: [SealedLabel], looks: [(name: [UInt8], look: LeaseObservation.Look)]) {
        let claim = PostgresStatement(
            sql.claim, [.text(kind.rawValue), .uuids(names), .uuids(abandoned.ending), .uuids(abandoned.forced)])
        let rows = try await perform([claim, PostgresStatement(sql.watch, [.text(kind.rawValue), .uuids(names)])])
        var claimed: [[UInt8]] = []
        for row in rows[0] { claimed.append(try row.uuid(0)) }
        var looks: [(name: [UInt8], look: LeaseObservation.Look)] = []
        for row in rows[1] {
            let look = LeaseObservation.Look(holder: try row.uuid(1), fence: try row.int(2), beat: try row.int(3))
            looks.append((try row.uuid(0), look))
        }
        guard !claimed.isEmpty else { return ([], looks) }
        // A statement of its own: record and lease as they were at one moment.
        let records = try await perform([PostgresStatement(sql.claimed, [.uuids(claimed)])], .reading)[0]
        return (try Self.labels(in: records), looks)
    }

    /// Undoes the postponement of records.
    fileprivate func returnUnfinished(_ names: [[UInt8]]) async throws(VaultError) {
        _ = try await perform([PostgresStatement(sql.giveBack, [.uuids(names)])])
    }
}
#endif
