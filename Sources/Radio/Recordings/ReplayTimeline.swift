import Beacons
import Synchronization

/// The time of a recording, as a clock: it passes when the replay says so, and those who sleep on it wake in between.
///
/// A class, because a clock is one thing that many look at.
final class ReplayTimeline: Clock {
    struct Instant: InstantProtocol {
        /// How much of the recording has passed.
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    fileprivate struct State {
        var now = Instant(offset: .zero)
        var time = Timestamp(clampingMicroseconds: 0)
        var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        /// Those whose sleep was cancelled before it began.
        var cancelled: Set<Int> = []
        var next = 0
    }

    private let state = Mutex(State())

    /// For how many milliseconds a sleeper that was woken is waited for, so that it sleeps again before its next deadline is
    /// passed. One that is at work for longer, or does not come back, holds nobody up.
    private static let patience = 2000

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }
    /// The time that was recorded.
    var time: Timestamp { state.withLock { $0.time } }

    /// Whether somebody sleeps on it.
    var isAwaited: Bool { state.withLock { !$0.sleepers.isEmpty } }

    /// Sets the recorded time, which may go back; what has passed does not.
    func set(_ time: Timestamp) {
        state.withLock { $0.time = time }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[number] = (deadline, continuation)
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                guard let sleeper = state.sleepers.removeValue(forKey: number) else {
                    state.cancelled.insert(number)
                    return nil
                }
                return sleeper.continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
        state.withLock { _ = $0.cancelled.remove(number) }
    }

    /// Lets time pass. Each sleeper wakes at its own deadline, and may look at the time and sleep again before more passes.
    func advance(by duration: Duration) async {
        let end = now.advanced(by: duration)
        while let sleeper = wake(before: end) {
            let begun = state.withLock { $0.next }
            sleeper.resume()
            await someoneSleeps(after: begun)
        }
        state.withLock { $0.move(to: end) }
    }

    /// Waits until another sleep has begun than the first `begun` ones.
    private func someoneSleeps(after begun: Int) async {
        for round in 0..<(64 + Self.patience) where state.withLock({ $0.next }) == begun {
            if round < 64 {
                await Task.yield()
            } else if (try? await Task.sleep(for: .milliseconds(1))) == nil {
                return
            }
        }
    }

    /// The sleeper with the earliest deadline up to `end`; the time is that deadline then.
    private func wake(before end: Instant) -> CheckedContinuation<Void, any Error>? {
        state.withLock { state in
            guard let first = state.sleepers.min(by: { $0.value.deadline < $1.value.deadline }),
                first.value.deadline <= end
            else { return nil }
            state.sleepers[first.key] = nil
            state.move(to: first.value.deadline)
            return first.value.continuation
        }
    }
}

extension ReplayTimeline.State {
    fileprivate mutating func move(to instant: ReplayTimeline.Instant) {
        guard instant > now else { return }
        time = time.advanced(by: now.duration(to: instant))
        now = instant
    }
}
