import Foundation
import Geofences
import TestFixtures
import Testing

/// The reference knows no index and no state: it looks at every region at every metre of the whole track, and finds events
/// by their definition.
private struct Reference {
    let regions: [Geofence]
    let fixes: [Fix]
    let configuration = GeofenceMonitor.Configuration()

    func events() -> [String] {
        var events: [(Int, Int, String)] = []
        for (place, region) in regions.enumerated() {
            let distances = fixes.map { region.distanceToEdge(from: $0.coordinate) }
            let holds = zip(distances, fixes).map { $0 + $1.accuracy < 0 }
            let margin =
                if case .circle(let circle) = region.shape { max(20, 0.1 * circle.radius) } else { 20.0 }
            let away = zip(distances, fixes).map { $0 - $1.accuracy > margin }
            var from = 0
            while let enter = confirmed(holds, from: from) {
                let isSilent = enter.since == 0
                if !isSilent { events.append((enter.at, place, line("enter", region, enter, distances))) }
                let exit = confirmed(away, from: enter.at + 1)
                let dwell = (enter.at..<(exit?.at ?? fixes.count)).first { moment in
                    moment > enter.at && holds[moment] && !leavingFrom(away, enter.at, moment)
                        && seconds(enter.since, moment) >= configuration.dwellTime
                }
                if let dwell { events.append((dwell, place, line("dwell", region, (enter.since, dwell), distances))) }
                guard let exit else { break }
                events.append((exit.at, place, line("exit", region, exit, distances)))
                from = exit.at + 1
            }
        }
        return events.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }

    private func leavingFrom(_ away: [Bool], _ start: Int, _ moment: Int) -> Bool { away[moment] }

    private func seconds(_ start: Int, _ end: Int) -> Double { fixes[end].time.timeIntervalSince(fixes[start].time) }

    /// The first moment at which a condition has held for the settling time, and since when.
    private func confirmed(_ condition: [Bool], from: Int) -> (since: Int, at: Int)? {
        var since: Int?
        for moment in from..<max(from, condition.count) {
            guard condition[moment] else {
                since = nil
                continue
            }
            let start = since ?? moment
            since = start
            if seconds(start, moment) >= configuration.settleTime { return (start, moment) }
        }
        return nil
    }

    private func line(_ kind: String, _ region: Geofence, _ moment: (since: Int, at: Int), _ distances: [Double])
        -> String
    {
        let since = Int(fixes[moment.since].time.timeIntervalSince1970)
        return
            "\(kind) \(region.id) \(Int(fixes[moment.at].time.timeIntervalSince1970)) \(since) \(distances[moment.at])"
    }
}

@Suite("Random walks", .heavy)
struct RandomWalkTests {
    /// A walk of a metre a second through a crowd of circles and polygons.
    private static func walk(_ seed: Int) throws -> (regions: [Geofence], fixes: [Fix]) {
        var random = SplitMix64(seed: UInt64(seed) &* 7_919 &+ 1)
        let places: [(Double, Double)] = [
            (0, 0), (40.7, -74), (64, 179.999), (-17, -180), (89.9995, 30), (-89.9995, 7),
        ]
        let (latitude, longitude) = places[seed % places.count]
        let north = 1 / 111_200.0
        let east = north / max(cos(latitude * .pi / 180), 1e-5)
        func at(_ x: Double, _ y: Double) throws -> Coordinate {
            try Coordinate(
                latitude: min(max(latitude + y * north, -90), 90),
                longitude: (longitude + x * east).remainder(dividingBy: 360))
        }
        let regions = try (0..<5).map { number in
            let x = Double.random(in: -150...150, using: &random)
            let y = Double.random(in: -150...150, using: &random)
            let radius = Double.random(in: 20...120, using: &random)
            if number % 3 == 0, latitude.magnitude < 80 {
                let corners = try [0.0, 0.2, 0.45, 0.7].map { turn in
                    let (dx, dy) = direction(turn)
                    return try at(x + radius * dx, y + radius * dy)
                }
                return try Geofence(id: "\(number)", .polygon(Polygon(rings: [corners])))
            }
            return try Geofence(id: "\(number)", .circle(Circle(center: at(x, y), radius: radius)))
        }
        var x = 0.0
        var y = 0.0
        var heading = 0.0
        let fixes = try (0..<400).map { second in
            if second % 40 == 0 { heading += Double.random(in: -0.2...0.2, using: &random) }
            let (dx, dy) = direction(heading)
            (x, y) = (x + dx, y + dy)
            if max(x.magnitude, y.magnitude) > 200 { heading += 0.5 }
            let noise = { Double.random(in: -3...3, using: &random) }
            return try Fix(
                at(x + noise(), y + noise()), accuracy: Double.random(in: 0...15, using: &random),
                time: Date(timeIntervalSince1970: 1_700_000_000 + Double(second)))
        }
        return (regions, fixes)
    }

    @Test("1,000 walks give the events that a look at every region at every metre gives", arguments: 0..<10)
    func agrees(group: Int) throws {
        var count = 0
        for seed in group * 100..<group * 100 + 100 {
            let (regions, fixes) = try Self.walk(seed)
            var monitor = try GeofenceMonitor(regions)
            let events = fixes.flatMap { monitor.receive($0).events }.map {
                "\($0.kind) \($0.region) \(Int($0.fix.time.timeIntervalSince1970)) "
                    + "\(Int($0.since.timeIntervalSince1970)) \($0.distanceToEdge)"
            }
            #expect(events == Reference(regions: regions, fixes: fixes).events(), "walk \(seed)")
            count += events.count
        }
        #expect(count > 100)
    }
}
