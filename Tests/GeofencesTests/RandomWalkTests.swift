import Foundation
import Geofences
import TestFixtures
import Testing

/// The reference knows no index and no state: it looks at every region at every position of the whole track, and finds events
/// by their definition.
private struct Reference {
    let regions: [Geofence]
    /// The fixes that count.
    private let fixes: [Fix]
    /// Whether a fix says nothing of the time since the one before: after a gap, and after the clock was set back.
    private let isBreak: [Bool]
    private let configuration = GeofenceMonitor.Configuration()

    init(regions: [Geofence], track: Track) {
        self.regions = regions
        var fixes: [Fix] = []
        var isBreak: [Bool] = []
        for stretch in track.stretches {
            // A fix counts that is later than all before it. Of those after a clock that was set back the third confirms that.
            var ordered: [Fix] = []
            for fix in stretch where !track.outliers.contains(fix) && fix.time > ordered.last?.time ?? .distantPast {
                ordered.append(fix)
            }
            if !fixes.isEmpty { ordered.removeFirst(2) }
            for fix in ordered {
                let pause = fixes.last.map { fix.time.timeIntervalSince($0.time) } ?? 0
                isBreak.append(pause < 0 || pause > configuration.maximumGap)
                fixes.append(fix)
            }
        }
        self.fixes = fixes
        self.isBreak = isBreak
    }

    func events() -> [String] {
        var events: [(Int, Int, String)] = []
        for (place, region) in regions.enumerated() {
            let distances = fixes.map { region.distanceToEdge(from: $0.coordinate) }
            let holds = zip(distances, fixes).map { $0 + $1.accuracy < 0 }
            let margin =
                if case .circle(let circle) = region.shape { max(20, 0.1 * circle.radius) } else { 20.0 }
            let away = zip(distances, fixes).map { $0 - $1.accuracy > margin }
            // Before the first fix that is certainly outside, an entry would only say where the user was.
            let outside = fixes.indices.first { distances[$0] > fixes[$0].accuracy } ?? fixes.count
            var from = 0
            while let enter = confirmed(holds, from: from) {
                if outside < enter.since {
                    events.append((enter.at, place, line("enter", region, enter, distances)))
                }
                let exit = confirmed(away, from: enter.at + 1)
                let dwell = (enter.at..<(exit?.at ?? fixes.count)).first { moment in
                    moment > enter.at && holds[moment] && !away[moment]
                        && seconds(dwelling(from: enter.since, to: moment), moment) >= configuration.dwellTime
                }
                if let dwell {
                    let span = (since: dwelling(from: enter.since, to: dwell), at: dwell)
                    events.append((dwell, place, line("dwell", region, span, distances)))
                }
                guard let exit else { break }
                events.append((exit.at, place, line("exit", region, exit, distances)))
                from = exit.at + 1
            }
        }
        return events.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }

    /// Since when a stay counts: a break begins it again.
    private func dwelling(from since: Int, to moment: Int) -> Int {
        isBreak[...moment].lastIndex(of: true).map { max($0, since) } ?? since
    }

    private func seconds(_ start: Int, _ end: Int) -> Double { fixes[end].time.timeIntervalSince(fixes[start].time) }

