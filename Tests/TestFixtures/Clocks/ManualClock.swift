import Synchronization

/// A clock that stands still until a test advances it, and tells which tasks sleep on it.
package final class ManualClock: Clock, Sendable {
    package typealias Instant = TestInstant

    private struct Sleeper {
        let start: Instant
        let end: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        let isSatisfied: @Sendable (_ start: Instant, _ end: Instant) -> Bool
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextID = 0
        /// Tasks that were cancelled before they could sleep.
        var cancelled: Set<Int> = []
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [Watcher] = []

        /// Removes the watchers whose condition holds.
        mutating func satisfiedWatchers() -> [CheckedContinuation<Void, Never>] {
            let sleepers = sleepers.values
            let isOver = { (watcher: Watcher) in
                sleepers.count { watcher.isSatisfied($0.start, $0.end) } >= watcher.count
            }
            defer { watchers.removeAll(where: isOver) }
            return watchers.filter(isOver).map(\.continuation)
        }
    }

    private let state = Mutex(State())

    package init() {}

    package var now: Instant { state.withLock { $0.now } }
    package var minimumResolution: Duration { .zero }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                var watchers: [CheckedContinuation<Void, Never>] = []
                let answer = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[id] = Sleeper(start: state.now, end: deadline, continuation: continuation)
                    watchers = state.satisfiedWatchers()
                    return nil
                }
                for watcher in watchers { watcher.resume() }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the clock, and wakes the tasks whose deadline has passed, the earliest first.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.end, $0.key) < ($1.value.end, $1.key) }.map(\.value.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// How many tasks sleep.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Returns when at least `count` tasks sleep.
    package func sleepers(_ count: Int) async {
        await wait(for: count) { _, _ in true }
    }

    /// Returns when a task sleeps that wakes exactly `duration` from now.
    package func sleeper(for duration: Duration) async {
        let wake = now.advanced(by: duration)
        await wait(for: 1) { $1 == wake }
    }

    /// Returns when a task, or `count` of them, sleep that asked for exactly `length`.
    package func sleeper(of length: Duration, count: Int = 1) async {
        await wait(for: count) { $0.duration(to: $1) == length }
    }

    /// Advances the clock by `step` whenever a task sleeps that asked for no more, until the returned task is cancelled.
    ///
    /// Time stands still while none does, however long the rest of the test takes.
    package func pass(inStepsOf step: Duration) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                let isAwaited = state.withLock { $0.sleepers.values.contains { $0.start.duration(to: $0.end) <= step } }
                if isAwaited { advance(by: step) }
                await Task.yield()
            }
        }
    }

    /// Advances the clock by `step` whenever at least `count` tasks sleep, until the returned task is cancelled.
    package func pass(inStepsOf step: Duration, whileAsleep count: Int) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                advance(by: step, ifAsleep: count)
                await Task.yield()
            }
        }
    }

    /// Advances the clock if at least `count` tasks sleep.
    package func advance(by step: Duration, ifAsleep count: Int) {
        if state.withLock({ $0.sleepers.count >= count }) { advance(by: step) }
    }

    private func wait(for count: Int, _ isSatisfied: @escaping @Sendable (Instant, Instant) -> Bool) async {
        await withCheckedContinuation { continuation in
            let satisfied = state.withLock { state in
                state.watchers.append(Watcher(isSatisfied: isSatisfied, count: count, continuation: continuation))
                return state.satisfiedWatchers()
            }
            for watcher in satisfied { watcher.resume() }
        }
    }
}
