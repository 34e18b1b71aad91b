/// Thrown by ``withDeadline(_:on:_:)`` after the deadline.
package struct DeadlineExceeded: Error {}

/// Runs `body` as ``within(_:on:_:)`` does.
///
/// - Throws: ``DeadlineExceeded``, or what `body` throws.
package func withDeadline<Result: Sendable>(
    _ duration: Duration, on clock: any Clock<Duration>, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    guard let result = try await within(duration, on: clock, body) else { throw DeadlineExceeded() }
    return result
}

/// Runs `body`, cancels it after `duration`, and awaits its end.
///
/// - Returns: what `body` returns; nil after the timeout.
/// - Throws: what `body` throws in time, and `CancellationError`.
package func within<Result: Sendable>(
    _ duration: Duration, on clock: any Clock<Duration>, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result? {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await clock.sleep(for: duration.bounded)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}

extension Duration {
    /// Limits a duration to some centuries, beyond which clocks trap.
    package var bounded: Duration {
        min(self, .seconds(3_155_760_000))
    }
}
