import Synchronization

/// One running piece of work that any number of callers wait for, each with its own cancellation.
///
/// The work runs in a task of its own, so a caller that leaves, even the one that started it, neither stops it nor
/// fails the others (`oauth-security.md` E3). When it ends, all waiting callers get the same outcome, and the next
/// call starts new work.
package final class SharedOperation<Value: Sendable>: Sendable {
    package init() {}

    private struct State {
        var isRunning = false
        var waiters: [UInt64: CheckedContinuation<Value, any Error>] = [:]
        var nextWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Joins the running work, or starts `work` when none is running, and waits for its outcome.
    ///
    /// - Throws: what the work throws; `CancellationError` immediately when the calling task is cancelled.
    package func join(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let id = state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // In one step with the question whether work is running: work that ends in between would leave this
                // caller waiting forever.
                let starts = state.withLock { state in
                    defer { state.isRunning = true }
                    state.waiters[id] = continuation
                    return !state.isRunning
                }
                if starts { run(work) }
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            leave(id)
        }
    }

    /// Waits until no work is running, also when the calling task is cancelled.
    func finish() async {
        _ = try? await withCheckedThrowingContinuation { continuation in
            let isRunning = state.withLock { state in
                guard state.isRunning else { return false }
                state.waiters[state.nextWaiter] = continuation
                state.nextWaiter += 1
                return true
            }
            if !isRunning { continuation.resume(throwing: CancellationError()) }
        }
    }

    private func run(_ work: @escaping @Sendable () async throws -> Value) {
        Task.detached {
            let outcome: Result<Value, any Error>
            do {
                outcome = .success(try await work())
            } catch {
                outcome = .failure(error)
            }
            let waiters = self.state.withLock { state in
                defer { state = State(nextWaiter: state.nextWaiter) }
                return state.waiters
            }
            // In the order they came: that is fair, and a task group takes its children off in that order without
            // searching.
            for waiter in waiters.sorted(by: { $0.key < $1.key }) { waiter.value.resume(with: outcome) }
        }
    }

    private func leave(_ id: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
    }
}
