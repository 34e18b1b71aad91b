#if PostgreSQL
import Handshake
import Synchronization

/// One hold of a record: the lease that was acquired for one body, and what became of it.
///
/// A class, because the body that writes and the task that renews share it.
final class PostgresHold: Sendable {
    private struct State {
        /// The version of the last write, or of the lease when it was acquired.
        var version: Int64
        /// When the last statement that renewed the lease was sent.
        var renewed: ContinuousClock.Instant
        /// The same for durable statements; ACQUIRE is not durable.
        var durable: LeaseMoment?
        var end: String?
        var isUnstored = false
        var hasWritten = false
        /// How many writes are under way.
        var writing = 0
        var isReleased = false

        mutating func note(_ moment: LeaseMoment) {
            renewed = max(renewed, moment.instant)
            guard moment.instant >= durable?.instant ?? moment.instant else { return }
            durable = moment
        }
    }

    let name: RecordName
    /// The name of this hold alone: 16 random bytes. A second hold never gets it, because a late release of the first would free the second. The
    /// exception: an ACQUIRE without an answer is repeated under its name, for no release of it was sent (``PostgresHolds/Unreleased/attempt``).
    let holder: [UInt8]
    let fence: Int64
    /// The newest version of the record that this vault had seen before it acquired the lease.
    let newest: Int64
    let began: ContinuousClock.Instant
    /// Since when this process has had an answer that it could not store; the hold took the lease over to store it. Nil for none.
    let unstoredSince: ContinuousClock.Instant?
    /// Whether it is renewed for as long as its body runs, as a rotation of keys is.
    let isUnlimited: Bool
    /// What opened the record, and seals what is written.
    let ciphers = RecordCiphers()
    private let state: Mutex<State>

    init(
        _ name: RecordName, holder: [UInt8], fence: Int64, version: Int64, newest: Int64 = 0,
        at now: ContinuousClock.Instant, unstoredSince: ContinuousClock.Instant? = nil, isUnlimited: Bool = false
    ) {
        self.name = name
        self.holder = holder
        self.fence = fence
        self.newest = newest
        began = now
        self.unstoredSince = unstoredSince
        self.isUnlimited = isUnlimited
        state = Mutex(State(version: version, renewed: now))
    }

    static func newHolder() -> [UInt8] {
        let number = UInt128.random(in: .min ... .max)
        return withUnsafeBytes(of: number) { Array($0) }
    }

    var version: Int64 { state.withLock { $0.version } }

    /// Why nothing can be written any more; nil while the hold stands.
    var end: String? { state.withLock { $0.end } }

    /// Whether the last write failed, so that its contents are stored nowhere.
    var isUnstored: Bool { state.withLock { $0.isUnstored } }

    /// Whether a write of this hold was stored.
    var hasWritten: Bool { state.withLock { $0.hasWritten } }

    /// Whether the next write may store an answer that no request can bring again. The first write stores a journal or stands alone, unless an
    /// earlier answer could not be stored.
    var mayHaveAnswer: Bool { hasWritten || unstoredSince != nil }

    /// Whether the lease is kept after the body, because this process alone has an answer that is not stored yet.
    ///
    /// - Parameter mayHaveMissed: whether an answer that was waiting when the hold began may still be waiting, though no write failed.
    func isKept(mayHaveMissed: Bool) -> Bool {
        let waits = mayHaveMissed && unstoredSince != nil && !hasWritten
        return (isUnstored || waits) && end == nil
    }

    /// Whether the last write released the lease.
    var isReleased: Bool { state.withLock { $0.isReleased } }

    /// Ends the hold: another one has the lease, or it lasted too long. The first reason stays.
    func end(_ reason: String) { state.withLock { $0.end = $0.end ?? reason } }

    /// Ends the hold, unless something was written in it, or is being written.
    func endIfUnwritten(_ reason: String) {
        state.withLock { if !$0.hasWritten, $0.writing == 0 { $0.end = $0.end ?? reason } }
    }

