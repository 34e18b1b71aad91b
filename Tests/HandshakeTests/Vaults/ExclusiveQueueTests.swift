import TestFixtures
import Testing

@testable import Handshake

@Suite("The queue before a key")
struct ExclusiveQueueTests {
    private let queue = ExclusiveQueue<String>()
    private let clock = ManualClock()

    @Test("waiters are served in the order they came")
    func order() async throws {
        let served = Shared<[Int]>([])
        #expect(try await enter("key"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    guard try await enter("key") else { return }
                    served.change { $0.append(number) }
                    queue.release("key")
                }
                await clock.sleepers(number + 1)
            }
            queue.release("key")
            try await group.waitForAll()
        }
        #expect(served.value == Array(0..<100))
    }

    @Test("a key is free again after the last has left, and only then")
    func free() async throws {
        #expect(queue.tryAcquire("key"))
        #expect(!queue.tryAcquire("key"))
        #expect(queue.tryAcquire("another"))
        queue.release("key")
        #expect(queue.tryAcquire("key"))
    }

    @Test("waiters that leave early, by cancellation or deadline, take no turn with them")
    func leavers() async throws {
        #expect(try await enter("key"))
        let cancelled = (0..<10).map { _ in Task { try await enter("key") } }
        await clock.sleepers(10)
        let late = (0..<10).map { _ in Task { try await enter("key") } }
        await clock.sleepers(20)
        for task in cancelled { task.cancel() }
        for task in cancelled { await #expect(throws: CancellationError.self) { try await task.value } }
        clock.advance(by: .seconds(60))
        for task in late { #expect(try await task.value == false) }
        let patient = Task { try await enter("key") }
        await clock.sleepers(1)
        queue.release("key")
        #expect(try await patient.value)
    }

    @Test("cancellations and turns at the same moment lose no turn and give none twice")
    func storm() async throws {
        let holders = Shared(0)
        let most = Shared(0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2000 {
                let task = Task {
                    guard try await enter("key") else { return }
                    let count = holders.change { holders in
                        holders += 1
                        return holders
                    }
                    most.change { $0 = max($0, count) }
                    await Task.yield()
                    holders.change { $0 -= 1 }
                    queue.release("key")
                }
                if number % 3 == 0 { group.addTask { task.cancel() } }
                group.addTask { _ = await task.result }
            }
        }
        #expect(most.value == 1)
        #expect(queue.tryAcquire("key"))
    }

    private func enter(_ key: String) async throws -> Bool {
        try await queue.acquire(key, until: clock.now.advanced(by: .seconds(60)), on: clock)
    }
}
