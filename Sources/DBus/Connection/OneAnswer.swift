import Synchronization

/// The single reply of a call, whether it arrives before or after it is awaited.
final class OneAnswer: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Message, any Error>)
        case resolved(Result<Message, any Error>)
    }

    private let state = Mutex(State.open)

    func resolve(_ result: Result<Message, any Error>) {
        let waiting = state.withLock { state -> CheckedContinuation<Message, any Error>? in
            defer { state = .resolved(result) }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume(with: result)
    }

    var value: Message {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Message, any Error>? in
                    if case .resolved(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }
}
