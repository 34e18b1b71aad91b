import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The clock of one sandbox: the machine's, moved forward as tests ask.
final class SandboxClock: Sendable {
    private let offset = Mutex(0.0)

    /// Seconds since 1970.
    var now: Double {
        Date().timeIntervalSince1970 + offset.withLock { $0 }
    }

    func advance(by seconds: Double) {
        offset.withLock { $0 += max(0, seconds) }
    }
}
