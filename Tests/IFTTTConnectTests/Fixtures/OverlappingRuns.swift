import TestFixtures
import Testing

/// Cancels a run in the middle of its work, begins another one, and lets the first one end.
///
/// - Parameters:
///   - answered: what the first run waits for, although it is cancelled.
///   - run: begins the second run.
/// - Returns: the second run, which has waited for the first one.
func overlap(
    _ first: Task<Void, Never>, until answered: Gate, with run: @escaping @Sendable () async -> Void
) async throws -> Task<Void, Never> {
    let ended = Gate()
    first.cancel()
    let second = Task {
        await run()
        ended.open()
    }
    for _ in 0..<500 { await Task.yield() }
    let isOver = ended.isOpen
    answered.open()
    await first.value
    try #require(!isOver)
    return second
}
