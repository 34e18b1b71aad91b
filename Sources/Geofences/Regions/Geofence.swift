/// A named region.
public struct Geofence: Sendable, Hashable, Identifiable {
    /// 1 to 1,024 bytes, unique among the regions of a monitor.
    public let id: String
    public let shape: Shape

    /// The area of a region.
    public enum Shape: Sendable, Hashable {
        case circle(Circle)
        case polygon(Polygon)
    }

    /// Checks the identifier.
    ///
    /// - Throws: ``GeofencesError/identifier``.
    public init(id: String, _ shape: Shape) throws(GeofencesError) {
        guard (1...1_024).contains(id.utf8.count) else { throw .identifier }
        self.id = id
        self.shape = shape
    }

    /// The distance to the edge in metres: negative inside, positive outside.
    public func distanceToEdge(from position: Coordinate) -> Double {
        switch shape {
        case .circle(let circle): circle.distanceToEdge(from: position)
        case .polygon(let polygon): polygon.distanceToEdge(from: position)
        }
    }

    /// Whether the edge is at most this many metres away, inside or outside.
    func mayHaveEdge(within accuracy: Double, of position: Coordinate) -> Bool {
        // The ball rules out most regions for less than the distance costs.
        let ball = self.ball
        let fromCenter = (ball.center - Vector(position)).length
        guard max(fromCenter - ball.radius, ball.edgeFreeRadius - fromCenter) <= accuracy else { return false }
        return distanceToEdge(from: position).magnitude <= accuracy
    }

    /// The ball around all of the region, as a chord through the Earth, and the radius within which it has no edge.
    var ball: (center: Vector, radius: Double, edgeFreeRadius: Double) {
        switch shape {
        case .circle(let circle): (Vector(circle.center), circle.radius, circle.edgeFreeChord)
        case .polygon(let polygon): (polygon.ball.center, polygon.ball.radius, 0)
        }
    }

    /// A number that changes when the area changes; stable across processes.
    var fingerprint: UInt64 {
        switch shape {
        case .circle(let circle):
            [circle.center.latitude, circle.center.longitude, circle.radius].fingerprint
        case .polygon(let polygon):
            polygon.rings.flatMap { $0.flatMap { [$0.latitude, $0.longitude] } + [.infinity] }.fingerprint
        }
    }
}

/// All positions within a distance of a center.
public struct Circle: Sendable, Hashable {
    public let center: Coordinate
    /// Metres along the ellipsoid.
    public let radius: Double

    /// Checks the radius.
    ///
    /// - Throws: ``GeofencesError/radius(_:)``.
    public init(center: Coordinate, radius: Double) throws(GeofencesError) {
        guard radius > 0, radius <= 20_003_931.458_6 else { throw .radius(radius) }
        self.center = center
        self.radius = radius
    }

    func distanceToEdge(from position: Coordinate) -> Double { center.distance(to: position) - radius }

    /// A chord shorter than that of any point of the edge: on the tightest curvature of the ellipsoid, with a reserve.
    var edgeFreeChord: Double {
        let halfAngle = radius / 2 / 6_335_000
        return halfAngle < 1 ? 0.999 * radius * (1 - halfAngle * halfAngle / 6) : 0
    }
}

extension [Double] {
    /// FNV-1a over the bits.
    fileprivate var fingerprint: UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for value in self {
            var bits = value.bitPattern
            for _ in 0..<8 {
                hash = (hash ^ (bits & 0xFF)) &* 0x100_0000_01B3
                bits >>= 8
            }
        }
        return hash
    }
}
