#if Server && Sandbox
import Foundation
import Geofences

/// A simulated walk through areas: the positions that a phone would measure on it.
///
/// It leads straight through the middle of each area, from outside to outside, and rests in the middle for a minute. A way that would
/// take longer than an hour is made faster, so that the number of positions is bounded. Between two places the phone is off: that
/// way is made by bus, or by plane.
struct Walk: Sendable {
    /// The way through one middle, and through each area that has about the same middle.
    struct Leg: Sendable {
        let middle: Circle
        /// The areas, by their places in the list that was given.
        private(set) var areas: [Int]
        /// How far from the middle it begins and ends, in metres.
        private(set) var reach: Double

        fileprivate var seconds: Double { 2 * half + Walk.rest }
        fileprivate var half: Double { (reach / pace).rounded(.up) }
        fileprivate var pace: Double { max(Walk.pace, 2 * reach / Walk.longest) }
        fileprivate var interval: Double { max(5, (seconds / 120).rounded(.up)) }
    }

    /// How many areas a walk leads through; a phone monitors no more.
    static let limit = RegionSelection.appleLimit
    /// Metres a second.
    private static let pace = 1.4
    /// How many seconds a leg takes at most, without its rest.
    private static let longest = 3_600.0
    /// How many seconds it rests in the middle, more than it takes to settle there.
    private static let rest = 60.0
    /// East-north-east, in degrees from north.
    private static let bearing = 70.0

    /// The positions of each leg; all times are whole seconds.
    let legs: [(leg: Leg, fixes: [Fix])]

    /// - Parameters:
    ///   - areas: the areas; those beyond ``limit`` are left out.
    ///   - end: when the walk is over.
    init(through areas: [Circle], endingAt end: Date) {
        var start = 0.0
        var timed: [(leg: Leg, start: Double)] = []
        for leg in Leg.legs(through: areas) {
            if let last = timed.last {
                start = last.start + last.leg.seconds + 60
                start += (last.leg.middle.center.distance(to: leg.middle.center) / 200).rounded(.up)
            }
            timed.append((leg, start))
        }
        let seconds = timed.last.map { $0.start + $0.leg.seconds } ?? 0
        let begin = Date(timeIntervalSince1970: end.timeIntervalSince1970.rounded(.down) - seconds)
        legs = timed.map { leg, start in (leg, leg.fixes(from: begin.addingTimeInterval(start))) }
    }
}

extension Walk.Leg {
    /// The legs through areas, in the areas' order.
    static func legs(through areas: [Circle]) -> [Walk.Leg] {
        var rest = areas.indices.prefix(Walk.limit).map { (place: $0, circle: areas[$0]) }
        var legs: [Walk.Leg] = []
        // The smallest first: the way through its middle leads through larger ones as well.
        while let smallest = rest.min(by: { $0.circle.radius < $1.circle.radius })?.circle {
            let leg = rest.filter { other in
                other.circle.radius <= 8 * smallest.radius
                    && smallest.center.distance(to: other.circle.center) <= other.circle.radius / 2
            }
            let taken = leg.map(\.place)
            rest.removeAll { taken.contains($0.place) }
            let reaches = leg.map { smallest.center.distance(to: $0.circle.center) + 1.25 * $0.circle.radius }
            // Beyond the hysteresis of the areas, for longer than it takes to settle there.
            var next = Walk.Leg(middle: smallest, areas: taken, reach: (reaches.max() ?? 0) + 80)
            next.leave(areas.prefix(Walk.limit))
            legs.append(next)
        }
        return legs.sorted { ($0.areas.first ?? 0) < ($1.areas.first ?? 0) }
    }

    /// Begins and ends outside its neighbours as well; much larger ones have a leg of their own.
    private mutating func leave(_ areas: ArraySlice<Circle>) {
        // Each round reaches beyond one more area.
        for _ in areas {
            let ends = [-reach, reach].compactMap(position)
            let entered = areas.filter { area in
                area.radius <= 8 * middle.radius
                    && ends.contains { $0.distance(to: area.center) < 1.25 * area.radius + 80 }
            }
            let reaches = entered.map { middle.center.distance(to: $0.center) + 1.25 * $0.radius + 80 }
            guard let farthest = reaches.max(), farthest > reach else { return }
            reach = farthest
        }
    }

    fileprivate func fixes(from start: Date) -> [Fix] {
        stride(from: 0, through: seconds, by: interval).compactMap { time in
            let isResting = (half...half + Walk.rest).contains(time)
            let distance = isResting ? 0 : pace * (time < half ? time - half : time - half - Walk.rest)
            guard let position = position(at: distance) else { return nil }
            return try? Fix(
                position, accuracy: min(5, middle.radius / 4), time: start.addingTimeInterval(time),
                speed: isResting ? 0 : pace)
        }
    }

    /// The position this many metres after the middle, on a sphere.
    private func position(at distance: Double) -> Coordinate? {
        guard distance != 0 else { return middle.center }
        let angle = distance / 6_371_000
        let bearing = Walk.bearing * .pi / 180
        let latitude = middle.center.latitude * .pi / 180
        let sine = sin(latitude) * cos(angle) + cos(latitude) * sin(angle) * cos(bearing)
        let turn = atan2(sin(bearing) * sin(angle) * cos(latitude), cos(angle) - sin(latitude) * sine)
        let longitude = (middle.center.longitude + turn * 180 / .pi).remainder(dividingBy: 360)
        return try? Coordinate(latitude: asin(min(max(sine, -1), 1)) * 180 / .pi, longitude: longitude)
    }
}
#endif
