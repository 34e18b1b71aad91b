import AsyncSupport
import Synchronization
import TestFixtures
import Testing

@testable import DBus

@Suite("A connection that is opened again", .heavy)
struct ReconnectingConnectionTests {
    @Test("waits double up to the longest")
    func waits() {
        let backOff = BackOff(first: .seconds(1), longest: .seconds(5))
        #expect((0...5).map { backOff.pause(afterFailures: $0) } == [1, 1, 2, 4, 5, 5].map { .seconds($0) })
        let huge = BackOff(first: .seconds(9), longest: .seconds(1))
        #expect(huge.pause(afterFailures: .max) == .seconds(1))
    }

    @Test("while no bus answers, attempts go on with growing waits until the task is cancelled")
    func noBus() async throws {
        let clock = ManualClock()
        let (waits, waiting) = AsyncStream.makeStream(of: Duration.self)
        let bus = ReconnectingConnection(
            [Address(.path("/nonexistent/bus"))], options: .init(clock: clock),
            backOff: .init(first: .seconds(1), longest: .seconds(3)))
        let task = Task {
            try await bus.run(interrupted: { _, wait in waiting.yield(wait) }) { _ in }
        }
        var iterator = waits.makeAsyncIterator()
        for expected in [1, 2, 3, 3] {
            #expect(await iterator.next() == .seconds(expected))
            await clock.sleeper(for: .seconds(expected))
            clock.advance(by: .seconds(expected))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("a body that ends by itself ends it, with a result or an error")
    func bodyEnds() async throws {
        let listener = try UnixListener()
        let bus = ReconnectingConnection([listener.address])
        let first = Task { try await bus.run { $0.uniqueName } }
        let firstPeer = try await listener.accept()
        try await firstPeer.welcome()
        #expect(try await first.value == ":1.7")
        await firstPeer.waitForEnd()
        let second = Task { try await bus.run { _ in throw DBusError.timeout(of: "something of the body's") } }
        let secondPeer = try await listener.accept()
        try await secondPeer.welcome()
        await #expect(throws: DBusError.timeout(of: "something of the body's")) { try await second.value }
        await secondPeer.waitForEnd()
    }

    @Test("a connection that ends is opened again, and the body runs again")
    func reconnects() async throws {
        let listener = try UnixListener()
        let clock = ManualClock()
        let runs = Mutex(0)
        let reasons = Mutex<[DBusError]>([])
        let bus = ReconnectingConnection(
            [listener.address], options: .init(clock: clock), backOff: .init(first: .seconds(1), longest: .seconds(30)))
        let task = Task {
            try await bus.run(interrupted: { reason, _ in reasons.withLock { $0.append(reason) } }) { connection in
                let run = runs.withLock { runs in
                    runs += 1
                    return runs
                }
                if run == 3 { return run }
                try await waitForCancellation()
                return 0
            }
        }
        for attempt in 1...3 {
            let peer = try await listener.accept()
            try await peer.welcome()
            guard attempt < 3 else { break }
            peer.close()
            await clock.sleeper(for: .seconds(1))
            clock.advance(by: .seconds(1))
        }
        #expect(try await task.value == 3)
        #expect(
            reasons.withLock { $0 }
                == [DBusError](repeating: .connectionLost(reason: "the peer closed the connection"), count: 2))
    }
}
