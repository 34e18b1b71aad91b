import Geofences
import TestFixtures
import Testing

@Suite("Regions")
struct RegionTests {
    private static func at(_ latitude: Double, _ longitude: Double) throws -> Coordinate {
        try Coordinate(latitude: latitude, longitude: longitude)
    }

    private static func polygon(_ rings: [[(Double, Double)]]) throws -> Geofence {
        let rings = try rings.map { try $0.map { try at($0.1, $0.0) } }
        return try Geofence(id: "p", .polygon(Polygon(rings: rings)))
    }

    @Test(
        "a radius of 0, below, beyond half the Earth or no number is refused",
        arguments: [0, -1, 20_003_932, .nan, .infinity])
    func radius(metres: Double) throws {
        let center = try Self.at(1, 2)
        let error = #expect(throws: GeofencesError.self) { try Circle(center: center, radius: metres) }
        #expect(error?.code == "invalid_radius")
    }

    @Test("a continental circle holds what is nearer than its radius")
    func continental() throws {
        let circle = try Geofence(id: "c", .circle(Circle(center: Self.at(40, -100), radius: 4_000_000)))
        #expect(circle.distanceToEdge(from: try Self.at(41, -74)) < 0)
        #expect(circle.distanceToEdge(from: try Self.at(48, 2)) > 3_000_000)
    }

    @Test("the edge of a polygon is as far as the geodesic to its nearest point")
    func squareDistances() throws {
        let square = try Self.polygon([[(10, 50), (11, 50), (11, 51), (10, 51)]])
        // One degree of latitude here is 111,229 m, half a degree of longitude at 50.5° some 35,500 m.
        let inside = try Self.at(50.5, 10.1)
        #expect((square.distanceToEdge(from: inside) + inside.distance(to: try Self.at(50.5, 10))).magnitude < 5)
        let south = try Self.at(49.9, 10.5)
        #expect((square.distanceToEdge(from: south) - south.distance(to: try Self.at(50, 10.5))).magnitude < 0.01)
        let corner = try Self.at(51.3, 11.3)
        #expect((square.distanceToEdge(from: corner) - corner.distance(to: try Self.at(51, 11))).magnitude < 0.01)
    }

