import Foundation
import Geofences
import TestFixtures
import Testing

@Suite("Spatial index and selection")
struct IndexTests {
    private static func circle(_ id: String, _ latitude: Double, _ longitude: Double, _ radius: Double) throws
        -> Geofence
    {
        try Geofence(
            id: id, .circle(Circle(center: Coordinate(latitude: latitude, longitude: longitude), radius: radius)))
    }

    /// Regions of every size all over the Earth, many of them overlapping, some polygons.
    private static func regions(_ count: Int, seed: UInt64) throws -> [Geofence] {
        var random = SplitMix64(seed: seed)
        return try (0..<count).map { number in
            let latitude = Double.random(in: -90...90, using: &random)
            let longitude = Double.random(in: -180...180, using: &random)
            let radius = pow10(Double.random(in: 1...6.3, using: &random))
            guard number % 10 == 0, latitude.magnitude < 80 else {
                return try circle("\(number)", latitude, longitude, radius)
            }
            let size = min(radius / 111_000, 5)
            let ring = try (0..<5).map { corner in
                let (x, y) = direction(Double(corner) / 5)
                return try Coordinate(
                    latitude: latitude + size * y, longitude: (longitude + size * x).remainder(dividingBy: 360))
            }
            return try Geofence(id: "\(number)", .polygon(Polygon(rings: [ring])))
        }
    }

    @Test("the regions around a position and the nearest edges are those that a look at all of them finds")
    func agreesWithAll() throws {
        let regions = try Self.regions(1_000, seed: 1)
        let index = GeofenceIndex(regions)
        var random = SplitMix64(seed: 2)
        var positions = try (0..<60).map { _ in
            try Coordinate(
                latitude: .random(in: -90...90, using: &random), longitude: .random(in: -180...180, using: &random))
        }
        positions += try [(90.0, 0.0), (-90, 10), (0, 180), (0, -180), (89.99, 77)].map {
            try Coordinate(latitude: $0.0, longitude: $0.1)
        }
        for position in positions {
            let all = regions.map { ($0.id, $0.distanceToEdge(from: position)) }
            #expect(index.regions(around: position).map(\.id) == all.filter { $0.1 < 0 }.map(\.0))
            let expected = all.sorted { $0.1.magnitude < $1.1.magnitude }.prefix(20).map(\.0)
            #expect(index.nearest(20, to: position).map(\.geofence.id) == expected)
        }
    }

    @Test("an index of nothing finds nothing, and never more than there is is found")
    func small() throws {
        let position = try Coordinate(latitude: 0, longitude: 0)
        #expect(GeofenceIndex([]).nearest(3, to: position).isEmpty)
        #expect(GeofenceIndex([]).regions(around: position).isEmpty)
        let index = GeofenceIndex([try Self.circle("a", 0, 0, 10)])
        #expect(index.nearest(3, to: position).map(\.distanceToEdge) == [-10])
        #expect(index.nearest(0, to: position).isEmpty)
        #expect(index.nearest(-1, to: position).isEmpty)
    }

    @Test("F084: of 50 regions on a diagonal, shuffled, the nearest are found in order", arguments: [20, 30])
    func diagonal(count: Int) throws {
        var random = SplitMix64(seed: 3)
        let regions = try (0..<50).map { try Self.circle("\($0)", Double($0) * 0.1, Double($0) * 0.1, 100) }
            .shuffled(using: &random)
        let origin = try Coordinate(latitude: -0.05, longitude: -0.05)
        #expect(GeofenceIndex(regions).nearest(count, to: origin).map(\.geofence.id) == (0..<count).map { "\($0)" })
    }

    @Test("F084, W18: of 25 regions 19 are registered from the first position, with a boundary before the next edge")
    func overLimit() throws {
        let regions = try (0..<25).map { try Self.circle("ifttt_\($0)", Double($0) * 0.1, 0, 100) }
        let fix = try Fix(Coordinate(latitude: 0, longitude: 0), accuracy: 50, time: Date(timeIntervalSince1970: 0))
        let selection = try RegionSelection(of: GeofenceIndex(regions), around: fix, boundaryID: "ifttt-boundary")
        #expect(selection.regions.map(\.id) == (0..<19).map { "ifttt_\($0)" })
        #expect(selection.isComplete)
        let boundary = try #require(selection.boundary)
        let next = regions[19].distanceToEdge(from: fix.coordinate)
        guard case .circle(let circle) = boundary.shape else { throw GeofencesError.identifier }
        #expect(circle.center == fix.coordinate)
        #expect((circle.radius - (next - 50)).magnitude < 0.001)
    }

    @Test("F084, W18: within the boundary no edge of an unregistered region can be reached")
    func promise() throws {
        let regions = try Self.regions(2_000, seed: 7)
        let index = GeofenceIndex(regions)
        var random = SplitMix64(seed: 8)
        for _ in 0..<40 {
            let position = try Coordinate(
                latitude: .random(in: -80...80, using: &random), longitude: .random(in: -180...180, using: &random))
            let fix = try Fix(position, accuracy: 20, time: Date(timeIntervalSince1970: 0))
            let selection = try RegionSelection(of: index, around: fix, others: 3, boundaryID: "b")
            #expect(selection.regions.count == 16)
            guard selection.isComplete, case .circle(let boundary)? = selection.boundary?.shape else { continue }
            let registered = Set(selection.regions.map(\.id))
            for region in regions where !registered.contains(region.id) {
                #expect(region.distanceToEdge(from: position).magnitude - 20 >= boundary.radius - 0.001)
            }
        }
    }

    @Test("W18: regions of other owners take places and are never stopped")
    func owners() throws {
        let ours = try (0..<30).map { try Self.circle("ifttt_\($0)", Double($0) * 0.1, 0, 100) }
        let foreign = try Self.circle("gym", 1, 1, 100)
        let fix = try Fix(Coordinate(latitude: 0, longitude: 0), accuracy: 10, time: Date(timeIntervalSince1970: 0))
        let selection = try RegionSelection(
            of: GeofenceIndex(ours), around: fix, others: 1, boundaryID: "ifttt-boundary")
        #expect(selection.regions.count == 18)
        let moved = try Self.circle("ifttt_1", 9, 9, 100)
        let (stop, start) = selection.changes(from: [foreign, ours[0], moved, ours[29]]) { $0.hasPrefix("ifttt") }
        #expect(stop == ["ifttt_1", "ifttt_29"])
        #expect(start.map(\.id) == (1..<18).map { "ifttt_\($0)" } + ["ifttt-boundary"])
        let full = try RegionSelection(of: GeofenceIndex(ours), around: fix, others: 20, boundaryID: "b")
        #expect(full.regions.isEmpty && full.boundary == nil && !full.isComplete)
        let few = try RegionSelection(of: GeofenceIndex(Array(ours.prefix(5))), around: fix, boundaryID: "b")
        #expect(few.regions.count == 5 && few.boundary == nil && few.isComplete)
    }

    @Test("edges closer together than the system notices are told")
    func crowded() throws {
        let regions = try (0..<40).map { try Self.circle("\($0)", 0, Double($0) * 1e-5, 100) }
        let fix = try Fix(Coordinate(latitude: 0, longitude: 0), accuracy: 10, time: Date(timeIntervalSince1970: 0))
        let selection = try RegionSelection(of: GeofenceIndex(regions), around: fix, boundaryID: "b")
        #expect(!selection.isComplete)
        guard case .circle(let circle)? = selection.boundary?.shape else { throw GeofencesError.identifier }
        #expect(circle.radius == 100)
    }
}
