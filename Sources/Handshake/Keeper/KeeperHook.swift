import AsyncSupport
import HTTPTypes
import Logging
import OAuth
import Synchronization

/// The reports on their way to a webhook, one after the other.
///
/// One that is not taken goes behind the others: those that a webhook never takes do not hold up the rest.
final class KeeperHook: Sendable {
    private let webhook: KeeperWebhook?
    private let accounts: any KeptAccounts
    private let time: TimeSource
    private let log: Logger
    /// The time since this was made, by a clock that is never set.
    private let elapsed: @Sendable () -> Duration
    private let reports = Mutex(KeeperReports())
    /// Says that a report was added.
    private let additions: AsyncStream<Void>
    private let added: AsyncStream<Void>.Continuation
    private let end = KeeperHookEnd()

    /// How often a report is sent that the webhook refuses, or that does not reach it while a pass ends.
    private static let attempts = 5
    /// The pauses while the webhook fails, and before a report is repeated.
    private static let backOff = BackOff(first: .seconds(2), longest: .seconds(60))
    /// How many seconds one request may take, and how long all of them together delay the end of a keeper that was cancelled.
    static let maximumRequestTime = 10.0

    init(_ webhook: KeeperWebhook?, by accounts: any KeptAccounts, time: TimeSource, log: Logger) {
        self.webhook = webhook
        self.accounts = accounts
        self.time = time
        self.log = log
        elapsed = Keeper.elapsed(on: time.clock)
        (additions, added) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Queues a report, unless it waits already. One of a listing that there is no room for is not logged.
    func add(_ ending: KeeperEnding) {
        guard webhook != nil else { return }
        switch reports.withLock({ $0.add(ending) }) {
        case .added: added.yield()
        case .waits: break
        case .full:
            if !ending.isListed { warn("too many reports wait; this one is sent at a keeper's next listing", ending) }
        }
    }

    private func warn(_ message: Logger.Message, _ ending: KeeperEnding) {
        log.warning(message, metadata: ["account": "\(ending.account)", "reason": "\(ending.reason.rawValue)"])
    }

    /// Takes no more reports. What waits is still sent, for 80 s at most beside the time of reports that are taken.
    func finish() {
        end.finish(at: seconds)
        added.finish()
    }

    /// Delivers reports until ``finish()``. When the calling task is cancelled, each report gets one attempt at most, and none begins later
    /// than 10 s after ``finish()``.
    func deliver() async {
        // In a task that is not cancelled: what has ended is reported also at the end of the program.
        let delivery = Task {
            // How many reports in a row did not reach the webhook.
            var failures = 0
            for await _ in additions {
                while let report = reports.withLock({ $0.next() }) {
                    failures = await deliver(report, afterFailures: failures)
                }
            }
        }
        await withTaskCancellationHandler {
            await delivery.value
        } onCancel: {
            end.cancel(at: seconds)
        }
    }

    private var seconds: Double { elapsed() / .seconds(1) }

    /// Sends a report once. Queues it again if it was not taken, and pauses.
    ///
    /// - Returns: how many reports in a row did not reach the webhook, with this one.
    private func deliver(_ report: WaitingReport, afterFailures before: Int) async -> Int {
        var report = report
        report.attempts += 1
        let start = seconds
        let outcome = await send(report.ending)
        guard outcome != .taken else {
            await note(report.ending)
            reports.withLock { $0.forget(report) }
            return 0
        }
        end.count(from: start, to: seconds)
        if isRepeated(report, after: outcome) {
            reports.withLock { $0.putBehind(report) }
        } else {
            reports.withLock { $0.forget(report) }
            warn("a report did not reach the webhook; it is sent again at a keeper's next listing", report.ending)
        }
        let failures = outcome == .failed ? before + 1 : 0
        // A refused report says nothing about those that were not sent yet.
        if outcome != .notSent, let next = reports.withLock({ $0.first }) {
            await pause(afterFailures: outcome == .failed ? failures : next.attempts)
        }
        return failures
    }

    private enum Outcome {
        case taken
        /// The webhook does not take this report.
        case refused
        /// The webhook takes no report now: it fails, or cannot be reached.
        case failed
        /// There was no time for it, or there is no app to send it.
        case notSent
    }

    /// Whether a report that was not taken is queued again.
    private func isRepeated(_ report: WaitingReport, after outcome: Outcome) -> Bool {
        // Reports of a listing are left to the next one, which finds them.
        let hasAttempts = !report.ending.isListed && report.attempts < Self.attempts
        return switch (outcome, end.phase) {
        case (.taken, _), (.notSent, _), (_, .cancelled): false
        case (.failed, .running): true
        case (.failed, .finished), (.refused, _): hasAttempts
        }
    }

    /// Pauses before the next report, until the keeper ends; not where the count is 0.
    private func pause(afterFailures count: Int) async {
        let phase = end.phase
        guard count > 0, phase != .cancelled else { return }
        let pause = Self.backOff.pause(afterFailures: count)
        let start = seconds
        guard end.secondsLeft(at: start) > pause / .seconds(1) else { return end.giveUp() }
        await end.untilCancelled(orFinished: phase == .running) { [time] in try await time.clock.sleep(for: pause) }
        end.count(from: start, to: seconds)
    }

    /// Sends a report, unless the keeper ends.
    private func send(_ ending: KeeperEnding) async -> Outcome {
        guard let webhook, let handshake = accounts.first else { return .notSent }
        let left = min(end.secondsLeft(at: seconds), Self.maximumRequestTime)
        guard left > 0 else { return .notSent }
        do {
            let response = try await handshake.environment.transport.send(
                webhook.request(of: ending, at: time.now()), limits: TransferLimits(timeout: .seconds(left)))
            let status = response.head.status.code
            if (200..<300).contains(status) { return .taken }
            log.warning("the webhook did not confirm a report", metadata: ["status": "\(status)"])
            return status >= 500 || status == 429 ? .failed : .refused
        } catch {
            log.warning("the webhook could not be reached", metadata: ["host": "\(webhook.url.origin)"])
            return .failed
        }
    }

    /// Stores that the webhook has taken a report. A keeper that was cancelled does not: the next listing then sends the report again.
    private func note(_ ending: KeeperEnding) async {
        await end.untilCancelled { [self] in
            do { try await accounts.noteReported(ending) } catch {
                guard !(error is CancellationError) else { return }
                warn("the webhook took a report, and that could not be stored: it is sent again", ending)
            }
        }
    }
}

/// A report that is queued or on its way.
private struct WaitingReport: Sendable {
    let ending: KeeperEnding
    var attempts = 0
}

/// The reports that wait for a webhook: of endings found now, then those of a listing, then those that were sent before.
private struct KeeperReports {
    enum Addition {
        case added, waits, full
    }

