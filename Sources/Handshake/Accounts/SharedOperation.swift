import Synchronization

/// One running piece of work that any number of callers wait for, each with its own cancellation.
///
/// The work runs in a task of its own, so a caller that leaves, even the one that started it, neither stops it nor
/// fails the others (`oauth-security.md` E3). When it ends, all waiting callers get the same outcome, and the next
/// call starts new work. It sets no deadline: the work bounds its own time, as a refresh does with a deadline for each
/// exchange.
package final class SharedOperation<Value: Sendable>: Sendable {
    package init() {}

    private struct State {
        var isRunning = false
        /// In order of arrival. Those that left are among them.
        var waiters: [Waiter] = []
    }

    /// A caller that waits, and is resumed once: taking the continuation out gives the right to resume it.
    private final class Waiter: Sendable {
        private let continuation = Mutex<UnsafeContinuation<Value, any Error>?>(nil)

        func wait(in continuation: UnsafeContinuation<Value, any Error>) {
            self.continuation.withLock { $0 = continuation }
        }

        func resume(with outcome: Result<Value, any Error>) {
            continuation.withLock { $0.take() }?.resume(with: outcome)
        }

        func leave() {
            resume(with: .failure(CancellationError()))
        }
    }

    private let state = Mutex(State())

    /// Joins the running work, or starts `work` when none is running, and waits for its outcome.
    ///
    /// - Parameter joined: called when work was running.
    /// - Throws: what the work throws; `CancellationError` immediately when the calling task is cancelled.
    package func join(
        joined: (@Sendable () -> Void)? = nil, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let waiter = Waiter()
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                waiter.wait(in: continuation)
                // Registered in the same step that checks whether work is running: if the work ended between two steps,
                // this caller would wait forever.
                let starts = state.withLock { state in
                    defer { state.isRunning = true }
                    state.waiters.append(waiter)
                    return !state.isRunning
                }
                if starts { run(work) } else { joined?() }
                if Task.isCancelled { waiter.leave() }
            }
        } onCancel: {
            waiter.leave()
        }
    }

    /// Waits until no work is running, also when the calling task is cancelled.
    func finish() async {
        _ = try? await withUnsafeThrowingContinuation { continuation in
            let waiter = Waiter()
            waiter.wait(in: continuation)
            let isRunning = state.withLock { state in
                if state.isRunning { state.waiters.append(waiter) }
                return state.isRunning
            }
            if !isRunning { waiter.leave() }
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
                defer { state = State() }
                return state.waiters
            }
            // In order of arrival: that is fair, and a task group finds its children in that order without searching.
            for waiter in waiters { waiter.resume(with: outcome) }
        }
    }
}
