import Foundation
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
        /// A process that lost the first signal would go on and print its line; the second signal, another one, then ends it with
        /// another status. So nothing here depends on time, and nothing waits without end.
        @Test(
            "a signal at any moment of the start ends the command: with status 130, or by the signal itself before it is handled"
        )
        func everyMoment() async throws {
            let command = try Command()
            let moments =
                ProcessInfo.processInfo.environment["HANDSHAKE_INTERRUPTIONS"].flatMap(Int.init) ?? 60
            let start = try await duration(command)
            var handled = 0
            for moment in 0..<moments {
                let running = try command.start(["sandbox", "--print-json"])
                let delay = start * moment / max(1, moments * 4 / 5)
                await aside { [delay = UInt32(delay)] in _ = usleep(delay) }
                running.send(SIGINT)
                if await running.line() != nil { running.send(SIGTERM) }
                let finished = await running.finish()
                #expect(
                    finished.ending == .status(130) || finished.ending == .signal(SIGINT),
                    "after \(delay) µs: \(finished)")
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

        /// How long the command takes to its first line, in microseconds. Only a scale for the moments above.
        private func duration(_ command: Command) async throws -> Int {
            let clock = ContinuousClock()
            let begun = clock.now
            let running = try command.start(["sandbox", "--print-json"])
            try #require(await running.line() != nil)
            let taken = clock.now - begun
            running.send(SIGINT)
            #expect(await running.finish().ending == .status(130))
            return Int(taken / .microseconds(1))
        }
    }
}