    /// Begins a write, unless the hold has ended.
    ///
    /// - Returns: why it has ended.
    func beginWriting() -> String? {
        state.withLock { state in
            if state.end == nil { state.writing += 1 }
            return state.end
        }
    }

    func endWriting() { state.withLock { $0.writing -= 1 } }

    func wrote(_ version: Int64, sentAt moment: LeaseMoment, isReleased: Bool = false) {
        state.withLock { state in
            (state.version, state.isUnstored, state.hasWritten, state.isReleased) = (version, false, true, isReleased)
            state.note(moment)
        }
    }

    func failedToWrite() { state.withLock { $0.isUnstored = true } }

    func wasRenewed(at moment: LeaseMoment) { state.withLock { $0.note(moment) } }

    /// Whether the lease has to be renewed now; nil if never again. A hold that lasted too long ends, unless something was written in it: the
    /// process may only have stood still, and may store its answer while no other holder has the record.
    func isDue(at now: ContinuousClock.Instant, renewal: Duration, bodyLimit: Duration) -> Bool? {
        guard end == nil else { return nil }
        guard isUnlimited || began.duration(to: now) <= bodyLimit else {
            endIfUnwritten("the update ran longer than \(bodyLimit), after which a hold is not renewed")
            return nil
        }
        return renewed.duration(to: now) >= renewal / 2
    }

    /// When the last durable statement that renewed the lease was sent; nil before the first.
    var durable: LeaseMoment? { state.withLock { $0.durable } }

    /// When the last statement that renewed the lease was sent.
    var renewed: ContinuousClock.Instant { state.withLock { $0.renewed } }
}

/// The holds of one vault in this process: renews them while their bodies run.
final class PostgresHolds: Sendable {
    private struct State {
        var holds: [[UInt8]: PostgresHold] = [:]
        var isRenewing = false
        /// Holders that may not have been released, by their records.
        var unreleased: [RecordName: Unreleased] = [:]
        /// Beyond this number, those whose lease has expired are removed.
        var maximumUnreleased = PostgresHolds.fewUnreleased
    }

    /// A holder that may still have a record.
    struct Unreleased {
        let holder: [UInt8]
        /// The fence of a lease that was kept because an answer could not be stored, and since when.
        var unstored: (fence: Int64, since: ContinuousClock.Instant)?
        /// Another holder that may have got the record from this one: the answer to its ACQUIRE did not come. The next update has its name, so
        /// that it is the same ACQUIRE; it was never released, so no late release can free it.
        private(set) var attempt: [UInt8]?
        /// When this was noted.
        var noted = ContinuousClock.now

        init(_ holder: [UInt8]) { self.holder = holder }

        init(unstoredOf hold: PostgresHold) {
            holder = hold.holder
            unstored = (hold.fence, hold.unstoredSince ?? hold.began)
        }

        /// What remains when the answer to an ACQUIRE did not come.
        ///
        /// - Parameter own: what remained before it.
        init(unanswered holder: [UInt8], after own: Unreleased?) {
            self = own ?? Unreleased(holder)
            guard own != nil else { return }
            attempt = holder
            noted = .now
        }

        /// The hold to renew for the attempt, so that no other holder gets a record whose answer is not stored yet.
        func attempted(_ name: RecordName) -> PostgresHold? {
            guard let attempt, let unstored else { return nil }
            return PostgresHold(
                name, holder: attempt, fence: unstored.fence &+ 1, version: 0, at: unstored.since,
                unstoredSince: unstored.since)
        }

        /// Since when an answer waits, for a hold that took the lease over with a fence: nil when another holder was between them, or when it has
        /// waited for longer than a lease is kept for it.
        func unstoredSince(
            before fence: Int64, at now: ContinuousClock.Instant, limit: Duration
        ) -> ContinuousClock.Instant? {
            guard let unstored, unstored.fence &+ 1 == fence else { return nil }
            return unstored.since.duration(to: now) <= limit ? unstored.since : nil
        }
    }

    /// How long a body may run, but for a rotation of keys. Then its hold is not renewed any more, and ends if nothing was written in it
    /// (`vault-lease.md` 2).
    static let bodyLimit = Duration.seconds(300)
    private static let retry = Duration.seconds(1)
    /// How many notes of holders are kept without a look at their age.
    static let fewUnreleased = 256

