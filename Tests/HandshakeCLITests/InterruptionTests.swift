import Foundation
import TestFixtures
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension CommandTests {
    @Suite("Ctrl-C")
    struct InterruptionTests {
        /// At 60 moments from the start of the process until after its first line, or at as many as `HANDSHAKE_INTERRUPTIONS` says.
        ///
        /// A moment is an amount of processor time that the process has used, so the same moments are tried on a busy machine. A process
        /// that lost the first signal would go on and print its line; the second signal, another one, then ends it with another
        /// status. So nothing here depends on time, and nothing waits without end.
        @Test(
            "a signal at any moment of the start ends the command: with status 130, or by the signal itself before it is handled"
        )
        func everyMoment() async throws {
            let command = try Command()
            let moments =
                ProcessInfo.processInfo.environment["HANDSHAKE_INTERRUPTIONS"].flatMap(Int.init) ?? 60
            let start = try await startingCost(command)
            var handled = 0
            for moment in 0..<moments {
                let running = try command.start(["sandbox", "--print-json"])
                let cost = start * moment / max(1, moments * 4 / 5)
                await running.hasUsed(cost)
                running.send(SIGINT)
                if await running.line() != nil { running.send(SIGTERM) }
                let finished = await running.finish()
                #expect(
                    finished.ending == .status(130) || finished.ending == .signal(SIGINT),
                    "after \(cost) of processor time: \(finished)")
                if finished.ending == .status(130) { handled += 1 }
            }
            #expect(handled > 0, "no signal came after the handler was there")
        }

        @Test("a request to terminate ends the command with status 143")
        func termination() async throws {
            let running = try Command().start(["sandbox", "--print-json"])
            try #require(await running.line() != nil)
            running.send(SIGTERM)
            #expect(await running.finish().ending == .status(143))
        }

        /// The processor time that the command takes to its first line. Only a scale for the moments above.
        private func startingCost(_ command: Command) async throws -> Duration {
            let running = try command.start(["sandbox", "--print-json"])
            try #require(await running.line() != nil)
            let cost = try #require(processorTime(of: running.process))
            running.send(SIGINT)
            #expect(await running.finish().ending == .status(130))
            return cost
        }
    }
}
