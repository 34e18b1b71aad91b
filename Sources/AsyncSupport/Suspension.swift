/// Suspends until the task is cancelled.
///
/// - Throws: `CancellationError`, always.
package func suspendUntilCancelled() async throws {
    for await _ in AsyncStream<Never>.makeStream().stream {}
    try Task.checkCancellation()
}
