/// Thrown by ``withDeadline(_:on:_:)`` when time ran out.
struct DeadlineExceeded: Error {}

/// Runs `body`, cancels it when `duration` has passed, and waits for it to end.
///
/// - Throws: ``DeadlineExceeded``, or what `body` throws.
func withDeadline<Result: Sendable>(
    _ duration: Duration, on clock: any Clock<Duration>, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await clock.sleep(for: duration.bounded)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let result = first else { throw DeadlineExceeded() }
        return result
    }
}

extension Duration {
    /// Clocks trap beyond some centuries: what is longer than one counts as one.
    var bounded: Duration {
        min(self, .seconds(3_155_760_000))
    }
}
