package import Testing

/// Runs only a few of the tests that carry it concurrently.
///
/// For tests that start processes, servers, listeners or threads, or compute for long: swift-testing starts every test of a
/// run concurrently, and a thousand sandboxes on two cores answer none of their clients in time. Tests without this trait
/// take no turn and wait for nothing.
package struct HeavyTrait: SuiteTrait, TestTrait, TestScoping {
    static let width = 4
    private static let turns = AsyncSemaphore(width)
    @TaskLocal private static var hasTurn = false

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard !Self.hasTurn else { return try await function() }
        await Self.turns.wait()
        defer { Self.turns.signal() }
        try await Self.$hasTurn.withValue(true, operation: function)
    }
}

extension Trait where Self == HeavyTrait {
    /// The test starts processes, servers, listeners or threads, or computes for long.
    package static var heavy: Self { HeavyTrait() }
}
