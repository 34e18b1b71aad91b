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

/// Runs `body`, which waits for an answer from outside of this process, and cancels it after `duration`.
///
/// A process that stood still, stopped or on a frozen machine, finds two things when it goes on: the deadline has passed, and an answer that
/// came in time has not been read. So where the deadline is noticed late, `body` gets as much time more, 2 s at most.
///
/// It does not know whether `body` has sent its request: one that a standstill caught while it connected may be sent within these 2 s.
///
/// - Throws: ``DeadlineExceeded`` after the deadline; what `body` throws in time.
package func withDeadlineForAnswer<Result: Sendable, C: Clock>(
    _ duration: Duration, on clock: C = ContinuousClock(), _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result where C.Duration == Duration {
    let grace = Duration.seconds(2)
    return try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            let deadline = clock.now.advanced(by: duration.bounded)
            try await clock.sleep(until: deadline, tolerance: nil)
            try await clock.sleep(for: min(deadline.duration(to: clock.now), grace))
            throw DeadlineExceeded()
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() else { throw DeadlineExceeded() }
        return result
    }
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
