#if Server
import Handshake
import Logging
import ServiceLifecycle
import Synchronization

/// Deletes expired sign-in attempts, at most once in an interval and only while new ones start.
///
/// A class, because requests share the time of the last run.
final class SignInCleaning: Sendable {
    private let handshake: Handshake
    private let time: TimeSource
    private let log: Logger
    /// The shortest time between two runs, in seconds.
    private let interval: Double
    private let lastBegun = Mutex<Double?>(nil)

    init(of handshake: Handshake, time: TimeSource, log: Logger, interval: Double = 3_600) {
        self.handshake = handshake
        self.time = time
        self.log = log
        self.interval = interval
    }

    /// Starts cleaning if it is due, without waiting. It is cancelled with the server.
    ///
    /// - Returns: the task, for tests; nil when it is not due.
    @discardableResult
    func beginIfDue() -> Task<Void, Never>? {
        let now = time.now()
        let isDue = lastBegun.withLock { last in
            // `abs`, so that a clock that was set back delays cleaning by at most the interval.
            guard last.map({ abs(now - $0) >= interval }) ?? true else { return false }
            last = now
            return true
        }
        guard isDue else { return nil }
        return Task { [handshake, log] in
            do {
                _ = try await cancelWhenGracefulShutdown { try await handshake.removeExpiredSignIns() }
            } catch {
                log.warning("expired sign-in attempts were not deleted", metadata: ["reason": "\(type(of: error))"])
            }
        }
    }
}
#endif
