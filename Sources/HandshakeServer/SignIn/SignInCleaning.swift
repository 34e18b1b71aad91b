#if Server
import Handshake
import Logging
import ServiceLifecycle
import Synchronization

/// Removes unfinished sign-ins, once an hour, while others are begun: only beginning makes more of them.
///
/// A class, since requests share the hour.
final class SignInCleaning: Sendable {
    private static let interval = 3600.0

    private let handshake: Handshake
    private let time: TimeSource
    private let log: Logger
    private let lastBegun = Mutex<Double?>(nil)

    init(of handshake: Handshake, time: TimeSource, log: Logger) {
        self.handshake = handshake
        self.time = time
        self.log = log
    }

    /// Begins to clean when it is time, and waits for nothing. It ends with the server.
    ///
    /// - Returns: the cleaning, for tests; nil when it is not time.
    @discardableResult
    func beginIfDue() -> Task<Void, Never>? {
        let now = time.now()
        let isDue = lastBegun.withLock { last in
            // A clock that was set back waits for no longer than an hour.
            guard last.map({ abs(now - $0) >= Self.interval }) ?? true else { return false }
            last = now
            return true
        }
        guard isDue else { return nil }
        return Task { [handshake, log] in
            do {
                _ = try await cancelWhenGracefulShutdown { try await handshake.removeExpiredSignIns() }
            } catch {
                log.warning("expired sign-ins were not removed", metadata: ["reason": "\(type(of: error))"])
            }
        }
    }
}
#endif
