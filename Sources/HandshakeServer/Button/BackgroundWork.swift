#if Server
import Handshake
import Synchronization

/// What goes on behind the answers to users' messages, by session.
///
/// A class, since requests count together.
final class BackgroundWork: Sendable {
    private struct Work {
        var count = 0
        /// Those who wait until the session's work has ended.
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let running = Mutex<[VaultKey: Work]>([:])

    /// Does something in a task of its own; it ends when it is done, not when the caller does.
    func begin(_ key: VaultKey, _ body: @escaping @Sendable () async -> Void) {
        running.withLock { $0[key, default: Work()].count += 1 }
        Task {
            await body()
            let waiting = running.withLock { running -> [AsyncStream<Never>.Continuation] in
                guard var work = running[key] else { return [] }
                work.count -= 1
                running[key] = work.count > 0 ? work : nil
                return work.count > 0 ? [] : work.waiting
            }
            for continuation in waiting { continuation.finish() }
        }
    }

    /// Waits until nothing goes on for a session.
    func end(of key: VaultKey) async {
        let (end, continuation) = AsyncStream<Never>.makeStream()
        running.withLock { running in
            if running[key] == nil { continuation.finish() } else { running[key]?.waiting.append(continuation) }
        }
        for await _ in end {}
    }
}
#endif
