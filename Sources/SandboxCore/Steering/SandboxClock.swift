import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The clock of one sandbox: the machine's, moved forward as tests ask, or one that stands still.
package final class SandboxClock: Sendable {
    private struct State: Sendable {
        var offset = 0.0
        /// When the clock stands still, this takes the place of the machine's.
        var held: Double?
    }

    private let state = Mutex(State())

    /// Seconds since 1970.
    package var now: Double {
        let state = state.withLock { $0 }
        return (state.held ?? Date().timeIntervalSince1970) + state.offset
    }

    func advance(by seconds: Double) {
        state.withLock { $0.offset += max(0, seconds) }
    }

    /// From now on the clock moves only when it is advanced.
    func hold(at seconds: Double) {
        state.withLock { $0 = State(offset: 0, held: seconds) }
    }
}
