#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An area within rings (RFC 7946, 3.1.1). Its edges are straight in longitude and latitude.
///
/// A position is inside when an odd number of rings surrounds it, so holes and several parts are rings like any other.
/// An edge of more than half a turn goes the shorter way, across the antimeridian. A ring around a pole encloses
/// the pole of its hemisphere. Edges along ±180° that cut an area in two, as RFC 7946 3.1.9 wants, are not edges of the area.
public struct Polygon: Sendable, Hashable {
    /// The rings, without the closing position.
    public let rings: [[Coordinate]]

    let ball: (center: Vector, radius: Double)
    private let edges: PolygonEdges

    /// Checks the rings. A closing position that repeats the first is left out.
    ///
    /// - Throws: ``GeofencesError/ring(positions:)`` for a ring of fewer than three different positions.
    public init(rings: [[Coordinate]]) throws(GeofencesError) {
        guard !rings.isEmpty else { throw .ring(positions: 0) }
        var open: [[Coordinate]] = []
        for ring in rings {
            var ring = ring
            if ring.count > 1, ring.first == ring.last { ring.removeLast() }
            var different: Set<Coordinate> = []
            for position in ring {
                different.insert(position)
                if different.count > 2 { break }
            }
            guard different.count > 2 else { throw .ring(positions: different.count) }
            open.append(ring)
        }
        self.rings = open
        edges = PolygonEdges(open)
        ball = edges.ball
    }

    public static func == (left: Polygon, right: Polygon) -> Bool { left.rings == right.rings }

    public func hash(into hasher: inout Hasher) { hasher.combine(rings) }

    /// Whether the area holds the position.
    public func contains(_ position: Coordinate) -> Bool { edges.surrounds(position) }

    /// The longitudes of a ring as its edges run, without a step at the antimeridian; the first position comes again at the end.
    static func continuousLongitudes(along ring: [Coordinate], from start: Double) -> [Double] {
        var longitude = start
        var longitudes = [start]
        longitudes.reserveCapacity(ring.count + 1)
        for (index, position) in ring.enumerated() {
            let next = index + 1 < ring.count ? ring[index + 1] : ring[0]
            var step = next.longitude - position.longitude
            if step.magnitude > 180, step.magnitude < 360 { step += step > 0 ? -360 : 360 }
            longitude += step
            longitudes.append(longitude)
        }
        return longitudes
    }

    /// Negative inside, positive outside.
    func distanceToEdge(from position: Coordinate) -> Double {
        let distance = position.distance(to: edges.nearest(to: position))
        return contains(position) ? -distance : distance
    }
}

/// The edges of a polygon in groups of 64, each with its bounds.
struct PolygonEdges: Sendable {
    /// Longitudes in degrees, continuous along each ring; each ring ends with its first position again.
    private var longitudes: ContiguousArray<Double> = []
    private var latitudes: ContiguousArray<Double> = []
    private var groups: ContiguousArray<Group> = []
    private var enclosesNorthPole = false
    private var longitudeRange: ClosedRange<Double> = 0...0
    private(set) var ball: (center: Vector, radius: Double) = (Vector(x: 0, y: 0, z: 0), 6_400_000)

    private struct Group: Sendable {
        var first: Int
        /// One past the first position of the last edge.
        var end: Int
        var west = Double.infinity
        var east = -Double.infinity
        var south = Double.infinity
        var north = -Double.infinity
        var center = Vector(x: 0, y: 0, z: 0)
        var radius = 0.0
    }

    init(_ rings: [[Coordinate]]) {
        var winds = false
        for ring in rings {
            let begin = longitudes.count
            append(ring)
            let turn = longitudes[longitudes.count - 1] - longitudes[begin]
            if turn.magnitude > 180 {
                winds = true
                if ring.reduce(0, { $0 + $1.latitude }) > 0 { enclosesNorthPole.toggle() }
            }
            makeGroups(begin..<longitudes.count - 1)
        }
        let west = groups.reduce(.infinity) { min($0, $1.west) }
        let east = groups.reduce(-.infinity) { max($0, $1.east) }
        let south = groups.reduce(90) { min($0, $1.south) }
        let north = groups.reduce(-90) { max($0, $1.north) }
        longitudeRange = west...east
        if !winds, east - west <= 90, north - south <= 90 {
            ball = Self.ball(west: west, east: east, south: south, north: north)
        }
    }

    private mutating func append(_ ring: [Coordinate]) {
        longitudes += Polygon.continuousLongitudes(along: ring, from: ring[0].longitude)
        latitudes += ring.map(\.latitude)
        latitudes.append(ring[0].latitude)
    }

    private mutating func makeGroups(_ range: Range<Int>) {
        for first in stride(from: range.lowerBound, to: range.upperBound, by: 64) {
            var group = Group(first: first, end: min(first + 64, range.upperBound))
            for index in group.first...group.end {
                group.west = min(group.west, longitudes[index])
                group.east = max(group.east, longitudes[index])
                group.south = min(group.south, latitudes[index])
                group.north = max(group.north, latitudes[index])
            }
            let isSmall = group.east - group.west <= 90 && group.north - group.south <= 90
            (group.center, group.radius) =
                isSmall
                ? Self.ball(west: group.west, east: group.east, south: group.south, north: group.north)
                : (Vector(x: 0, y: 0, z: 0), 6_400_000)
            groups.append(group)
        }
    }

