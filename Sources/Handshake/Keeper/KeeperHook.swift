import AsyncSupport
import HTTPTypes
import Logging
import OAuth
import Synchronization

/// The reports on their way to a webhook.
final class KeeperHook: Sendable {
    private let webhook: KeeperWebhook?
    private let accounts: any KeptAccounts
    private let time: TimeSource
    private let log: Logger
    private let endings: AsyncStream<KeeperEnding>
    private let queue: AsyncStream<KeeperEnding>.Continuation
    private let end = KeeperHookEnd()
    /// The identifiers of the reports that are queued or on their way, which each listing finds too.
    private let waiting = Mutex<Set<String>>([])

    /// How many reports wait at most. More are left to the next listing.
    private static let capacity = 10_000
    private static let attempts = 5
    /// The pauses between attempts, and between reports to a webhook that does not answer.
    private static let backOff = BackOff(first: .seconds(2), longest: .seconds(300))
    /// How long one request may take, and how long all of them together delay the end of a keeper that was cancelled.
    static let maximumRequestTime = 10.0

    init(_ webhook: KeeperWebhook?, by accounts: any KeptAccounts, time: TimeSource, log: Logger) {
        self.webhook = webhook
        self.accounts = accounts
        self.time = time
        self.log = log
        (endings, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.capacity))
    }

    /// Queues a report, unless it waits already. One of a listing that there is no room for is not logged.
    func add(_ ending: KeeperEnding) {
        guard webhook != nil, waiting.withLock({ $0.insert(ending.identifier).inserted }) else { return }
        guard case .dropped = queue.yield(ending) else { return }
        _ = waiting.withLock { $0.remove(ending.identifier) }
        if !ending.isListed { warn("too many reports wait; this one is sent at a keeper's next listing", ending) }
    }

    private func warn(_ message: Logger.Message, _ ending: KeeperEnding) {
        log.warning(message, metadata: ["account": "\(ending.account)", "reason": "\(ending.reason.rawValue)"])
    }

    /// Takes no more reports. What waits is still delivered, unless the webhook does not answer.
    func finish() {
        queue.finish()
        end.finish(at: time.now())
    }

    private enum Outcome {
        case taken, refused, unanswered
    }

    /// Delivers reports until ``finish()``. When the calling task is cancelled, each report is tried once more at most, and none begins later
    /// than 10 s after ``finish()``.
    func deliver() async {
        // In a task that is not cancelled: what has ended is reported also at the end of the program.
        let delivery = Task {
            var last = Outcome.taken
            var unanswered = 0
            for await ending in endings {
                unanswered = last == .unanswered ? unanswered + 1 : 0
                if await !isLeftAlone(after: unanswered) {
                    // With pauses, reports that a webhook refuses at each listing, or one after the other, would delay all others.
                    let attempts = ending.isListed || last != .taken ? 1 : Self.attempts
                    last = await report(ending, attempts: attempts)
                }
                if last == .taken {
                    await note(ending)
                } else {
                    warn("a report did not reach the webhook; it is sent again at a keeper's next listing", ending)
                }
                _ = waiting.withLock { $0.remove(ending.identifier) }
            }
        }
        await withTaskCancellationHandler {
            await delivery.value
        } onCancel: {
            end.cancel(at: time.now())
        }
    }

    /// Pauses after reports that the webhook did not answer.
    ///
    /// - Returns: whether it gets no more: the keeper ends.
    private func isLeftAlone(after unanswered: Int) async -> Bool {
        guard unanswered > 0 else { return false }
        let pause = Self.backOff.pause(afterFailures: unanswered)
        return await end.untilCancelled(orFinished: true) { [time] in try await time.clock.sleep(for: pause) }
    }

    private func report(_ ending: KeeperEnding, attempts: Int) async -> Outcome {
        guard let webhook, let handshake = accounts.first else { return .refused }
        var outcome = Outcome.unanswered
        for attempt in 1...attempts {
            let left = end.secondsLeft(of: Self.maximumRequestTime, at: time.now())
            guard left > 0 else { return .unanswered }
            do {
                let response = try await handshake.environment.transport.send(
                    webhook.request(of: ending, at: time.now()), limits: TransferLimits(timeout: .seconds(left)))
                if (200..<300).contains(response.head.status.code) { return .taken }
                outcome = .refused
                log.warning("the webhook refused a report", metadata: ["status": "\(response.head.status.code)"])
            } catch {
                outcome = .unanswered
                log.warning("the webhook could not be reached", metadata: ["host": "\(webhook.url.origin)"])
            }
            guard attempt < attempts else { break }
            let pause = Self.backOff.pause(afterFailures: attempt)
            let isOver = await end.untilCancelled { [time] in try await time.clock.sleep(for: pause) }
            if isOver { break }
        }
        return outcome
    }

    /// Stores that the webhook has taken a report. A keeper that was cancelled does not: the next listing then sends the report again.
    private func note(_ ending: KeeperEnding) async {
        _ = await end.untilCancelled { [self] in
            do { try await accounts.noteReported(ending) } catch {
                guard !(error is CancellationError) else { return }
                warn("the webhook took a report, and that could not be stored: it is sent again", ending)
            }
        }
    }
}

/// When the deliveries of a keeper have to end.
private final class KeeperHookEnd: Sendable {
    private struct State {
        var isCancelled = false
        var finishedAt: Double?
        /// What cancellation ends early.
        var work: Task<Void, Never>?
        /// Whether ``finish(at:)`` ends it too.
        var endsWithFinish = false
        /// When the later of both came.
        var beganAt: Double?

        var isWorkOver: Bool { isCancelled || endsWithFinish && finishedAt != nil }
    }

    private let state = Mutex(State())

    func cancel(at now: Double) {
        let work = state.withLock { state in
            state.isCancelled = true
            if state.finishedAt != nil { state.beganAt = state.beganAt ?? now }
            return state.work
        }
        work?.cancel()
    }

    func finish(at now: Double) {
        let work = state.withLock { state in
            state.finishedAt = state.finishedAt ?? now
            if state.isCancelled { state.beganAt = state.beganAt ?? now }
            return state.isWorkOver ? state.work : nil
        }
        work?.cancel()
    }

    /// How many of so many seconds are left. Without an end all of them are, and a clock that was set back gives no more.
    func secondsLeft(of seconds: Double, at now: Double) -> Double {
        state.withLock { state in
            guard let began = state.beganAt else { return seconds }
            return min(began + seconds - now, seconds)
        }
    }

    /// Runs what is cancelled when the keeper is, unless it was.
    ///
    /// - Parameter endsWithFinish: whether ``finish(at:)`` does the same.
    /// - Returns: whether it was cancelled.
    func untilCancelled(
        orFinished endsWithFinish: Bool = false, _ body: @escaping @Sendable () async throws -> Void
    ) async -> Bool {
        let work: Task<Void, Never>? = state.withLock { state in
            state.endsWithFinish = endsWithFinish
            guard !state.isWorkOver else { return nil }
            state.work = Task { _ = try? await body() }
            return state.work
        }
        guard let work else { return true }
        await work.value
        return state.withLock { state in
            state.work = nil
            return state.isWorkOver
        }
    }
}
