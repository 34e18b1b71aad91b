/// Returns never: throws `CancellationError` when the task is cancelled.
package func waitForCancellation() async throws {
    // Time stands still on a clock that no test advances.
    try await ManualClock().sleep(for: .seconds(1))
}
