#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An Earth-centred, Earth-fixed position in metres: no antimeridian and no poles.
struct Vector: Sendable, Hashable {
    var x: Double
    var y: Double
    var z: Double

    init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// The position on the ellipsoid, from radians.
    init(latitude: Double, longitude: Double) {
        let sine = sin(latitude)
        let normal = WGS84.semiMajorAxis / (1 - WGS84.eccentricitySquared * sine * sine).squareRoot()
        let parallel = normal * cos(latitude)
        x = parallel * cos(longitude)
        y = parallel * sin(longitude)
        z = normal * (1 - WGS84.eccentricitySquared) * sine
    }

    init(_ coordinate: Coordinate) {
        self.init(latitude: coordinate.latitude.inRadians, longitude: coordinate.longitude.inRadians)
    }

    static func + (left: Vector, right: Vector) -> Vector {
        Vector(x: left.x + right.x, y: left.y + right.y, z: left.z + right.z)
    }

    static func - (left: Vector, right: Vector) -> Vector {
        Vector(x: left.x - right.x, y: left.y - right.y, z: left.z - right.z)
    }

    static func * (scale: Double, vector: Vector) -> Vector {
        Vector(x: scale * vector.x, y: scale * vector.y, z: scale * vector.z)
    }

    func dot(_ other: Vector) -> Double { x * other.x + y * other.y + z * other.z }

    func cross(_ other: Vector) -> Vector {
        Vector(x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
    }

    var lengthSquared: Double { dot(self) }
    var length: Double { lengthSquared.squareRoot() }

    func distance(to other: Vector) -> Double { (self - other).length }
}

/// The ellipsoid of GPS.
enum WGS84 {
    static let semiMajorAxis = 6_378_137.0
    static let flattening = 1 / 298.257223563
    static let semiMinorAxis = semiMajorAxis * (1 - flattening)
    static let eccentricitySquared = flattening * (2 - flattening)
}

extension Double {
    var inRadians: Double { self * .pi / 180 }
    var inDegrees: Double { self * 180 / .pi }
}
