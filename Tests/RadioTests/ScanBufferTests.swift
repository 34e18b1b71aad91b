import AsyncSupport
import Beacons
import Testing

@testable import Radio

@Suite("Between a radio and a slow reader")
struct ScanBufferTests {
    private func packet(_ number: Int) throws -> ScanEvent {
        .advertisement(
            try Packets.advertisement(Packets.iBeacon, at: Air.now.advanced(by: .seconds(number))))
    }

    @Test("the oldest advertisements are dropped, and no status is")
    func overflow() async throws {
        let buffer = ScanBuffer(capacity: 3)
        buffer.offer(.status(.listening(.monitor)))
        for number in 1...10 { buffer.offer(try packet(number)) }
        buffer.offer(.status(.unavailable(.noBlueZ)))
        buffer.finish(.success(()))
        var events: [ScanEvent] = []
        while let event = try await buffer.next() { events.append(event) }
        let kept = try (8...10).map { try packet($0) }
        #expect(events == [.status(.listening(.monitor))] + kept + [.status(.unavailable(.noBlueZ))])
    }

    @Test("everything comes in order when the reader keeps up, however much it is")
    func order() async throws {
        let buffer = ScanBuffer(capacity: 100)
        for number in 0..<1_000 {
            buffer.offer(try packet(number))
            if number >= 50 { #expect(try await buffer.next() == (try packet(number - 50))) }
        }
    }

    @Test("what was heard before an error is read before it")
    func error() async throws {
        let buffer = ScanBuffer()
        buffer.offer(try packet(1))
        buffer.finish(.failure(RadioError.noBlueZ))
        #expect(try await buffer.next() == (try packet(1)))
        await #expect(throws: RadioError.noBlueZ) { try await buffer.next() }
    }

    @Test("a scan that is not iterated does not start the radio")
    func lazy() async throws {
        let scan = Scan(feeding: { _ in Issue.record("started") })
        _ = scan.makeAsyncIterator()
        await Task.yield()
    }

    @Test("each iteration listens by itself, and its end stops its radio")
    func iterations() async throws {
        let (ends, announce) = AsyncStream.makeStream(of: Void.self)
        let scan = Scan(feeding: { buffer in
            buffer.offer(.status(.listening(.monitor)))
            do { try await suspendUntilCancelled() } catch { announce.yield() }
        })
        for _ in 1...2 {
            var iterator: Scan.AsyncIterator? = scan.makeAsyncIterator()
            #expect(try await iterator?.next() == .status(.listening(.monitor)))
            iterator = nil
            for await _ in ends { break }
        }
    }

    @Test("only the advertisements can be taken, and the rest is told of in its turn")
    func advertisements() async throws {
        let scan = Scan(feeding: { buffer in
            buffer.offer(.status(.listening(.monitor)))
            buffer.offer(try self.packet(1))
        })
        let (others, announce) = AsyncStream.makeStream(of: ScanEvent.self)
        var heard: [Advertisement] = []
        for try await packet in scan.advertisements(other: { announce.yield($0) }) { heard.append(packet) }
        announce.finish()
        #expect(heard.map(ScanEvent.advertisement) == [try packet(1)])
        #expect(await others.reduce(into: []) { $0.append($1) } == [.status(.listening(.monitor))])
    }
}
