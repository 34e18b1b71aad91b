import Beacons
import Synchronization

/// A clock that stands still until it is advanced, and reports when a task waits for it.
final class ManualClock: Clock, Sendable {
    typealias Instant = Timestamp
    typealias Duration = Swift.Duration

    private struct Sleeper {
        let id: Int
        let deadline: Timestamp
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Timestamp
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var nextID = 0
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ now: Timestamp) {
        state = Mutex(State(now: now))
    }

    var now: Timestamp { state.withLock(\.now) }
    var minimumResolution: Swift.Duration { .microseconds(1) }
    var time: ScanTime { ScanTime(now: { self.now }, clock: self) }

    func sleep(until deadline: Timestamp, tolerance: Swift.Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (watchers, answer) = state.withLock {
                    state -> ([CheckedContinuation<Void, Never>], Result<Void, any Error>?) in
                    if state.cancelled.contains(id) { return ([], .failure(CancellationError())) }
                    if deadline <= state.now { return ([], .success(())) }
                    state.sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
                    defer { state.watchers = [] }
                    return (state.watchers, nil)
                }
                for watcher in watchers { watcher.resume() }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                state.cancelled.insert(id)
                return state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Waits until a task sleeps on this clock.
    func sleeper() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.sleepers.isEmpty { state.watchers.append(continuation) }
                return !state.sleepers.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits until a task sleeps, and advances.
    func advance(by duration: Swift.Duration) async {
        await sleeper()
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}