    /// The first moment at which a condition has held for the settling time without a break, and since when.
    private func confirmed(_ condition: [Bool], from: Int) -> (since: Int, at: Int)? {
        var since: Int?
        for moment in from..<max(from, condition.count) {
            if isBreak[moment] { since = nil }
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

/// A walk as it is delivered.
private struct Track {
    /// Each begins with a clock that was set back.
    var stretches: [[Fix]]
    /// Positions that no walker can reach.
    var outliers: Set<Fix> = []

    var fixes: [Fix] { stretches.flatMap(\.self) }
}

/// What happens to the fixes of a walk on their way.
enum Trouble: CaseIterable {
    case none, dropped, gaps, shuffled, doubled, outliers, clockSetBack, all
}

@Suite("Random walks", .heavy)
struct RandomWalkTests {
    private static let start = 1_700_000_000.0

    /// A walk through a crowd of circles and polygons.
    private struct Walk {
        let regions: [Geofence]
        let fixes: [Fix]

        /// - Parameters:
        ///   - count: how many regions there are.
        ///   - reach: how far from the middle they and the walker get, in metres.
        ///   - speed: metres from each of the 400 fixes to the next.
        init(count: Int, reach: Double, speed: Double, _ seed: Int, _ random: inout SplitMix64) throws {
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
            regions = try (0..<count).map { number in
                let x = Double.random(in: -reach * 0.75...reach * 0.75, using: &random)
                let y = Double.random(in: -reach * 0.75...reach * 0.75, using: &random)
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
            fixes = try (0..<400).map { second in
                if second % 40 == 0 { heading += Double.random(in: -0.2...0.2, using: &random) }
                let (dx, dy) = direction(heading)
                (x, y) = (x + speed * dx, y + speed * dy)
                if max(x.magnitude, y.magnitude) > reach { heading += 0.5 }
                let noise = (Double.random(in: -3...3, using: &random), Double.random(in: -3...3, using: &random))
                return try Fix(
                    at(x + noise.0, y + noise.1), accuracy: Double.random(in: 0...15, using: &random),
                    time: Date(timeIntervalSince1970: start + Double(second)))
            }
        }

        /// The fixes as they arrive.
        func track(_ trouble: Trouble, _ random: inout SplitMix64) throws -> Track {
            var fixes = fixes
            func has(_ other: Trouble) -> Bool { trouble == other || trouble == .all }
            if has(.gaps) {
                // Longer ones than settling and dwelling bear, and shorter ones; the first before a visit can have settled.
                for (pause, places) in [(601.0, 5..<18), (900, 20..<395), (250, 20..<395), (3_600, 20..<395)] {
                    let place = Int.random(in: places, using: &random)
                    for index in place..<fixes.count { fixes[index] = try fixes[index].delayed(by: pause) }
                }
            }
            if has(.dropped) { fixes = fixes.filter { _ in Double.random(in: 0..<1, using: &random) > 0.4 } }
            var stretches = [fixes]
            if has(.clockSetBack) {
                let place = Int.random(in: 20..<fixes.count - 20, using: &random)
                let back = try fixes[place...].map { try $0.delayed(by: -50_000) }
                stretches = [Array(fixes[..<place]), back]
            }
            var outliers: Set<Fix> = []
            for index in stretches.indices {
                if has(.outliers) {
                    // Not in the beginning, which nothing but the next fixes judges.
                    for place in [60, 30, 10] where stretches[index].count > place {
                        let fix = stretches[index][place]
                        let outlier = try Fix(
                            Coordinate(latitude: fix.coordinate.latitude > 45 ? 10 : 60, longitude: 20),
                            accuracy: 5, time: fix.time.addingTimeInterval(0.5))
                        outliers.insert(outlier)
                        stretches[index].insert(outlier, at: place + 1)
                    }
                }
                if has(.doubled) {
                    for place in [50, 20, 7] where stretches[index].count > place {
                        stretches[index].insert(stretches[index][place], at: place + 1)
                    }
                }
                // Three in disorder are late ones; with more behind the latest, the clock could as well have been set back.
                if has(.shuffled) {
                    for first in stride(from: 6, to: stretches[index].count - 2, by: 3) {
                        stretches[index][first..<first + 3].shuffle(using: &random)
                    }
                }
            }
            return Track(stretches: stretches, outliers: outliers)
        }
    }

    private static func found(_ walk: Walk, _ track: Track) throws -> [String] {
        var monitor = try GeofenceMonitor(walk.regions)
        return track.fixes.flatMap { monitor.receive($0).events }.map {
            "\($0.kind) \($0.region) \(Int($0.fix.time.timeIntervalSince1970)) "
                + "\(Int($0.since.timeIntervalSince1970)) \($0.distanceToEdge)"
        }
    }

    @Test("1,000 walks give the events that a look at every region at every metre gives", arguments: 0..<10)
    func agrees(group: Int) throws {
        var count = 0
        for seed in group * 100..<group * 100 + 100 {
            var random = SplitMix64(seed: UInt64(seed) &* 7_919 &+ 1)
            let walk = try Walk(count: 5, reach: 200, speed: 1, seed, &random)
            // Every other one as it was measured.
            let trouble = seed % 2 == 0 ? Trouble.none : Trouble.allCases[seed / 2 % Trouble.allCases.count]
            let track = try walk.track(trouble, &random)
            let events = try Self.found(walk, track)
            #expect(events == Reference(regions: walk.regions, track: track).events(), "walk \(seed), \(trouble)")
            count += events.count
        }
        #expect(count > 100)
    }

    @Test("so do walks through 200 regions, on several levels of the index", arguments: Trouble.allCases)
    func agreesInCrowd(trouble: Trouble) throws {
        let seed = Trouble.allCases.firstIndex(of: trouble) ?? 0
        var random = SplitMix64(seed: UInt64(seed) &* 104_729 &+ 5)
        let walk = try Walk(count: 200, reach: 600, speed: 3, seed, &random)
        let track = try walk.track(trouble, &random)
        let events = try Self.found(walk, track)
        #expect(events == Reference(regions: walk.regions, track: track).events())
        #expect(events.count > 10)
    }
}

extension Fix {
    fileprivate func delayed(by seconds: Double) throws -> Fix {
        try Fix(coordinate, accuracy: accuracy, time: time.addingTimeInterval(seconds), speed: speed)
    }
}
