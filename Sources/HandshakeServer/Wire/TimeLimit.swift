/// Runs a body, cancels it when its time is over, and waits for it to end.
///
/// - Parameters:
///   - limit: how long it may take; more than a century counts as one.
///   - clock: what that is measured on.
///   - body: what is done. It has to heed cancellation.
/// - Returns: nil when time ran out.
/// - Throws: what the body throws in time, and `CancellationError`.
func within<Result: Sendable>(
    _ limit: Duration, on clock: any Clock<Duration>, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result? {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            // Clocks trap beyond some centuries.
            try await clock.sleep(for: min(limit, .seconds(3_155_760_000)))
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}
