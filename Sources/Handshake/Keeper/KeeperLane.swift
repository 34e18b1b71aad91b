import AsyncSupport
import Logging
import OAuth
import Synchronization

/// The accounts of one service, which share its rate limit and its failures.
///
/// A class, because the listing adds accounts while the lane's own task takes them.
final class KeeperLane: Sendable {
    private let service: String
    private let limit: Keeper.RateLimit
    private let maximumPause: Double
    private let time: TimeSource
    private let wake = WakeUp()
    let state = Mutex(State())

    struct State {
        var queue = KeeperQueue()
        /// The accounts in the queue, and those at work.
        var known: Set<KeptName> = []
        /// The accounts whose refresh is repeated, beside their places in the queue.
        var repeated: Set<KeptName> = []
        /// One account for each client with its resources. `KeptName` numbers them; the name of this account is not used.
        var groups: [AccountID] = []
        var running = 0
        /// The next time that the rate allows a start.
        var nextStart = 0.0
        var pausedUntil = 0.0
        /// Failures of the service in a row.
        var failures = 0
        /// Failures of the vault in a row.
        var vaultFailures = 0
        /// For accounts that are still queued: the identifier of the ended session that was reported last.
        var endings: [KeptName: String] = [:]
        /// Rises with each counted failure. Work that was started earlier counts neither as a success nor as a failure.
        var epoch = 0

        /// Whether the service or the vault has failed since the last success.
        var isFailing: Bool { failures > 0 || vaultFailures > 0 }

        mutating func forget(_ item: KeeperQueue.Item) {
            if item.isRepeat { repeated.remove(item.account) } else { known.remove(item.account) }
        }
    }

    /// What is to be done now.
    enum Step: Sendable {
        case start(KeeperQueue.Item, AccountID, epoch: Int)
        case wait(seconds: Double)
        case end
    }

    init(_ service: String, limit: Keeper.RateLimit, maximumPause: Double, time: TimeSource) {
        self.service = service
        self.limit = limit
        self.maximumPause = maximumPause.isFinite ? min(max(maximumPause, 1), 31_536_000) : 3_600
        self.time = time
    }

    var count: Int { state.withLock { $0.known.count } }
    /// Whether the service has failed since its last success. Until it succeeds, one account at a time tries, after a pause.
    /// Failures of the vault do not count.
    var isServiceFailing: Bool { state.withLock { $0.failures > 0 } }

    func contains(_ id: AccountID) -> Bool {
        state.withLock { state in
            guard let group = Self.group(of: id, in: state.groups) else { return false }
            return state.known.contains(KeptName(group: group, name: id.name))
        }
    }

    /// Queues an account, unless it is queued.
    func add(_ id: AccountID, due: Double) {
        let isFirst = state.withLock { state in
            let name = Self.name(of: id, in: &state.groups)
            guard state.known.insert(name).inserted else { return false }
            state.queue.push(.init(due: due, account: name))
            return state.queue.first?.account == name
        }
        if isFirst { wake.signal() }
    }

    /// Queues the repetition of an account's refresh before all others, unless it is queued. The account keeps its place too.
    func addRepeat(of id: AccountID) {
        state.withLock { state in
            let name = Self.name(of: id, in: &state.groups)
            guard state.repeated.insert(name).inserted else { return }
            state.queue.push(.init(due: 0, account: name, isRepeat: true))
        }
        wake.signal()
    }

    private static func name(of id: AccountID, in groups: inout [AccountID]) -> KeptName {
        if let group = group(of: id, in: groups) { return KeptName(group: group, name: id.name) }
        groups.append(id)
        return KeptName(group: UInt32(clamping: groups.count - 1), name: id.name)
    }

    private static func group(of id: AccountID, in groups: [AccountID]) -> UInt32? {
        groups.firstIndex { $0.client == id.client && $0.resources == id.resources }.map { UInt32(clamping: $0) }
    }

