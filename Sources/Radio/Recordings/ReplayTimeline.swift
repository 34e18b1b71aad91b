import Beacons
import Synchronization

/// A clock with the recording's time: the replay advances it, and sleeping tasks wake in between.
///
/// A class, because a clock is shared.
final class ReplayTimeline: Clock {
    struct Instant: InstantProtocol {
        /// The elapsed time of the recording.
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    fileprivate struct State {
        var now = Instant(offset: .zero)
        var time = Timestamp(clampingMicroseconds: 0)
        var sleepers: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        /// Sleeps that were cancelled before they began.
        var cancelled: Set<Int> = []
        var next = 0
        var isShared = false
    }

    private let state = Mutex(State())

    /// How long to wait, in milliseconds, for a woken task to sleep again, so that its next deadline is not passed. A task that
    /// works for longer, or does not sleep again, does not delay the others.
    private static let wakeTimeout = 2000

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }
    /// The recorded time.
    var time: Timestamp { state.withLock { $0.time } }

    /// Whether a task sleeps on it.
    var isAwaited: Bool { state.withLock { !$0.sleepers.isEmpty } }

    /// Notes that another task has this clock, and is going to sleep on it.
    func share() {
        state.withLock { $0.isShared = true }
    }

    /// Waits until a task sleeps on this clock for the first time: what passes before it would have no tick.
    func begin() async {
        guard state.withLock({ $0.isShared }) else { return }
        await someoneSleeps(after: 0)
    }

    /// Sets the recorded time, which can go back; the elapsed time never does.
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

    /// Advances the time. Each sleeping task wakes at its own deadline and can sleep again before more time passes.
    func advance(by duration: Duration) async {
        let end = now.advanced(by: duration)
        while let sleeper = wake(before: end) {
            let begun = state.withLock { $0.next }
            sleeper.resume()
            await someoneSleeps(after: begun)
        }
        state.withLock { $0.move(to: end) }
    }

    /// Waits until another sleep begins after the first `begun` ones.
    private func someoneSleeps(after begun: Int) async {
        for round in 0..<(64 + Self.wakeTimeout) where state.withLock({ $0.next }) == begun {
            if round < 64 {
                await Task.yield()
            } else if (try? await Task.sleep(for: .milliseconds(1))) == nil {
                return
            }
        }
    }

    /// Takes the sleeper with the earliest deadline up to `end`, and sets the time to that deadline.
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
