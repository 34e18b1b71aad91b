import HandshakeServer
import Synchronization

/// What the app's handler was handed.
final class Inbox: Sendable {
    private struct State {
        var webhooks: [ConnectWebhook] = []
        var failures = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<[ConnectWebhook], Never>)] = []
    }

    private let state = Mutex(State())

    var webhooks: [ConnectWebhook] { state.withLock { $0.webhooks } }

    /// Fails the next so many times.
    func fail(_ times: Int) { state.withLock { $0.failures = times } }

    func take(_ webhook: ConnectWebhook) throws {
        let satisfied = try state.withLock { state in
            guard state.failures == 0 else {
                state.failures -= 1
                throw Absent()
            }
            state.webhooks.append(webhook)
            let webhooks = state.webhooks
            defer { state.watchers.removeAll { $0.count <= webhooks.count } }
            return state.watchers.filter { $0.count <= webhooks.count }.map { ($0.continuation, webhooks) }
        }
        for (continuation, webhooks) in satisfied { continuation.resume(returning: webhooks) }
    }

    /// Returns when there are so many.
    func first(_ count: Int) async -> [ConnectWebhook] {
        await withCheckedContinuation { continuation in
            let webhooks = state.withLock { state -> [ConnectWebhook]? in
                guard state.webhooks.count < count else { return state.webhooks }
                state.watchers.append((count, continuation))
                return nil
            }
            if let webhooks { continuation.resume(returning: webhooks) }
        }
    }
}
