import Foundation
import Geofences
import TestFixtures
import Testing

/// Metres east of a point at 40° N, and seconds.
struct Walk {
    static let metresPerDegree = 85_393.8

    static func fix(_ east: Double, at seconds: Double, accuracy: Double = 5, speed: Double? = nil) throws -> Fix {
        try Fix(
            Coordinate(latitude: 40, longitude: east / metresPerDegree), accuracy: accuracy,
            time: Date(timeIntervalSince1970: 1_800_000_000 + seconds), speed: speed)
    }

    static func circle(_ id: String = "a", east: Double = 0, radius: Double = 100) throws -> Geofence {
        try Geofence(
            id: id,
            .circle(Circle(center: Coordinate(latitude: 40, longitude: east / metresPerDegree), radius: radius)))
    }
}

@Suite("Monitoring")
struct MonitorTests {
    private struct Step {
        var east: Double
        var seconds: Double
        var accuracy = 5.0
        init(_ east: Double, _ seconds: Double, _ accuracy: Double = 5) {
            (self.east, self.seconds, self.accuracy) = (east, seconds, accuracy)
        }
    }

    private static func run(
        _ steps: [Step], configuration: GeofenceMonitor.Configuration = .init(), regions: [Geofence]? = nil
    ) throws -> [String] {
        var monitor = try GeofenceMonitor(regions ?? [Walk.circle()], configuration: configuration)
        return try steps.flatMap { step in
            monitor.receive(try Walk.fix(step.east, at: step.seconds, accuracy: step.accuracy)).events.map {
                "\($0.kind) \($0.region) at \(Int(step.seconds)) since \(Int($0.since.timeIntervalSince1970 - 1_800_000_000))"
            }
        }
    }

