#if Sandbox
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The clock of one sandbox: the machine's, moved forward by tests, or a held one.
package final class SandboxClock: Sendable {
    private struct State: Sendable {
        var offset = 0.0
        /// The time at which the clock is held; nil while the machine's clock counts.
        var held: Double?
    }

    private let state = Mutex(State())

    /// No time is further from 1970 than this, in seconds, so that every time fits into an integer.
    private static let latest = 1e11

    /// Seconds since 1970.
    package var now: Double {
        let state = state.withLock { $0 }
        return (state.held ?? Date().timeIntervalSince1970) + state.offset
    }

    func advance(by seconds: Double) {
        guard seconds > 0 else { return }
        state.withLock { $0.offset = min($0.offset + seconds, Self.latest) }
    }

    /// From now on the clock moves only when it is advanced.
    func hold(at seconds: Double) {
        guard seconds.isFinite else { return }
        state.withLock { $0 = State(offset: 0, held: min(max(seconds, -Self.latest), Self.latest)) }
    }
}
#endif
