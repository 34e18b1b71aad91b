#if Server
import Handshake
import Synchronization

/// Tasks that continue after a user's message was answered, by session.
///
/// A class, because requests share the count.
final class BackgroundWork: Sendable {
    private struct Work {
        var count = 0
        /// Callers that wait for the end of the session's work.
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let running = Mutex<[VaultKey: Work]>([:])

    /// Runs a body in an unstructured task, which outlives the caller.
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

    /// Waits until a session has no work.
    func end(of key: VaultKey) async {
        let (end, continuation) = AsyncStream<Never>.makeStream()
        running.withLock { running in
            if running[key] == nil { continuation.finish() } else { running[key]?.waiting.append(continuation) }
        }
        for await _ in end {}
    }
}
#endif
