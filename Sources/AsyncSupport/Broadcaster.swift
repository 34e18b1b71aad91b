import Synchronization

/// Hands each value to every reader that is listening at that moment.
///
/// A class, because the sending and the reading side share it.
package final class Broadcaster<Value: Sendable>: Sendable {
    private struct State {
        var readers: [UInt64: AsyncStream<Value>.Continuation] = [:]
        var next: UInt64 = 0
        /// What a new reader gets first; empty unless the broadcast replays.
        var newest: Value?
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let replaysNewest: Bool

    /// Creates a broadcast without readers.
    ///
    /// - Parameters:
    ///   - capacity: how many values a reader may be behind; beyond that it loses the oldest.
    ///   - replaysNewest: whether a new reader begins with the newest value.
    package init(capacity: Int, replaysNewest: Bool = false) {
        self.capacity = capacity
        self.replaysNewest = replaysNewest
    }

    /// The values from now on, until ``finish()``.
    ///
    /// - Parameter first: values that this reader gets before all others.
    package func values(beginningWith first: [Value] = []) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(capacity))
        let id = state.withLock { state in
            defer { state.next += 1 }
            state.readers[state.next] = continuation
            for value in first + [state.newest].compactMap(\.self) { continuation.yield(value) }
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.readers.removeValue(forKey: id) }
        }
        return stream
    }

    /// Sends a value to all readers, in the order of the calls.
    ///
    /// - Returns: whether there was a reader.
    @discardableResult
    package func send(_ value: Value) -> Bool {
        // Under the lock: two senders reach all readers in the same order. A continuation never calls back here.
        state.withLock { state in
            if replaysNewest { state.newest = value }
            for reader in state.readers.values { reader.yield(value) }
            return !state.readers.isEmpty
        }
    }

    /// Ends the iterations of the current readers. A later reader gets later values.
    package func finish() {
        let readers = state.withLock { state in
            defer { state.readers = [:] }
            return state.readers.values.map(\.self)
        }
        // Outside the lock: finishing calls the termination handler, which takes it.
        for reader in readers { reader.finish() }
    }
}