    /// Refreshes accounts as they come due.
    ///
    /// - Parameter end: nil to go on until the task is cancelled. Otherwise each account that is due by then is tried once, until the
    ///   service or the vault fails; the rest is counted as postponed.
    func run(for keeper: Keeper, _ hook: KeeperHook, until end: Double?) async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                switch step(at: time.now(), until: end) {
                case .start(let item, let id, let epoch):
                    if end == nil, !item.isRepeat {
                        let late = min(max(time.now() - item.due, 0), 1_000_000_000)
                        keeper.telemetry?.record("handshake_keeper_delay_seconds", .seconds(late), at: service)
                    }
                    group.addTask {
                        let reported = self.state.withLock { $0.endings[item.account] }
                        let outcome = await keeper.keep(
                            id, failures: item.failures, isRepeat: item.isRepeat, until: end, reported: reported)
                        if case .ended(let ending) = outcome { hook.add(ending) }
                        self.finish(item, id, outcome, epoch: epoch, for: keeper, isOnce: end != nil)
                        self.wake.signal()
                    }
                case .wait(let seconds):
                    let pause = Duration.seconds(min(max(seconds, 0.001), Self.maximumSleep))
                    _ = try? await within(pause, on: time.clock) { [wake] in try await wake.wait() }
                case .end:
                    let left = state.withLock { state in
                        var left = 0
                        while let item = state.queue.first, item.due <= end ?? 0 {
                            _ = state.queue.pop()
                            left += 1
                        }
                        return left
                    }
                    keeper.count { $0.postponed += left }
                    return
                }
            }
        }
    }

    /// A clock that was set is noticed after this many seconds.
    private static let maximumSleep = 60.0
    /// By how many seconds starts may be late without being lost: sleeps are not exact.
    private static let burst = 0.05

    private func step(at now: Double, until end: Double?) -> Step {
        state.withLock { state in
            // After a failure one account tries for all.
            let maximumRunning = state.isFailing ? 1 : limit.concurrent
            if let end, state.isFailing || (state.queue.first?.due ?? .infinity) > end {
                return state.running == 0 ? .end : .wait(seconds: Self.maximumSleep)
            }
            guard let first = state.queue.first, state.running < maximumRunning else {
                return .wait(seconds: Self.maximumSleep)
            }
            // Bounded, because a clock that was set back would lengthen them. To bound this wait alone would not end the pause.
            state.pausedUntil = min(state.pausedUntil, now + maximumPause * 1.1)
            state.nextStart = min(state.nextStart, now + max(1, 1 / limit.perSecond))
            let (pause, rateWait) = (state.pausedUntil - now, state.nextStart - now)
            let due = end == nil ? first.due - now : 0
            let wait = max(pause, rateWait, due)
            guard wait <= 0, let item = state.queue.pop() else { return .wait(seconds: wait) }
            state.nextStart = max(now + min(rateWait, 0), now - Self.burst) + 1 / limit.perSecond
            state.running += 1
            let group = state.groups[Int(item.account.group)]
            return .start(item, group.named(item.account.name), epoch: state.epoch)
        }
    }

    private func finish(
        _ item: KeeperQueue.Item, _ id: AccountID, _ outcome: Keeper.Outcome, epoch: Int, for keeper: Keeper,
        isOnce: Bool
    ) {
        let now = time.now()
        var next: Double?
        var failures: UInt8 = 0
        var isDone = false
        switch outcome {
        case .gone, .ended: break
        case .kept(let at, let isProof):
            next = at
            isDone = true
            // Only an answer of the service proves that it works.
            if isProof { noteSuccess(epoch, keeper) }
        case .accountFailed(let error, let pause):
            failures = min(item.failures, 200) + 1
            next = now + pause
            keeper.fail(id, with: error, at: now, retryAt: now + pause)
        case .serviceFailed(let error, let retryAfter):
            let until = noteFailure(epoch, retryAfter, now, error, keeper)
            next = until
            keeper.fail(id, with: error, at: now, retryAt: until)
        case .vaultFailed(let error):
            let until = noteVaultFailure(epoch, now, error, keeper)
            next = until
            keeper.fail(id, with: error, at: now, retryAt: until)
        case .cancelled: next = now
        }
        state.withLock { state in
            state.running -= 1
            guard let next, !isOnce else {
                state.forget(item)
                let isQueued = state.known.contains(item.account) || state.repeated.contains(item.account)
                if !isQueued {
                    state.endings[item.account] = nil
                } else if case .ended(let ending) = outcome {
                    state.endings[item.account] = ending.identifier
                }
                return
            }
            if item.isRepeat, isDone {
                state.forget(item)
                // Its own place in the queue stands, unless it had none.
                guard keeper.options.listsAccounts, state.known.insert(item.account).inserted else { return }
            }
            state.queue.push(
                .init(due: next, account: item.account, failures: failures, isRepeat: item.isRepeat && !isDone))
        }
    }

    private func noteSuccess(_ epoch: Int, _ keeper: Keeper) {
        let isNews = state.withLock { state in
            guard state.epoch == epoch, state.isFailing else { return false }
            defer { (state.failures, state.vaultFailures, state.pausedUntil) = (0, 0, 0) }
            return state.failures > 0
        }
        if isNews { keeper.announce(.resumed, at: service) }
    }

    /// Counts a failure of the service, and pauses.
    ///
    /// - Returns: the end of the pause.
    private func noteFailure(
        _ epoch: Int, _ retryAfter: Double?, _ now: Double, _ error: HandshakeError, _ keeper: Keeper
    ) -> Double {
        let (until, count) = pause(
            \.failures, epoch, longest: maximumPause, least: retryAfter ?? 0, now, chance: keeper.chance())
        if count != nil { keeper.announce(.paused(error, until: until), at: service, time: now) }
        return until
    }

    /// The longest pause in seconds while the vault fails: it fails for all services, and all of them come due meanwhile.
    private static let maximumVaultPause = 60.0

    /// Counts a failure of the vault, and pauses. The service is not reported as failing.
    ///
    /// - Returns: the end of the pause.
    private func noteVaultFailure(
        _ epoch: Int, _ now: Double, _ error: HandshakeError, _ keeper: Keeper
    ) -> Double {
        let (until, count) = pause(
            \.vaultFailures, epoch, longest: Self.maximumVaultPause, now, chance: keeper.chance())
        if count == 1 {
            keeper.log.error(
                "the vault cannot be used", metadata: ["service": "\(service)", "reason": "\(error.code)"])
        }
        return until
    }

    /// Counts a failure, unless its work was started before the last counted one, and pauses.
    ///
    /// - Parameter least: the service's `Retry-After` in seconds; 0 without one.
    /// - Returns: the end of the pause, and the number of failures in a row; nil for the number when this failure was not counted.
    private func pause(
        _ counter: WritableKeyPath<State, Int>, _ epoch: Int, longest: Double, least: Double = 0, _ now: Double,
        chance: Double
    ) -> (until: Double, count: Int?) {
        state.withLock { state in
            let isCounted = state.epoch == epoch
            if isCounted {
                state[keyPath: counter] = min(state[keyPath: counter] + 1, 64)
                // The vault was used before the service could fail.
                if counter == \.failures { state.vaultFailures = 0 }
                state.epoch += 1
            }
            let count = state[keyPath: counter]
            let backOff = BackOff(first: .seconds(2), longest: .seconds(longest))
            let own = backOff.pause(afterFailures: count) / .seconds(1)
            // At least the `Retry-After`, but at most `maximumPause`. Then up to a tenth more, so that processes do not return together.
            let pause = min(max(own * (0.5 + 0.5 * chance), least), maximumPause)
            state.pausedUntil = max(min(state.pausedUntil, now + maximumPause * 1.1), now + pause * (1 + 0.1 * chance))
            return (state.pausedUntil, isCounted ? count : nil)
        }
    }
}

/// Wakes the one task that waits; a signal that comes before the wait counts.
private final class WakeUp: Sendable {
    private struct State {
        var isSignalled = false
        var waiter: SingleResult<Void>?
    }

    private let state = Mutex(State())

    func signal() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.isSignalled = true }
            return state.waiter
        }
        waiter?.settle(.success(()))
    }

    func wait() async throws {
        let waiter = state.withLock { state -> SingleResult<Void>? in
            guard !state.isSignalled else {
                state.isSignalled = false
                return nil
            }
            state.waiter = SingleResult()
            return state.waiter
        }
        guard let waiter else { return }
        // A wait that was given up takes no later signal.
        defer { state.withLock { if $0.waiter === waiter { $0.waiter = nil } } }
        try await withTaskCancellationHandler {
            try await waiter.value
        } onCancel: {
            waiter.settle(.failure(CancellationError()))
        }
    }
}
