import AsyncSupport
import Handshake
import TestFixtures
import Testing

@Suite("A process that stood still")
struct StandstillTests {
    @Test(
        "VL4: an answer that came while a process was stopped is read when it goes on, after the deadline",
        arguments: [1.5, 4])
    func stopped(late: Double) async throws {
        let (clock, answer, over) = (ManualClock(), Gate(), Gate())
        let reading = Task {
            defer { over.open() }
            return try await withDeadlineForAnswer(.seconds(3), on: clock) {
                // What lies in the socket is there as soon as the process runs.
                while !answer.isOpen {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                return 1
            }
        }
        await clock.sleeper(of: .seconds(3))
        clock.advance(by: .seconds(3 + late))
        while clock.sleeperCount == 0, !over.isOpen { await Task.yield() }
        answer.open()
        #expect(try await reading.value == 1)
    }

    @Test("an answer that does not come is given up, also by a process that stood still")
    func silent() async throws {
        let (clock, over) = (ManualClock(), Gate())
        let reading = Task {
            defer { over.open() }
            try await withDeadlineForAnswer(.seconds(3), on: clock) { try await clock.sleep(for: .seconds(1e6)) }
        }
        await clock.sleeper(of: .seconds(3))
        clock.advance(by: .seconds(10))
        while !over.isOpen, clock.now.offset < .seconds(1e5) {
            clock.advance(by: .seconds(2))
            await Task.yield()
        }
        await #expect(throws: DeadlineExceeded.self) { try await reading.value }
    }
}
