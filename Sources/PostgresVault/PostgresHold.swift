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
        /// When the last statement was sent that held the lease.
        var renewed: ContinuousClock.Instant
        /// The same of those that are durable: ACQUIRE is not.
        var durable: LeaseMoment?
        var end: String?
        var isUnstored = false
        var hasWritten = false
        var isReleased = false

        mutating func note(_ moment: LeaseMoment) {
            renewed = max(renewed, moment.instant)
            guard moment.instant >= durable?.instant ?? moment.instant else { return }
            durable = moment
        }
    }

    let name: RecordName
    /// What no other hold is called: 16 random bytes. Never used for a second hold, because a late release would free that one.
    let holder: [UInt8]
    let fence: Int64
    /// The newest version of the record that this vault had seen before it acquired the lease.
    let newest: Int64
    let began: ContinuousClock.Instant
    /// What opened the record, and seals what is written.
    let ciphers = RecordCiphers()
    private let state: Mutex<State>

    init(
        _ name: RecordName, holder: [UInt8], fence: Int64, version: Int64, newest: Int64 = 0,
        at now: ContinuousClock.Instant
    ) {
        self.name = name
        self.holder = holder
        self.fence = fence
        self.newest = newest
        began = now
        state = Mutex(State(version: version, renewed: now))
    }

    static func newHolder() -> [UInt8] {
        let number = UInt128.random(in: .min ... .max)
        return withUnsafeBytes(of: number) { Array($0) }
    }

    var version: Int64 { state.withLock { $0.version } }

    /// Why nothing can be written any more; nil while the hold stands.
    var end: String? { state.withLock { $0.end } }

    /// Whether the last write failed, so that what it had to say is not stored anywhere.
    var isUnstored: Bool { state.withLock { $0.isUnstored } }

    /// Whether a write of this hold was stored.
    var hasWritten: Bool { state.withLock { $0.hasWritten } }

    /// Whether the last write released the lease.
    var isReleased: Bool { state.withLock { $0.isReleased } }

    /// Ends the hold: another one has the lease, or it lasted too long. The first reason stays.
    func end(_ reason: String) { state.withLock { $0.end = $0.end ?? reason } }

    func wrote(_ version: Int64, sentAt moment: LeaseMoment, isReleased: Bool = false) {
        state.withLock { state in
            (state.version, state.isUnstored, state.hasWritten, state.isReleased) = (version, false, true, isReleased)
            state.note(moment)
        }
    }

    func failedToWrite() { state.withLock { $0.isUnstored = true } }

    func wasRenewed(at moment: LeaseMoment) { state.withLock { $0.note(moment) } }

    /// When the last durable statement was sent that held the lease; nil before the first.
    var durable: LeaseMoment? { state.withLock { $0.durable } }

    /// When it was last renewed for sure.
    var renewed: ContinuousClock.Instant { state.withLock { $0.renewed } }
}

/// The holds of one vault in this process: renews them while their bodies run.
final class PostgresHolds: Sendable {
    private struct State {
        var holds: [[UInt8]: PostgresHold] = [:]
        var isRenewing = false
        /// Holders that may not have been released, by their records.
        var unreleased: [RecordName: [UInt8]] = [:]
    }

    /// How long a body may run, by which its hold ends (`vault-lease.md` 2).
    static let bodyLimit = Duration.seconds(300)
    private static let retry = Duration.seconds(1)

    private let state = Mutex(State())
    private let store: PostgresStore
    private let timing: LeaseTiming
    private let bodyLimit: Duration

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

    /// Renews a hold no more.
    func remove(_ hold: PostgresHold) { state.withLock { $0.holds[hold.holder] = nil } }

    /// The holder of this process that may still have a record.
    func unreleased(_ name: RecordName) -> [UInt8]? { state.withLock { $0.unreleased[name] } }

    /// Notes whether a holder may still have a record.
    func note(_ holder: [UInt8]?, of name: RecordName) { state.withLock { $0.unreleased[name] = holder } }

    /// Until no hold is left.
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
            if hold.end != nil {
                remove(hold)
            } else if hold.began.duration(to: now) > bodyLimit {
                hold.end("the update ran longer than \(bodyLimit), after which a hold is not renewed")
                remove(hold)
            } else if hold.renewed.duration(to: now) >= timing.renewal / 2 {
                due.append(hold)
            }
        }
        guard !due.isEmpty else { return true }
        guard let standing = try? await store.renew(due, timing: timing) else { return false }
        for hold in due {
            if standing.contains(hold.holder) {
                hold.wasRenewed(at: moment)
            } else if state.withLock({ $0.holds[hold.holder] != nil }) {
                hold.end("another holder took the record, because this one was silent for too long")
                remove(hold)
            }
        }
        return true
    }
}
#endif