    /// A ball around a box: on a sphere its corners are farthest from its middle, and the ellipsoid differs by less than 1 %.
    private static func ball(
        west: Double, east: Double, south: Double, north: Double
    ) -> (center: Vector, radius: Double) {
        let center = Vector(latitude: ((south + north) / 2).inRadians, longitude: ((west + east) / 2).inRadians)
        let corners = [(south, west), (north, west)].map {
            center.distance(to: Vector(latitude: $0.inRadians, longitude: $1.inRadians))
        }
        return (center, 1.01 * max(corners[0], corners[1]) + 1)
    }

    /// Counts the edges that the meridian crosses between the position and the north pole.
    func surrounds(_ position: Coordinate) -> Bool {
        var isInside = enclosesNorthPole
        let turns = ((longitudeRange.lowerBound - position.longitude) / 360).rounded(.up)
        var meridian = position.longitude + 360 * turns
        while meridian <= longitudeRange.upperBound {
            for group in groups
            where group.north > position.latitude && group.west <= meridian && meridian < group.east {
                for index in group.first..<group.end {
                    let from = longitudes[index]
                    let to = longitudes[index + 1]
                    guard (from <= meridian) != (to <= meridian) else { continue }
                    let part = (meridian - from) / (to - from)
                    let crossing = latitudes[index] + part * (latitudes[index + 1] - latitudes[index])
                    if crossing > position.latitude { isInside.toggle() }
                }
            }
            meridian += 360
        }
        return isInside
    }

    /// The point of the edges nearest to a position.
    func nearest(to position: Coordinate) -> Coordinate {
        let point = Vector(position)
        let order = groups.indices.map { (bound: groups[$0].center.distance(to: point) - groups[$0].radius, index: $0) }
        var best = (distance: Double.infinity, latitude: 0.0, longitude: 0.0)
        // The group with the least bound first: its distance rules most of the others out.
        if let closest = order.min(by: { $0.bound < $1.bound }) { search(groups[closest.index], point, &best) }
        for (bound, index) in order where bound < best.distance { search(groups[index], point, &best) }
        return Coordinate(reducing: best.longitude, latitude: best.latitude)
    }

    private func search(
        _ group: Group, _ point: Vector, _ best: inout (distance: Double, latitude: Double, longitude: Double)
    ) {
        for index in group.first..<group.end where !isSeam(index) {
            let edge = Edge(
                south: latitudes[index].inRadians, west: longitudes[index].inRadians,
                north: latitudes[index + 1].inRadians, east: longitudes[index + 1].inRadians)
            guard edge.leastDistance(to: point) < best.distance else { continue }
            let foot = edge.foot(of: point)
            let distance = foot.position.distance(to: point)
            if distance < best.distance {
                best = (distance, foot.latitude.inDegrees, foot.longitude.inDegrees)
            }
        }
    }

    /// Whether an edge only cuts the area, along the antimeridian or at a pole.
    private func isSeam(_ index: Int) -> Bool {
        (longitudes[index].magnitude == 180 && longitudes[index] == longitudes[index + 1] && hasSeam)
            || (latitudes[index].magnitude == 90 && latitudes[index] == latitudes[index + 1])
    }

    /// Whether the area touches the antimeridian from both sides.
    private var hasSeam: Bool { longitudeRange.lowerBound == -180 && longitudeRange.upperBound == 180 }
}

/// A line that is straight in longitude and latitude, in radians.
private struct Edge {
    let south: Double, west: Double, north: Double, east: Double
    private let start: Vector, chord: Vector

    init(south: Double, west: Double, north: Double, east: Double) {
        (self.south, self.west, self.north, self.east) = (south, west, north, east)
        start = Vector(latitude: south, longitude: west)
        chord = Vector(latitude: north, longitude: east) - start
    }

    /// A lower bound of the distance of any point of the edge.
    func leastDistance(to point: Vector) -> Double {
        let length = chord.lengthSquared
        // The line leaves its chord by at most the square of its length over eight radii of the tightest parallel.
        guard length < 25e8, max(south.magnitude, north.magnitude) < 1.48 else { return 0 }
        let part = length > 0 ? min(max((point - start).dot(chord) / length, 0), 1) : 0
        return (start + part * chord).distance(to: point) - length / 4e6
    }

    /// The nearest point, by Newton's method from the best of evenly spaced points.
    func foot(of point: Vector) -> (latitude: Double, longitude: Double, position: Vector) {
        let span = max((north - south).magnitude, (east - west).magnitude)
        var part: Double
        if span < 0.02 {
            let length = chord.lengthSquared
            part = length > 0 ? min(max((point - start).dot(chord) / length, 0), 1) : 0
        } else {
            let pieces = min(Int(span / 0.02) + 1, 320)
            part =
                (0...pieces).map { Double($0) / Double(pieces) }
                .min { position($0).distance(to: point) < position($1).distance(to: point) } ?? 0
        }
        for _ in 0..<5 {
            let slope = 1e6 * (position(part + 5e-7) - position(part - 5e-7))
            let length = slope.lengthSquared
            guard length > 0 else { break }
            let next = min(max(part + (point - position(part)).dot(slope) / length, 0), 1)
            guard position(next).distance(to: point) <= position(part).distance(to: point), next != part else { break }
            part = next
        }
        return (latitude(part), longitude(part), position(part))
    }

    private func latitude(_ part: Double) -> Double { south + part * (north - south) }
    private func longitude(_ part: Double) -> Double { west + part * (east - west) }

    private func position(_ part: Double) -> Vector {
        Vector(latitude: latitude(part), longitude: longitude(part))
    }
}
