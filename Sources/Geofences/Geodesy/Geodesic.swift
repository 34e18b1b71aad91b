#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension Coordinate {
    /// The length of the shortest line to another position on the ellipsoid, in metres.
    ///
    /// Agrees with GeographicLib to 1 mm below 100 km and to 10 cm at any distance.
    public func distance(to other: Coordinate) -> Double {
        if latitude == other.latitude, longitude == other.longitude { return 0 }
        return Geodesic.vincenty(self, other) ?? Geodesic.nearAntipodal(self, other)
    }
}

/// The inverse geodesic problem.
enum Geodesic {
    /// Vincenty's inverse formula (Survey Review XXIII, 176, 1975); nil where it does not converge, near the antipode.
    static func vincenty(_ start: Coordinate, _ end: Coordinate) -> Double? {
        let f = WGS84.flattening
        let difference = (end.longitude - start.longitude).remainder(dividingBy: 360).inRadians
        let (sinU1, cosU1) = reducedLatitude(start.latitude)
        let (sinU2, cosU2) = reducedLatitude(end.latitude)
        var lambda = difference
        for _ in 0..<40 {
            let sinLambda = sin(lambda)
            let cosLambda = cos(lambda)
            let across = cosU2 * sinLambda
            let along = cosU1 * sinU2 - sinU1 * cosU2 * cosLambda
            let sinSigma = (across * across + along * along).squareRoot()
            guard sinSigma > 0 else { return lambda.magnitude < 1 ? 0 : nil }
            let cosSigma = sinU1 * sinU2 + cosU1 * cosU2 * cosLambda
            let sigma = atan2(sinSigma, cosSigma)
            let sinAlpha = cosU1 * cosU2 * sinLambda / sinSigma
            let cosSquaredAlpha = 1 - sinAlpha * sinAlpha
            // On the equator the middle of the line is undefined and multiplied by zero.
            let cosMiddle = cosSquaredAlpha > 0 ? cosSigma - 2 * sinU1 * sinU2 / cosSquaredAlpha : 0
            let c = f / 16 * cosSquaredAlpha * (4 + f * (4 - 3 * cosSquaredAlpha))
            let previous = lambda
            let inner = cosMiddle + c * cosSigma * (2 * cosMiddle * cosMiddle - 1)
            lambda = difference + (1 - c) * f * sinAlpha * (sigma + c * sinSigma * inner)
            guard lambda.magnitude <= .pi else { return nil }
            if (lambda - previous).magnitude < 1e-12 {
                return length(sigma, sinSigma, cosSigma, cosMiddle, cosSquaredAlpha)
            }
        }
        return nil
    }

    /// No line on the ellipsoid between the ends of a chord is longer, in metres; infinite for long chords.
    ///
    /// No normal section is curved more than a circle of 6,335 km, so the line is at most the arc of that circle (Schur's theorem).
    static func longest(over chord: Double) -> Double {
        guard chord < 1_000_000 else { return .infinity }
        let part = chord / (2 * 6_335_000)
        // The arc sine up to 0.08 is below this.
        return chord * (1 + 0.17 * part * part) + 1e-6
    }

    /// Sine and cosine of the latitude on the auxiliary sphere.
    private static func reducedLatitude(_ latitude: Double) -> (sine: Double, cosine: Double) {
        let radians = latitude.inRadians
        let y = (1 - WGS84.flattening) * sin(radians)
        let x = cos(radians)
        let length = (x * x + y * y).squareRoot()
        return (y / length, x / length)
    }

    private static func length(
        _ sigma: Double, _ sinSigma: Double, _ cosSigma: Double, _ cosMiddle: Double, _ cosSquaredAlpha: Double
    ) -> Double {
        let b = WGS84.semiMinorAxis
        let uSquared = cosSquaredAlpha * (WGS84.semiMajorAxis * WGS84.semiMajorAxis - b * b) / (b * b)
        let upperA = 1 + uSquared / 16_384 * (4_096 + uSquared * (-768 + uSquared * (320 - 175 * uSquared)))
        let upperB = uSquared / 1_024 * (256 + uSquared * (-128 + uSquared * (74 - 47 * uSquared)))
        let middleSquared = cosMiddle * cosMiddle
        let third = upperB / 6 * cosMiddle * (4 * sinSigma * sinSigma - 3) * (4 * middleSquared - 3)
        let second = cosSigma * (2 * middleSquared - 1) - third
        return b * upperA * (sigma - upperB * sinSigma * (cosMiddle + upperB / 4 * second))
    }

    /// The shortest way over a point of the great circle halfway, which every line between the two must cross.
    static func nearAntipodal(_ start: Coordinate, _ end: Coordinate) -> Double {
        let axis = Vector(start) - Vector(end)
        let pole = Vector(x: 0, y: 0, z: 1)
        var first = axis.cross(pole)
        if first.lengthSquared < 1 { first = Vector(x: 0, y: 1, z: 0) }
        first = 1 / first.length * first
        var second = axis.cross(first)
        second = 1 / second.length * second
        func way(_ angle: Double) -> Double {
            let point = cos(angle) * first + sin(angle) * second
            let middle = Coordinate(
                reducing: atan2(point.y, point.x).inDegrees, latitude: asin(min(max(point.z, -1), 1)).inDegrees)
            return (vincenty(start, middle) ?? .infinity) + (vincenty(middle, end) ?? .infinity)
        }
        let step = Double.pi / 18
        var best = (0..<36).map { Double($0) * step }.min { way($0) < way($1) } ?? 0
        var reach = step
        while reach > 1e-9 {
            best = [best - reach, best, best + reach].min { way($0) < way($1) } ?? best
            reach *= 0.6
        }
        let shortest = way(best)
        // Half a meridian, the longest shortest line there is.
        return shortest.isFinite ? shortest : 20_003_931.458_6
    }
}
