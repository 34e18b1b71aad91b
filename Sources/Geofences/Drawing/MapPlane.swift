#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A place in the picture, in its units; y grows downwards.
struct MapPoint: Sendable {
    var x: Double
    var y: Double

    func isWithin(_ reach: Double, of other: MapPoint) -> Bool {
        (x - other.x).magnitude < reach && (y - other.y).magnitude < reach
    }
}

/// A map of the area around a position: metres east and north of it, scaled to a picture of 1,000 units.
struct MapPlane: Sendable {
    /// Units per metre.
    let scale: Double
    private let meridian: Double
    private let metresPerDegreeEast: Double
    private let shift: MapPoint

    private static let metresPerDegreeNorth = WGS84.semiMajorAxis * Double.pi / 180

    init(_ regions: [Geofence], _ track: [Fix]) {
        let first = track.first?.coordinate ?? regions.first?.firstPosition ?? Coordinate(reducing: 0, latitude: 0)
        let meridian = Self.middle(of: regions) ?? first.longitude
        let metresPerDegreeEast = Self.metresPerDegreeNorth * max(cos(first.latitude.inRadians), 0.01)
        var west = Double.infinity
        var east = -Double.infinity
        var south = Double.infinity
        var north = -Double.infinity
        func include(_ degreesEast: Double, _ latitude: Double, radius: Double = 0) {
            let (x, y) = (degreesEast * metresPerDegreeEast, latitude * Self.metresPerDegreeNorth)
            (west, east) = (min(west, x - radius), max(east, x + radius))
            (south, north) = (min(south, y - radius), max(north, y + radius))
        }
        for fix in track { include(Self.degrees(fix.coordinate, east: meridian), fix.coordinate.latitude) }
        for region in regions {
            switch region.shape {
            case .circle(let circle):
                include(Self.degrees(circle.center, east: meridian), circle.center.latitude, radius: circle.radius)
            case .polygon(let polygon):
                for position in Self.outlines(of: polygon, east: meridian).joined() { include(position.0, position.1) }
            }
        }
        if west > east { (west, east, south, north) = (0, 0, 0, 0) }
        self.meridian = meridian
        self.metresPerDegreeEast = metresPerDegreeEast
        scale = 880 / max(east - west, north - south, 50)
        shift = MapPoint(x: 500 - (west + east) / 2 * scale, y: 500 + (south + north) / 2 * scale)
    }

    func point(_ position: Coordinate) -> MapPoint {
        point(Self.degrees(position, east: meridian), position.latitude)
    }

    /// How many metres east of Greenwich and north of the equator a place of the picture is.
    func metres(_ point: MapPoint) -> (east: Double, north: Double) {
        ((point.x - shift.x) / scale + meridian * metresPerDegreeEast, (shift.y - point.y) / scale)
    }

    /// The place in the picture of so many metres east and north.
    func point(east: Double, north: Double) -> MapPoint {
        MapPoint(x: shift.x + (east - meridian * metresPerDegreeEast) * scale, y: shift.y - north * scale)
    }

    /// The rings of a polygon, each whole, also across the side of the Earth that is opposite to the map's middle.
    func outlines(of polygon: Polygon) -> [[MapPoint]] {
        Self.outlines(of: polygon, east: meridian).map { $0.map { point($0.0, $0.1) } }
    }

    private func point(_ degreesEast: Double, _ latitude: Double) -> MapPoint {
        MapPoint(
            x: shift.x + degreesEast * metresPerDegreeEast * scale,
            y: shift.y - latitude * Self.metresPerDegreeNorth * scale)
    }

    private static func degrees(_ position: Coordinate, east meridian: Double) -> Double {
        (position.longitude - meridian).remainder(dividingBy: 360)
    }

    /// The meridian in the middle of the widest ring that takes more than half of the Earth; a map around another one would cut it.
    private static func middle(of regions: [Geofence]) -> Double? {
        var widest = (width: 180.0, middle: Double?.none)
        for case .polygon(let polygon) in regions.map(\.shape) {
            for ring in polygon.rings {
                let longitudes = Polygon.continuousLongitudes(along: ring, from: ring[0].longitude)
                let (west, east) = (longitudes.min() ?? 0, longitudes.max() ?? 0)
                if east - west > widest.width { widest = (east - west, (west + east) / 2) }
            }
        }
        return widest.middle
    }

    /// Degrees east of the meridian, and latitudes.
    private static func outlines(of polygon: Polygon, east meridian: Double) -> [[(Double, Double)]] {
        var extent: ClosedRange<Double>?
        return polygon.rings.map { ring in
            var longitudes = Polygon.continuousLongitudes(along: ring, from: degrees(ring[0], east: meridian))
            // A hole lies within what it is a hole of, not a turn beside it.
            if let extent, let turn = [0.0, 360, -360].first(where: { extent.contains(longitudes[0] + $0) }) {
                for index in longitudes.indices { longitudes[index] += turn }
            }
            let (west, east) = (longitudes.min() ?? 0, longitudes.max() ?? 0)
            extent = min(extent?.lowerBound ?? west, west)...max(extent?.upperBound ?? east, east)
            let end = longitudes.removeLast()
            var outline = Array(zip(longitudes, ring.map(\.latitude)))
            if (end - longitudes[0]).magnitude > 180 {
                // Around a pole, which a map of this kind shows as a line.
                let pole = ring.reduce(0) { $0 + $1.latitude } > 0 ? 90.0 : -90
                outline += [(end, ring[0].latitude), (end, pole), (longitudes[0], pole)]
            }
            return outline
        }
    }
}

extension Geofence {
    fileprivate var firstPosition: Coordinate? {
        switch shape {
        case .circle(let circle): circle.center
        case .polygon(let polygon): polygon.rings.first?.first
        }
    }
}
