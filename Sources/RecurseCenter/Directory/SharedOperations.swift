import Handshake
import Synchronization

/// At most one running piece of work for each key, which everybody who asks for the key waits for.
///
/// A class, because all who ask share the work. Each caller has its own cancellation; the work goes on for the others.
final class SharedOperations<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let running = Mutex<[Key: SharedOperation<Value>]>([:])

    /// Joins the work for a key, or starts it.
    ///
    /// - Parameter work: looks first whether what it would fetch has come meanwhile: a caller may join just as the work before
    ///   ends.
    func join(_ key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
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
