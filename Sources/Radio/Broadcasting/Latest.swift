import Synchronization

/// A changing value, for readers that only want the newest.
final class Latest<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var readers: [Int: AsyncStream<Value>.Continuation] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    /// The current value, and each later one; a slow reader misses some.
    func values() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.next += 1
            state.readers[state.next] = continuation
            if let value = state.value { continuation.yield(value) }
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.readers[number] = nil }
        }
        return stream
    }

    func set(_ value: Value) {
        state.withLock { state in
            state.value = value
            for reader in state.readers.values { reader.yield(value) }
        }
    }
}
