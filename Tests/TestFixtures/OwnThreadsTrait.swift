import Foundation
import Synchronization
package import Testing

/// Runs a test on threads of its own, as many as block.
///
/// For tests of other processes: swift-testing waits for each (`#expect(processExitsWith:)`) in a call that blocks its thread. Of the runtime's
/// own threads there are as many as processors, so that two such processes on two processors let every other test stand still.
package struct OwnThreadsTrait: SuiteTrait, TestTrait, TestScoping {
    private static let threads = GrowingExecutor()

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Self.threads) { try await function() }
    }
}

extension Trait where Self == OwnThreadsTrait {
    /// The test waits for other processes, or blocks its thread otherwise.
    package static var ownThreads: Self { OwnThreadsTrait() }
}

/// Runs each job immediately, on an idle thread or on a new one.
private final class GrowingExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var idle = 0
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let hasThread = state.withLock { state in
            state.jobs.append(job)
            guard state.idle > 0 else { return false }
            state.idle -= 1
            return true
        }
        if hasThread { wake.signal() } else { Thread.detachNewThread { self.work() } }
    }

    private func work() -> Never {
        while true {
            let job = state.withLock { state -> UnownedJob? in
                guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
                state.idle += 1
                return nil
            }
            if let job { job.runSynchronously(on: asUnownedTaskExecutor()) } else { wake.wait() }
        }
    }
}
