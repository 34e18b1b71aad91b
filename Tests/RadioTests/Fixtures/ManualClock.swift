import Synchronization

/// A clock that stands still until a test moves it, and tells who sleeps on it.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var next = 0
        var cancelled: Set<Int> = []
        var sleepers: [Int: (start: Instant, end: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var watchers: [(length: Duration, continuation: CheckedContinuation<Void, Never>)] = []

        /// Those who wait for somebody who sleeps now.
        mutating func satisfiedWatchers() -> [CheckedContinuation<Void, Never>] {
            let lengths = Set(sleepers.values.map { $0.start.duration(to: $0.end) })
            let satisfied = watchers.filter { lengths.contains($0.length) }.map(\.continuation)
            watchers.removeAll { lengths.contains($0.length) }
            return satisfied
        }
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                var watchers: [CheckedContinuation<Void, Never>] = []
                let answer = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[number] = (state.now, deadline, continuation)
                    watchers = state.satisfiedWatchers()
                    return nil
                }
                for watcher in watchers { watcher.resume() }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: number)
                if sleeper == nil { state.cancelled.insert(number) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Moves the clock, and wakes those whose time has come.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.sorted { $0.value.end < $1.value.end }.map(\.value.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Returns when somebody sleeps who wants to sleep for so long.
    func sleeper(of length: Duration) async {
        await withCheckedContinuation { continuation in
            let satisfied = state.withLock { state in
                state.watchers.append((length, continuation))
                return state.satisfiedWatchers()
            }
            for watcher in satisfied { watcher.resume() }
        }
    }
}