    private let state = Mutex(State())
    private let store: PostgresStore
    private let timing: LeaseTiming
    let bodyLimit: Duration

    init(_ store: PostgresStore, _ timing: LeaseTiming, bodyLimit: Duration) {
        self.store = store
        self.timing = timing
        self.bodyLimit = bodyLimit
    }

    /// Renews a hold from now on.
    func add(_ hold: PostgresHold) {
        let starts = state.withLock { state in
            state.holds[hold.holder] = hold
            defer { state.isRenewing = true }
            return !state.isRenewing
        }
        if starts { Task.detached { [self] in await renewAll() } }
    }

    /// Stops renewing a hold and any later one of its holder.
    func remove(_ hold: PostgresHold) { state.withLock { $0.holds[hold.holder] = nil } }

    /// Stops renewing a hold, unless a later one of the same holder is in its place.
    ///
    /// - Returns: whether it was renewed until now.
    private func drop(_ hold: PostgresHold) -> Bool {
        state.withLock { state in
            guard state.holds[hold.holder] === hold else { return false }
            state.holds[hold.holder] = nil
            return true
        }
    }

    /// Whether an ACQUIRE of the hold's holder was not answered: it may arrive yet, or was carried out beside the renewal.
    private func isAwaited(_ hold: PostgresHold) -> Bool {
        state.withLock { $0.unreleased[hold.name]?.attempt == hold.holder }
    }

    /// The holder of this process that may still have a record.
    func unreleased(_ name: RecordName) -> Unreleased? { state.withLock { $0.unreleased[name] } }

    /// Notes whether a holder may still have a record.
    func note(_ holder: Unreleased?, of name: RecordName) {
        state.withLock { state in
            state.unreleased[name] = holder
            guard state.unreleased.count > state.maximumUnreleased else { return }
            // A lease is renewed for a body limit at most, and then ends: what is older says nothing.
            let (now, limit) = (ContinuousClock.now, bodyLimit + timing.lease)
            state.unreleased = state.unreleased.filter { $0.value.noted.duration(to: now) <= limit }
            state.maximumUnreleased = max(Self.fewUnreleased, state.unreleased.count * 2)
        }
    }

    /// Notes that the answer to a holder's ACQUIRE did not come, and renews what it may have taken over.
    ///
    /// - Parameter own: what remained before it.
    func noteUnanswered(_ holder: [UInt8], of name: RecordName, after own: Unreleased?) {
        let unreleased = Unreleased(unanswered: holder, after: own)
        note(unreleased, of: name)
        if let attempted = unreleased.attempted(name) { add(attempted) }
    }

    /// Renews holds until none is left.
    private func renewAll() async {
        var pause = timing.renewal / 2
        while true {
            try? await Task.sleep(for: pause)
            let isOver = state.withLock { state in
                state.isRenewing = !state.holds.isEmpty
                return state.holds.isEmpty
            }
            if isOver { return }
            pause = await renew() ? timing.renewal / 2 : min(Self.retry, timing.renewal / 2)
        }
    }

    /// Renews what was not renewed lately.
    ///
    /// - Returns: whether the server answered.
    func renew() async -> Bool {
        let moment = LeaseMoment.now()
        let now = moment.instant
        var due: [PostgresHold] = []
        for hold in state.withLock({ Array($0.holds.values) }) {
            switch hold.isDue(at: now, renewal: timing.renewal, bodyLimit: bodyLimit) {
            case nil: _ = drop(hold)
            case true?: due.append(hold)
            case false?: break
            }
        }
        guard !due.isEmpty else { return true }
        guard let standing = try? await store.renew(due, timing: timing) else { return false }
        for hold in due {
            if standing.contains(hold.holder) {
                hold.wasRenewed(at: moment)
            } else if !isAwaited(hold), drop(hold) {
                hold.end("another holder took the record, because this one was silent for too long")
            }
        }
        return true
    }
}
#endif
