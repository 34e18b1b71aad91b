import Synchronization
import TestFixtures
import Testing

@testable import Handshake

@Suite("A shared operation")
struct SharedOperationTests {
    @Test("runs once for all waiting callers, and again for the next")
    func once() async throws {
        let operation = SharedOperation<Int>()
        let runs = Mutex(0)
        let release = Gate()
        let work: @Sendable () async throws -> Int = {
            await release.wait()
            return runs.withLock { runs in
                runs += 1
                return runs
            }
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await operation.join(work) } }
            group.addTask {
                release.open()
                return 1
            }
            for try await result in group { #expect(result == 1 || result == 2) }
        }
        let before = runs.withLock { $0 }
        #expect(before <= 2, "only a caller after the end starts it again")
        #expect(try await operation.join(work) == before + 1)
    }

    @Test("does not leave a caller waiting that joined at the end")
    func noLostWaiter() async throws {
        let operation = SharedOperation<Int>()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20_000 { group.addTask { try await operation.join { 1 } } }
            for try await result in group { #expect(result == 1) }
        }
    }

    @Test("gives every waiter the same failure")
    func failure() async {
        let operation = SharedOperation<Int>()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    do {
                        _ = try await operation.join { throw VaultError.busy("x") }
                        return false
                    } catch {
                        return error as? VaultError == .busy("x")
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