    @Test("a visit gives one enter, one dwell and one exit, each when it is sure, with the time of the crossing")
    func visit() throws {
        let way = (0...60).map { Step(300 - Double($0) * 10, Double($0) * 10) }
        let stay = (0...40).map { Step(0, 700 + Double($0) * 10) }
        let out = (0...60).map { Step(-Double($0) * 10, 1_110 + Double($0) * 10) }
        #expect(
            try Self.run([Step(300, -1)] + way.prefix(31) + stay + out) == [
                "enter a at 230 since 210", "dwell a at 700 since 210", "exit a at 1260 since 1240",
            ])
    }

    @Test("being inside at the start is no crossing; dwelling and leaving are")
    func startsInside() throws {
        let steps = [Step(0, 0), Step(0, 20), Step(0, 300), Step(0, 310), Step(500, 330), Step(500, 350)]
        #expect(try Self.run(steps) == ["dwell a at 300 since 0", "exit a at 350 since 330"])
    }

    @Test("F083: a first position that is too vague to tell leaves open where the user is, and gives no enter event")
    func startsVaguely() throws {
        #expect(try Self.run([Step(0, 0, 2_000), Step(0, 10), Step(0, 40)]) == [])
        #expect(try Self.run([Step(0, 0), Step(0, 5, 300), Step(0, 10), Step(0, 40)]) == [])
        // Outside by more than the accuracy, the next visit is a crossing; also after a visit that was not finished.
        let entered = ["enter a at 40 since 10"]
        #expect(try Self.run([Step(300, 0, 150), Step(0, 10), Step(0, 40)]) == entered)
        #expect(try Self.run([Step(0, 0), Step(300, 5), Step(0, 10), Step(0, 40)]) == entered)
        // Also over a restart, and of two regions only the one whose edge is near is open.
        let regions = [try Walk.circle(), try Walk.circle("b", east: 3_000)]
        var monitor = try GeofenceMonitor(regions)
        _ = monitor.receive(try Walk.fix(0, at: 0, accuracy: 2_000))
        monitor = try GeofenceMonitor(regions, restoring: monitor.state)
        var events: [GeofenceEvent] = []
        for (east, seconds) in [(0.0, 10.0), (0, 40), (3_000, 100), (3_000, 130)] {
            events += monitor.receive(try Walk.fix(east, at: seconds)).events
        }
        #expect(events.map { "\($0.kind) \($0.region)" } == ["exit a", "enter b"])
    }

    @Test("noise around the edge gives nothing, and one visit gives one exit")
    func noise() throws {
        var configuration = GeofenceMonitor.Configuration()
        configuration.dwellTime = .infinity
        var random = SplitMix64(seed: 9)
        let edge = (0..<3_600).map { Step(100 + Double.random(in: -25...19, using: &random), Double($0), 20) }
        #expect(try Self.run([Step(200, -10)] + edge, configuration: configuration) == [])
        let inside = [Step(200, -100), Step(0, -50), Step(0, -29)]
        #expect(try Self.run(inside + edge, configuration: configuration) == ["enter a at -29 since -50"])
        let out = [Step(200, 4_000), Step(200, 4_010), Step(200, 4_021)]
        #expect(
            try Self.run(inside + edge + out, configuration: configuration) == [
                "enter a at -29 since -50", "exit a at 4021 since 4000",
            ])
    }

    @Test("a fix that might lie outside neither enters nor leaves")
    func accuracy() throws {
        let wide = (0..<100).map { Step(0, Double($0), 10_000) }
        #expect(try Self.run([Step(300, -10)] + wide) == [])
        let visit = [Step(300, -100), Step(0, -60), Step(0, -40)]
        #expect(try Self.run(visit + wide.map { Step(5_000, $0.seconds, 10_000) }) == ["enter a at -40 since -60"])
        #expect(try Self.run([Step(300, -10, 0), Step(99, 0, 0), Step(99, 20, 0)]) == ["enter a at 20 since 0"])
    }

    @Test("a visit shorter than the settling time is none")
    func settling() throws {
        #expect(try Self.run([Step(300, 0), Step(0, 10), Step(0, 29), Step(300, 31), Step(0, 40), Step(0, 59)]) == [])
        var immediate = GeofenceMonitor.Configuration()
        immediate.settleTime = 0
        #expect(try Self.run([Step(300, 0), Step(0, 10)], configuration: immediate) == ["enter a at 10 since 10"])
    }

    @Test("leaving by less than a tenth of the radius is none")
    func hysteresis() throws {
        let region = [try Walk.circle(radius: 1_000)]
        let visit = [Step(3_000, 0), Step(0, 100), Step(0, 120)]
        let near = (0..<100).map { Step(1_104, 200 + Double($0)) }
        #expect(try Self.run(visit + near, regions: region) == ["enter a at 120 since 100"])
        let far = (0..<21).map { Step(1_106, 200 + Double($0)) }
        #expect(try Self.run(visit + far, regions: region).last == "exit a at 220 since 200")
    }

    @Test("fixes that are stale, of the future, doubled or out of order do not count")
    func times() throws {
        var monitor = try GeofenceMonitor([Walk.circle()])
        let now = Date(timeIntervalSince1970: 1_800_000_100)
        #expect(monitor.receive(try Walk.fix(0, at: 39), now: now) == .ignored(.stale))
        #expect(monitor.receive(try Walk.fix(0, at: 161), now: now) == .ignored(.future))
        #expect(monitor.receive(try Walk.fix(0, at: 100), now: now) == .accepted([]))
        #expect(monitor.receive(try Walk.fix(0, at: 100), now: now) == .ignored(.outOfOrder))
        #expect(monitor.receive(try Walk.fix(0, at: 99), now: now) == .ignored(.outOfOrder))
    }

    @Test("a clock that was set back costs two fixes, not every fix from then on")
    func clockSetBack() throws {
        var monitor = try GeofenceMonitor([Walk.circle()])
        _ = monitor.receive(try Walk.fix(300, at: 0))
        let back = -86_400.0
        let outcomes = try (0..<30).map { monitor.receive(try Walk.fix(0, at: back + Double($0))) }
        #expect(outcomes.prefix(3) == [.ignored(.outOfOrder), .ignored(.outOfOrder), .accepted([])])
        #expect(outcomes.flatMap(\.events).map(\.kind) == [.enter])
        #expect(outcomes[22].events.map(\.kind) == [.enter])
    }

    @Test("an outlier far away gives nothing; a jump that is confirmed counts")
    func teleports() throws {
        var monitor = try GeofenceMonitor([Walk.circle()])
        for second in 0..<40 { _ = monitor.receive(try Walk.fix(0, at: Double(second))) }
        #expect(monitor.receive(try Walk.fix(900_000, at: 40)) == .ignored(.teleport))
        #expect(monitor.receive(try Walk.fix(0, at: 41)) == .accepted([]))
        #expect(monitor.inside.map(\.id) == ["a"])
        let jump = try (0..<30).map { monitor.receive(try Walk.fix(900_000, at: 42 + Double($0))) }
        #expect(jump.first == .ignored(.teleport))
        #expect(jump.flatMap(\.events).map(\.kind) == [.exit])
        #expect(monitor.inside.isEmpty)
    }

    @Test("a fix that tells its speed may be far away")
    func speed() throws {
        var monitor = try GeofenceMonitor([Walk.circle()])
        _ = monitor.receive(try Walk.fix(0, at: 0, speed: 600))
        #expect(monitor.receive(try Walk.fix(5_000, at: 10, speed: 600)) == .accepted([]))
        #expect(monitor.receive(try Walk.fix(10_000, at: 20)) == .accepted([]))
        #expect(monitor.receive(try Walk.fix(15_000, at: 30)) == .ignored(.teleport))
    }

    @Test("a pause of hours is no dwelling, and settling starts again behind it")
    func gap() throws {
        let steps = [Step(300, 0), Step(0, 10), Step(0, 10_000), Step(0, 10_019), Step(0, 10_020)]
        #expect(try Self.run(steps) == ["enter a at 10020 since 10000"])
        let dwelling = [Step(300, 0), Step(0, 10), Step(0, 40), Step(0, 10_000), Step(0, 10_299), Step(0, 10_300)]
        #expect(try Self.run(dwelling) == ["enter a at 40 since 10", "dwell a at 10300 since 10000"])
        let sparse = [Step(300, 0), Step(0, 300), Step(0, 600), Step(300, 900), Step(300, 1_200)]
        #expect(try Self.run(sparse) == ["enter a at 600 since 300", "exit a at 1200 since 900"])
    }

    @Test("a source that falls silent lets what only waits for time come true, while its last fix is not stale")
    func silence() throws {
        var monitor = try GeofenceMonitor([Walk.circle()])
        _ = monitor.receive(try Walk.fix(300, at: 0))
        let fix = try Walk.fix(0, at: 10)
        _ = monitor.receive(fix)
        #expect(monitor.advance(to: fix.time.addingTimeInterval(19)).isEmpty)
        #expect(monitor.advance(to: fix.time.addingTimeInterval(61)).isEmpty)
        #expect(monitor.advance(to: fix.time.addingTimeInterval(20)).map(\.kind) == [.enter])
        #expect(monitor.advance(to: fix.time.addingTimeInterval(21)).isEmpty)
    }

    @Test("a restart neither repeats nor loses an event", arguments: 0..<120)
    func restart(moment: Int) throws {
        let steps = (0..<120).map { Step($0 < 20 ? 300 : $0 < 70 ? 0 : 300, Double($0)) }
        let region = try Walk.circle()
        var monitor = try GeofenceMonitor([region])
        var events: [GeofenceEvent] = []
        for (number, step) in steps.enumerated() {
            if number == moment {
                let saved = try JSONEncoder().encode(monitor.state)
                monitor = try GeofenceMonitor(
                    [region], restoring: try JSONDecoder().decode(GeofenceMonitor.State.self, from: saved))
            }
            events += monitor.receive(try Walk.fix(step.east, at: step.seconds)).events
        }
        #expect(events.map(\.kind) == [.enter, .exit])
        #expect(events.map(\.since.timeIntervalSince1970) == [1_800_000_020, 1_800_000_070])
    }

    @Test("F083: a region that moved begins undetermined; one that stayed is neither entered again nor forgotten")
    func replaced() throws {
        var monitor = try GeofenceMonitor([Walk.circle("stays"), Walk.circle("moves"), Walk.circle("goes")])
        for second in 0..<30 { _ = monitor.receive(try Walk.fix(second < 2 ? 300 : 0, at: Double(second))) }
        #expect(monitor.inside.map(\.id) == ["stays", "moves", "goes"])
        try monitor.replaceRegions([
            Walk.circle("new"), Walk.circle("moves", east: 1_000), Walk.circle("stays"),
        ])
        #expect(monitor.inside.map(\.id) == ["stays"])
        var events: [GeofenceEvent] = []
        for second in 30..<60 { events += monitor.receive(try Walk.fix(0, at: Double(second))).events }
        #expect(events.isEmpty)
        #expect(monitor.inside.map(\.id) == ["new", "stays"])
        for second in 60..<90 { events += monitor.receive(try Walk.fix(1_000, at: Double(second))).events }
        #expect(events.map { "\($0.kind) \($0.region)" } == ["exit new", "enter moves", "exit stays"])
    }

    @Test("two regions with one identifier are refused, and the monitor stays as it was")
    func duplicates() throws {
        var monitor = try GeofenceMonitor([Walk.circle()])
        let twice = [try Walk.circle("b"), try Walk.circle("b")]
        #expect(throws: GeofencesError.duplicateIdentifier("b")) { try monitor.replaceRegions(twice) }
        #expect(throws: GeofencesError.duplicateIdentifier("b")) { try GeofenceMonitor(twice) }
        #expect(monitor.index.geofences.map(\.id) == ["a"])
    }

    @Test("a fix with a senseless accuracy or time is refused, and a senseless speed is unknown")
    func fixes() throws {
        let place = try Coordinate(latitude: 0, longitude: 0)
        let time = Date(timeIntervalSince1970: 0)
        for accuracy in [-1, .nan, .infinity] {
            let error = #expect(throws: GeofencesError.self) { try Fix(place, accuracy: accuracy, time: time) }
            #expect(error?.code == "invalid_accuracy")
        }
        for seconds in [Double.nan, .infinity, -1e12, 1e12] {
            #expect(throws: GeofencesError.time) {
                try Fix(place, accuracy: 1, time: Date(timeIntervalSince1970: seconds))
            }
        }
        #expect(try Fix(place, accuracy: 1, time: time, speed: -1).speed == nil)
        #expect(try Fix(place, accuracy: 1, time: time, speed: .nan).speed == nil)
    }
}
