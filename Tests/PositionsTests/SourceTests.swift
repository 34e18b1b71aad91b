import Foundation
import Geofences
import Positions
import TestFixtures
import Testing

@Suite("Sources and permissions", .heavy)
struct SourceTests {
    private static func fix(_ seconds: Double) throws -> Fix {
        try Fix(
            Coordinate(latitude: 0, longitude: 0), accuracy: 1, time: Date(timeIntervalSince1970: 1_000_000 + seconds))
    }

    @Test("F097: a fix that the app reports reaches every reader, in order")
    func feed() async throws {
        let feed = PositionFeed()
        let (first, second) = (feed.updates(), feed.updates())
        let fixes = try (0..<5).map { try Self.fix(Double($0)) }
        for fix in fixes { feed.report(fix) }
        feed.finish()
        for stream in [first, second] {
            var read: [PositionUpdate] = []
            for try await update in stream { read.append(update) }
            #expect(read == fixes.map { .fix($0) })
        }
    }

    @Test("a feed holds the newest fixes for a slow reader, not all")
    func bounded() async throws {
        let feed = PositionFeed()
        let stream = feed.updates()
        for second in 0..<10_000 { feed.report(try Self.fix(Double(second))) }
        feed.finish()
        var read: [PositionUpdate] = []
        for try await update in stream { read.append(update) }
        #expect(read.count == 256)
        #expect(try read.last == .fix(Self.fix(9_999)))
    }

    @Test("a replay takes the track's own time, or a part of it, or none")
    func replay() async throws {
        let fixes = try [0, 10, 30, 30, 20, 100_000].map { try Self.fix($0) }
        func pauses(_ speed: TrackReplay.Speed) async throws -> [Duration] {
            let clock = HurriedClock()
            var read: [Fix] = []
            for try await fix in TrackReplay(fixes, speed: speed, clock: clock).fixes() { read.append(fix) }
            #expect(read == fixes)
            return clock.pauses
        }
        #expect(try await pauses(.times(1)) == [.seconds(10), .seconds(20), .seconds(3_600)])
        #expect(try await pauses(.times(10)) == [.seconds(1), .seconds(2), .seconds(360)])
        #expect(try await pauses(.maximum) == [])
    }

    @Test("a cancelled replay ends")
    func cancelled() async throws {
        let fixes = try (0..<100).map { try Self.fix(Double($0) * 3_000) }
        let task = Task {
            var count = 0
            for try await _ in TrackReplay(fixes).fixes() { count += 1 }
            return count
        }
        task.cancel()
        #expect(try await task.value < fixes.count)
    }

    @Test("F085, F096, W23: the permission is asked for when an area needs it, upgraded, and missing ones are shown")
    func permissions() {
        let expected: [(LocationPermission, Bool, Bool, LocationPermission.Step)] = [
            (.notDetermined, false, false, .wait), (.whenInUse, false, false, .wait), (.denied, false, false, .wait),
            (.always, false, false, .none), (.notDetermined, true, false, .explainAndRequestWhenInUse),
            (.whenInUse, true, false, .explainAndRequestAlways), (.whenInUse, true, true, .openSettings),
            (.denied, true, false, .openSettings), (.restricted, true, false, .explainRestriction),
            (.always, true, true, .none),
        ]
        for (permission, needsRegions, hasRequested, step) in expected {
            #expect(permission.nextStep(needsRegions: needsRegions, hasRequestedAlways: hasRequested) == step)
        }
        #expect(LocationPermission.allCases.filter(\.canMonitorRegions) == [.always])
        #expect(LocationPermission.allCases.filter(\.canReadPosition) == [.whenInUse, .always])
    }
}
