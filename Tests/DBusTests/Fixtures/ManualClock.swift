import Synchronization

/// A clock that stands still until a test moves it, and tells who sleeps on it.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextID = 0
        var sleepers: [Int: (wakes: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var watchers: [(wakes: Instant, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func satisfiedWatchers() -> [CheckedContinuation<Void, Never>] {
            let instants = Set(sleepers.values.map(\.wakes))
            let satisfied = watchers.filter { instants.contains($0.wakes) }.map(\.continuation)
            watchers.removeAll { instants.contains($0.wakes) }
            return satisfied
        }
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isOver, watchers) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
                    guard deadline > state.now else { return (true, []) }
                    state.sleepers[id] = (deadline, continuation)
                    return (false, state.satisfiedWatchers())
                }
                for watcher in watchers { watcher.resume() }
                if isOver { continuation.resume() }
                // A cancellation before the line above found nobody to wake.
                if Task.isCancelled { wake(id) }
            }
        } onCancel: {
            wake(id)
        }
    }

    /// Moves the clock, and wakes those whose time has come.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.wakes <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { $0.key < $1.key }.map(\.value.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Returns when somebody sleeps who is to wake after exactly `duration` from now.
    func sleeper(for duration: Duration) async {
        await withCheckedContinuation { continuation in
            let satisfied = state.withLock { state in
                state.watchers.append((state.now.advanced(by: duration), continuation))
                return state.satisfiedWatchers()
            }
            for watcher in satisfied { watcher.resume() }
        }
    }

    private func wake(_ id: Int) {
        state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
    }
}
