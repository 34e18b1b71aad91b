#if Server
import AsyncSupport
import Handshake
import Synchronization

/// Fetches that continue in the background: one per session, and a bounded number per process.
///
/// A class, because requests share the count.
final class BackgroundFetches: Sendable {
    private let maximum: Int
    /// Callers that wait for the end of a fetch, by session.
    private let running = Mutex<[VaultKey: [AsyncStream<Never>.Continuation]]>([:])

    /// - Parameter maximum: how many there may be concurrently.
    init(maximum: Int) {
        self.maximum = maximum
    }

    /// The result of ``enter(_:)``.
    enum Entry: Sendable {
        /// The caller fetches, and calls ``leave(_:)`` at the end.
        case free
        /// The session has a running fetch.
        case underway
        /// The process has the maximum of running fetches.
        case full
    }

    func enter(_ key: VaultKey) -> Entry {
        running.withLock { running in
            guard running[key] == nil else { return .underway }
            guard running.count < maximum else { return .full }
            running[key] = []
            return .free
        }
    }

    func leave(_ key: VaultKey) {
        let waiting = running.withLock { $0.removeValue(forKey: key) } ?? []
        for continuation in waiting { continuation.finish() }
    }

    /// Waits until a session's fetch has ended, at most until `timeout` or the caller's cancellation.
    func end(of key: VaultKey, within timeout: Duration, on clock: any Clock<Duration>) async {
        let (end, continuation) = AsyncStream<Never>.makeStream()
        running.withLock { running in
            if running[key] == nil { continuation.finish() } else { running[key]?.append(continuation) }
        }
        _ = try? await within(timeout, on: clock) { for await _ in end {} }
    }
}
#endif
