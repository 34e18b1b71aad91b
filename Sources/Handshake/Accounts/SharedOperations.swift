import Synchronization

/// At most one running operation for each key; all callers that ask for the key wait for it.
///
/// A class, because the callers share the operations. Each caller has its own cancellation; the operation continues for
/// the others.
package final class SharedOperations<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let running = Mutex<[Key: SharedOperation<Value>]>([:])

    package init() {}

    /// Joins the operation for a key, or starts it.
    ///
    /// - Parameter work: checks first whether its result is there already: a caller may join just as the operation before
    ///   ends.
    package func join(_ key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let operation = running.withLock { running in
            let operation = running[key] ?? SharedOperation()
            running[key] = operation
            return operation
        }
        return try await operation.join {
            defer { self.running.withLock { if $0[key] === operation { $0[key] = nil } } }
            return try await work()
        }
    }
}