    @Test("edges agree with a search along them, for any shape, anywhere")
    func edgesAgreeWithSearch() throws {
        var random = SplitMix64(seed: 5)
        for _ in 0..<200 {
            let size = pow10(Double.random(in: -4...0.5, using: &random))
            let latitude = Double.random(in: -86...86, using: &random)
            let longitude = Double.random(in: -180...180, using: &random)
            let ring = try (0..<7).map { corner in
                let length = size * Double.random(in: 0.3...1, using: &random)
                let (x, y) = direction(Double(corner) / 7)
                return try Self.at(latitude + length * y, (longitude + length * x).remainder(dividingBy: 360))
            }
            let polygon = try Geofence(id: "p", .polygon(Polygon(rings: [ring])))
            let position = try Self.at(
                latitude + Double.random(in: -1.5...1.5, using: &random) * size,
                (longitude + Double.random(in: -1.5...1.5, using: &random) * size).remainder(dividingBy: 360))
            let found = polygon.distanceToEdge(from: position)
            let expected = try search(ring, position)
            // The search steps along each edge, so it may miss the foot by a little, never be nearer.
            #expect(found.magnitude <= expected + 0.001)
            #expect(
                found.magnitude >= expected - max(0.02 * size * 111_000 / 500, 0.001),
                "\(found) \(expected) \(ring) \(position)")
            #expect((found < 0) == holds(ring, position))
        }
    }

    @Test("a hole is outside, and a second part is inside")
    func holes() throws {
        let polygon = try Self.polygon([
            [(0, 0), (10, 0), (10, 10), (0, 10)], [(4, 4), (6, 4), (6, 6), (4, 6)],
            [(20, 0), (21, 0), (21, 1), (20, 1)],
        ])
        #expect(polygon.distanceToEdge(from: try Self.at(5, 5)) > 100_000)
        #expect(polygon.distanceToEdge(from: try Self.at(5, 3)) < 0)
        #expect(polygon.distanceToEdge(from: try Self.at(0.5, 20.5)) < 0)
        #expect(polygon.distanceToEdge(from: try Self.at(0.5, 15)) > 0)
    }

    @Test("an area across the antimeridian is one area, whether it was cut or not")
    func antimeridian() throws {
        let whole = try Self.polygon([[(179, -17), (-179, -17), (-179, -16), (179, -16)]])
        let cut = try Self.polygon([
            [(179, -17), (180, -17), (180, -16), (179, -16)], [(-180, -17), (-179, -17), (-179, -16), (-180, -16)],
        ])
        for longitude in [179.5, 180, -180, -179.5] {
            let position = try Self.at(-16.5, longitude)
            #expect(whole.distanceToEdge(from: position) < -50_000)
            #expect((cut.distanceToEdge(from: position) - whole.distanceToEdge(from: position)).magnitude < 0.01)
        }
        for region in [whole, cut] {
            #expect((50_000...60_000).contains(region.distanceToEdge(from: try Self.at(-16.5, 178.5))))
            #expect((50_000...60_000).contains(region.distanceToEdge(from: try Self.at(-16.5, -178.5))))
            #expect(region.distanceToEdge(from: try Self.at(-16.5, 0)) > 1_000_000)
        }
    }

    @Test("a ring around a pole encloses it")
    func poles() throws {
        let arctic = try Self.polygon([[(0, 66), (90, 66), (180, 66), (-90, 66)]])
        let antarctic = try Self.polygon([[(0, -66), (-90, -66), (180, -66), (90, -66)]])
        for longitude in [-180.0, -90, 0, 45, 180] {
            #expect(arctic.distanceToEdge(from: try Self.at(89, longitude)) < -2_000_000)
            #expect(arctic.distanceToEdge(from: try Self.at(65, longitude)) > 100_000)
            #expect(antarctic.distanceToEdge(from: try Self.at(-89, longitude)) < -2_000_000)
            #expect(antarctic.distanceToEdge(from: try Self.at(65, longitude)) > 10_000_000)
        }
    }

    @Test("a box around the world holds everything")
    func world() throws {
        let world = try Self.polygon([[(-180, -90), (180, -90), (180, 90), (-180, 90)]])
        guard case .polygon(let polygon) = world.shape else { throw GeofencesError.identifier }
        for (latitude, longitude) in [(0.0, 0.0), (89, 180), (-89, -180), (45, 179.9)] {
            #expect(polygon.contains(try Self.at(latitude, longitude)))
        }
    }

    @Test("a ring that encloses nothing is refused")
    func rings() throws {
        let same = [try Self.at(1, 1), try Self.at(1, 1), try Self.at(2, 2), try Self.at(1, 1)]
        for rings in [[], [[]], [same]] as [[[Coordinate]]] {
            let error = #expect(throws: GeofencesError.self) { try Polygon(rings: rings) }
            #expect(error?.code == "invalid_ring")
        }
    }
}

/// Every edge in 500 steps.
private func search(_ ring: [Coordinate], _ position: Coordinate) throws -> Double {
    var least = Double.infinity
    for (index, start) in ring.enumerated() {
        let end = ring[(index + 1) % ring.count]
        let width = (end.longitude - start.longitude).remainder(dividingBy: 360)
        for step in 0...500 {
            let part = Double(step) / 500
            let point = try Coordinate(
                latitude: start.latitude + part * (end.latitude - start.latitude),
                longitude: (start.longitude + part * width).remainder(dividingBy: 360))
            least = min(least, point.distance(to: position))
        }
    }
    return least
}

/// The winding of the ring around the position, in a plane that has the position as origin.
private func holds(_ ring: [Coordinate], _ position: Coordinate) -> Bool {
    let points = ring.map {
        (x: ($0.longitude - position.longitude).remainder(dividingBy: 360), y: $0.latitude - position.latitude)
    }
    var isInside = false
    for (index, a) in points.enumerated() {
        let b = points[(index + 1) % points.count]
        if (a.y > 0) != (b.y > 0), a.x + (0 - a.y) / (b.y - a.y) * (b.x - a.x) > 0 { isInside.toggle() }
    }
    return isInside
}
