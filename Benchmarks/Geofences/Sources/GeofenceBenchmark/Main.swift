import Foundation
import Geofences

/// Measures the index and the monitor, each figure with what it has to reach.
///
/// `geofence-benchmark [DATA]` writes the regions and positions to a file of that name, for `strangers.py`.
@main
struct Main {
    static func main() throws {
        var world = World(state: 12)
        let regions = try world.regions(1_000_000)
        let positions = try world.positions(20_000, near: regions)
        if CommandLine.arguments.count > 1 { try World.write(regions, positions, to: CommandLine.arguments[1]) }
        let some = Array(regions.prefix(100_000))

        var index = GeofenceIndex([])
        report("index 100,000 regions", "ms", reach: 150, times(7) { index = GeofenceIndex(some) }.map { $0 * 1e3 })

        var monitor = try GeofenceMonitor(some)
        let fixes = try positions.enumerated().map { number, position in
            try Fix(position, accuracy: 5, time: Date(timeIntervalSince1970: Double(number) * 100_000))
        }
        var events = 0
        let evaluation = times(1) { for fix in fixes { events += monitor.receive(fix).events.count } }
        report("a fix against 100,000 regions", "µs", reach: 20, evaluation.map { $0 / Double(fixes.count) * 1e6 })

        let all = GeofenceIndex(regions)
        var found = 0
        let searches = positions.prefix(5_000).map { position in
            times(1) { found += all.nearest(20, to: position).count }[0] * 1e6
        }
        report("nearest 20 of 1,000,000", "µs", reach: 100, searches)

        let day = try world.day(around: some[0])
        let replays = try (0..<5).map { _ in
            var walker = try GeofenceMonitor(Array(some.prefix(20)))
            return times(1) { for fix in day { events += walker.receive(fix).events.count } }[0]
        }
        report("a day of 86,400 fixes", "s", reach: 1, replays)
        // Used, so that nothing of it is left out by the compiler.
        FileHandle.standardError.write(
            Data("\(index.geofences.count) regions, \(found) neighbours, \(events) events\n".utf8))
    }

    /// The wall times of some runs in seconds.
    static func times(_ count: Int, _ body: () -> Void) -> [Double] {
        (0..<count).map { _ in
            let elapsed = ContinuousClock().measure(body)
            return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        }
    }

    static func report(_ what: String, _ unit: String, reach: Double, _ samples: [Double]) {
        let sorted = samples.sorted()
        func part(_ share: Double) -> String {
            String(format: "%.3g", sorted[min(Int(share * Double(sorted.count)), sorted.count - 1)])
        }
        let isMet = sorted[sorted.count / 2] <= reach
        print("\(what): \(part(0.5)) \(unit) [\(part(0.1))–\(part(0.9))], reach \(reach): \(isMet ? "met" : "MISSED")")
    }
}

/// The same regions and positions each time (SplitMix64).
struct World: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Circles of 50 to 550 metres, evenly over the Earth but for the polar caps.
    mutating func regions(_ count: Int) throws -> [Geofence] {
        try (0..<count).map { number in
            let center = try Coordinate(
                latitude: asin(Double.random(in: -0.9...0.9, using: &self)) * 180 / .pi,
                longitude: Double.random(in: -180...180, using: &self))
            let circle = try Circle(center: center, radius: Double.random(in: 50...550, using: &self))
            return try Geofence(id: "r\(number)", .circle(circle))
        }
    }

    /// Half of them within a kilometre of a region's center, half anywhere.
    mutating func positions(_ count: Int, near regions: [Geofence]) throws -> [Coordinate] {
        try (0..<count).map { number in
            guard number % 2 == 0, case .circle(let circle) = regions[number].shape else {
                return try Coordinate(
                    latitude: asin(Double.random(in: -0.9...0.9, using: &self)) * 180 / .pi,
                    longitude: Double.random(in: -180...180, using: &self))
            }
            return try Coordinate(
                latitude: circle.center.latitude + Double.random(in: -0.009...0.009, using: &self),
                longitude: min(
                    max(circle.center.longitude + Double.random(in: -0.009...0.009, using: &self), -180), 180))
        }
    }

    /// A fix each second, around and through a region.
    func day(around region: Geofence) throws -> [Fix] {
        guard case .circle(let circle) = region.shape else { return [] }
        return try (0..<86_400).map { second in
            let angle = Double(second) / 600
            return try Fix(
                Coordinate(
                    latitude: circle.center.latitude + 0.01 * sin(angle), longitude: circle.center.longitude),
                accuracy: 5, time: Date(timeIntervalSince1970: Double(second)))
        }
    }

    /// Their numbers, then longitude, latitude and radius of each region, then longitude and latitude of each position, as doubles.
    static func write(_ regions: [Geofence], _ positions: [Coordinate], to path: String) throws {
        var numbers = [Double(regions.count), Double(positions.count)]
        for region in regions {
            guard case .circle(let circle) = region.shape else { continue }
            numbers += [circle.center.longitude, circle.center.latitude, circle.radius]
        }
        for position in positions { numbers += [position.longitude, position.latitude] }
        try numbers.withUnsafeBytes { Data($0) }.write(to: URL(filePath: path))
    }
}