    /// How many reports wait at most. More are left to the next listing.
    private static let capacity = 10_000

    private var found: ArraySlice<WaitingReport> = []
    private var listed: ArraySlice<WaitingReport> = []
    private var sent: ArraySlice<WaitingReport> = []
    /// The identifiers of the reports that are queued or on their way, which each listing finds too.
    private var waiting: Set<String> = []

    /// The report that ``next()`` takes out.
    var first: WaitingReport? { found.first ?? listed.first ?? sent.first }

    mutating func add(_ ending: KeeperEnding) -> Addition {
        let identifier = ending.identifier
        guard !waiting.contains(identifier) else { return .waits }
        guard waiting.count < Self.capacity else { return .full }
        waiting.insert(identifier)
        let report = WaitingReport(ending: ending)
        if ending.isListed { listed.append(report) } else { found.append(report) }
        return .added
    }

    mutating func next() -> WaitingReport? {
        if let report = found.popFirst() { return report }
        if let report = listed.popFirst() { return report }
        return sent.popFirst()
    }

    /// Queues a report that was not taken again.
    mutating func putBehind(_ report: WaitingReport) { sent.append(report) }

    /// Ends the wait of a report: another one of the same ending may be added.
    mutating func forget(_ report: WaitingReport) { waiting.remove(report.ending.identifier) }
}

/// When the deliveries of a keeper have to end. Times are in seconds.
private final class KeeperHookEnd: Sendable {
    enum Phase {
        case running, finished, cancelled
    }

    private struct State {
        var isCancelled = false
        var finishedAt: Double?
        /// When the later of both came.
        var beganAt: Double?
        /// How much time after `finishedAt` went into reports that were not taken, and the pauses after them.
        var lost = 0.0
        /// What cancellation ends early.
        var work: Task<Void, Never>?
        /// Whether ``finish(at:)`` ends it too.
        var endsWithFinish = false

        var isWorkOver: Bool { isCancelled || endsWithFinish && finishedAt != nil }
    }

    private let state = Mutex(State())

    /// How much time reports that are not taken have after ``finish(at:)``, all of them together.
    private static let maximumLoss = 80.0

    var phase: Phase {
        state.withLock { state -> Phase in
            if state.isCancelled { return .cancelled }
            return state.finishedAt == nil ? .running : .finished
        }
    }

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

    /// How much time is left for what may not be taken. Without an end it has no bound.
    func secondsLeft(at now: Double) -> Double {
        state.withLock { state -> Double in
            if let began = state.beganAt { return began + KeeperHook.maximumRequestTime - now }
            return state.finishedAt == nil ? .infinity : Self.maximumLoss - state.lost
        }
    }

    /// Counts the time of a report that was not taken, or of a pause, as far as it is after ``finish(at:)``.
    func count(from start: Double, to now: Double) {
        state.withLock { state in
            guard let finished = state.finishedAt else { return }
            state.lost += max(now - max(start, finished), 0)
        }
    }

    /// Leaves no time for further reports.
    func giveUp() {
        state.withLock { $0.lost = Self.maximumLoss }
    }

    /// Runs `body` and cancels it when the keeper is cancelled. Does not run it when the keeper was cancelled before.
    ///
    /// - Parameter endsWithFinish: whether ``finish(at:)`` cancels it too.
    func untilCancelled(
        orFinished endsWithFinish: Bool = false, _ body: @escaping @Sendable () async throws -> Void
    ) async {
        let work: Task<Void, Never>? = state.withLock { state in
            state.endsWithFinish = endsWithFinish
            guard !state.isWorkOver else { return nil }
            state.work = Task { _ = try? await body() }
            return state.work
        }
        guard let work else { return }
        await work.value
        state.withLock { $0.work = nil }
    }
}
