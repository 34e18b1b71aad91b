import Synchronization

/// A clock on which every sleep ends immediately, and which records how long each was.
package final class HurriedClock: Clock, Sendable {
    package typealias Instant = TestInstant

    private struct State {
        var now = Instant(offset: .zero)
        var pauses: [Duration] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var now: Instant { state.withLock { $0.now } }
    package var minimumResolution: Duration { .zero }
    package var pauses: [Duration] { state.withLock { $0.pauses } }

    package func advance(by duration: Duration) {
        state.withLock { $0.now = $0.now.advanced(by: duration) }
    }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.pauses.append(state.now.duration(to: deadline))
            state.now = max(state.now, deadline)
        }
        await Task.yield()
    }
}
