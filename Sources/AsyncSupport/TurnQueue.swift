/// Runs pieces of work one after another, each to its end, in the order in which they were added.
///
/// For an actor whose methods suspend: its isolation alone lets another call in at each suspension.
package struct TurnQueue: Sendable {
    /// Ends when the last piece of work has ended.
    private var last: Task<Void, Never>?

    package init() {}

    /// Adds work. It runs also when nothing waits for the task that is returned.
    package mutating func add<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) -> Task<Result, any Error> {
        let previous = last
        let task = Task {
            await previous?.value
            return try await work()
        }
        last = Task { _ = await task.result }
        return task
    }
}
