import Synchronization

/// One result for one waiter, in whichever order they come.
///
/// A class, because both sides share it.
package final class SingleResult<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case settled(Result<Value, any Error>)
    }

    private let state = Mutex(State.open)

    package init() {}

    /// Delivers the result. A second one has no effect.
    package func settle(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            if case .settled = state { return nil }
            defer { state = .settled(result) }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(with: result)
    }

    /// Waits for the result; awaited once.
    ///
    /// - Throws: the failure that was delivered. Cancellation does not end it: the owner settles it then.
    package var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let settled = state.withLock { state -> Result<Value, any Error>? in
                    if case .settled(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let settled { continuation.resume(with: settled) }
            }
        }
    }
}
