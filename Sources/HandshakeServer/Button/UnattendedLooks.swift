#if Server
import Deadlines
import Handshake
import Synchronization

/// The looks at IFTTT that go on when nobody waits for them: one for each session, and so many in a process.
///
/// A class, since requests count together.
final class UnattendedLooks: Sendable {
    private let most: Int
    /// Those who wait for the end of a look, by session.
    private let running = Mutex<[VaultKey: [AsyncStream<Never>.Continuation]]>([:])

    /// - Parameter most: how many there may be concurrently.
    init(most: Int) {
        self.most = most
    }

    /// What there is to know before a look is begun.
    enum Entry: Sendable {
        /// It is the caller's to do, and to end with ``leave(_:)``.
        case free
        /// There is one for this session.
        case underway
        /// There are as many as there may be.
        case full
    }

    func enter(_ key: VaultKey) -> Entry {
        running.withLock { running in
            guard running[key] == nil else { return .underway }
            guard running.count < most else { return .full }
            running[key] = []
            return .free
        }
    }

    func leave(_ key: VaultKey) {
        let waiting = running.withLock { $0.removeValue(forKey: key) } ?? []
        for continuation in waiting { continuation.finish() }
    }

    /// Waits until the look of a session has ended, but no longer than `patience`, nor than the caller's task lives.
    func end(of key: VaultKey, within patience: Duration, on clock: any Clock<Duration>) async {
        let (end, continuation) = AsyncStream<Never>.makeStream()
        running.withLock { running in
            if running[key] == nil { continuation.finish() } else { running[key]?.append(continuation) }
        }
        _ = try? await within(patience, on: clock) { for await _ in end {} }
    }
}
#endif
