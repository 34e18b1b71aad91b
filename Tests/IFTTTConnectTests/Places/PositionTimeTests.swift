import Foundation
import Geofences
import Handshake
import Synchronization
import TestFixtures
import Testing

@testable import IFTTTConnect

/// Positions that come late, never, or from the future.
@Suite("Places: time")
struct PositionTimeTests {
    private let bench = PlacesBench([
        "GET \(PlacesBench.path)": [.json(PlacesBench.connection(["LOCATION_ENTER_OR_EXIT"]))]
    ])

    private func moment(_ seconds: Double) -> Date { Date(timeIntervalSince1970: PlacesBench.now + seconds) }

    private func fix(_ latitude: Double, _ seconds: Double) throws -> Fix {
        try Fix(Coordinate(latitude: latitude, longitude: 13.4), accuracy: 5, time: moment(seconds))
    }

    private func synchronizer() async throws -> PlacesSynchronizer {
        let synchronizer = try bench.synchronizer()
        try await synchronizer.activate([ConnectionID(Balcony.id)])
        return synchronizer
    }

    @Test("F086, F097: who arrives and stands still enters, though no position comes any more, also after a restart")
    func silence() async throws {
        var synchronizer = try await synchronizer()
        try await synchronizer.receive(fix(52.53, 0), now: moment(0))
        try await synchronizer.receive(fix(52.52, 10), now: moment(10))
        for second in 11..<30 {
            #expect(try await synchronizer.advance(to: moment(Double(second))).events.isEmpty)
        }
        synchronizer = try bench.synchronizer()
        let (events, crossings) = try await synchronizer.advance(to: moment(30))
        #expect(events.map(\.kind) == [.enter])
        #expect(crossings.map(\.occurredAt) == [PlacesBench.now + 10])
        #expect(try await synchronizer.advance(to: moment(31)).crossings.isEmpty)
        #expect(try await bench.synchronizer().waiting() == crossings)
    }

    @Test("a recording's positions with a time in the future are ignored, and hold up none that come later")
    func future() async throws {
        let synchronizer = try await synchronizer()
        for year in [9_999.0, 2_100] {
            let seconds = (year - 2_025) * 31_556_952
            #expect(try await synchronizer.receive(fix(52.52, seconds), now: nil).outcome == .ignored(.future))
        }
        for (number, latitude) in [52.53, 52.52, 52.52, 52.52].enumerated() {
            try await synchronizer.receive(fix(latitude, Double(number) * 15 - 60), now: nil)
        }
        #expect(try await synchronizer.waiting().map(\.kind) == [.enter])
    }

    @Test("a position of the future that an earlier version took holds up nothing after a restart")
    func futureRecord() async throws {
        let synchronizer = try await synchronizer()
        var monitor = try GeofenceMonitor(try await synchronizer.regions)
        _ = monitor.receive(try fix(52.53, 1e9))
        let store = await synchronizer.store
        #expect(try await store.save(.init(state: monitor.state), of: store.connections().owner))
        let other = try bench.synchronizer()
        let latitudes = [52.53, 52.53, 52.53, 52.52, 52.52, 52.52]
        for (number, latitude) in latitudes.enumerated() {
            try await other.receive(fix(latitude, Double(number) * 15 - 90), now: nil)
        }
        #expect(try await other.waiting().map(\.kind) == [.enter])
    }

    @Test("F083: where the user was is known to every process: the areas that hold him, and the last position")
    func whereabouts() async throws {
        let synchronizer = try await synchronizer()
        let last = try fix(52.52, 40)
        for fix in [try fix(52.53, 0), try fix(52.52, 15), last] { try await synchronizer.receive(fix, now: nil) }
        #expect(try await bench.synchronizer().whereabouts == .init(lastFix: last, inside: ["ifttt_a0"]))
    }

    @Test("one synchronization runs at a time, whichever of two that wait for its end goes on first")
    func oneAtATime() async throws {
        let counts = Mutex((running: 0, most: 0))
        let synchronizer = try bench.synchronizer { $0.retry = .none }
        try await synchronizer.activate([ConnectionID(Balcony.id)])
        bench.ifttt.answer(
            "GET \(PlacesBench.path)",
            .late(
                503,
                after: {
                    counts.withLock { $0 = ($0.running + 1, max($0.most, $0.running + 1)) }
                    for _ in 0..<10 { await Task.yield() }
                    counts.withLock { $0.running -= 1 }
                }))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    for _ in 0..<number { await Task.yield() }
                    await synchronizer.synchronize()
                }
            }
        }
        #expect(counts.withLock(\.most) == 1)
    }
}
