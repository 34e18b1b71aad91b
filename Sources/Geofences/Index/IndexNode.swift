/// What bounds the centers and radii of some regions, in 32 bytes: numbers of single precision, rounded so that the bounds hold.
struct IndexNode: Sendable {
    /// The least coordinates of the centers, and the greatest radius.
    private var low = SIMD4<Float>(.infinity, .infinity, .infinity, 0)
    /// The greatest coordinates, and the least radius within which no region has an edge.
    private var high = SIMD4<Float>(-.infinity, -.infinity, -.infinity, .infinity)

    /// What rounding a point and the sums of single precision may be wrong by, in metres beside a millionth of the distance.
    private static let tolerance: Float = 2

    /// A point for the searches.
    static func point(_ point: Vector) -> SIMD4<Float> { SIMD4(Float(point.x), Float(point.y), Float(point.z), 0) }

    mutating func include(_ center: Vector, radius: Double, edgeFreeRadius: Double) {
        let rounded = SIMD4(Float(center.x), Float(center.y), Float(center.z), 0)
        low = pointwiseMin(low, rounded - SIMD4(1, 1, 1, 0)).replacing(w: max(low.w, Float(radius).nextUp))
        high = pointwiseMax(high, rounded + SIMD4(1, 1, 1, 0))
            .replacing(w: min(high.w, max(Float(edgeFreeRadius).nextDown, 0)))
    }

    mutating func include(_ other: IndexNode) {
        low = pointwiseMin(low, other.low).replacing(w: max(low.w, other.low.w))
        high = pointwiseMax(high, other.high).replacing(w: min(high.w, other.high.w))
    }

    private func leastDistance(to point: SIMD4<Float>) -> Float {
        var apart = pointwiseMax(pointwiseMax(low - point, point - high), .zero)
        apart.w = 0
        return (apart * apart).sum().squareRoot() * 0.999_999 - Self.tolerance
    }

    private func greatestDistance(to point: SIMD4<Float>) -> Float {
        var apart = pointwiseMax(point - low, high - point)
        apart.w = 0
        return (apart * apart).sum().squareRoot() * 1.000_001 + Self.tolerance
    }

    /// Whether one of the regions may hold a point.
    func mayHold(_ point: SIMD4<Float>) -> Bool { leastDistance(to: point) <= low.w }

    /// No edge of a region is nearer to a point, from inside or from outside.
    func leastEdgeDistance(from point: SIMD4<Float>) -> Double {
        let outside = leastDistance(to: point) - low.w
        let inside = high.w > 0 ? high.w - greatestDistance(to: point) : 0
        return Double(max(outside, inside, 0))
    }
}

extension SIMD4<Float> {
    fileprivate func replacing(w value: Float) -> SIMD4<Float> {
        var copy = self
        copy.w = value
        return copy
    }
}

extension Vector {
    /// The place on a space-filling curve: neighbours in the list are neighbours on Earth.
    ///
    /// Hilbert's curve, on the faces of a cube around the Earth.
    var curvePosition: UInt64 {
        let (large, face, u, v) =
            x.magnitude >= y.magnitude && x.magnitude >= z.magnitude
            ? (x, x < 0 ? 1 : 0, y, z)
            : y.magnitude >= z.magnitude ? (y, y < 0 ? 3 : 2, x, z) : (z, z < 0 ? 5 : 4, x, y)
        func scaled(_ part: Double) -> UInt64 {
            UInt64(min(max((part / max(large.magnitude, 1) + 1) / 2, 0), 1) * 16_777_215)
        }
        var (a, b) = (scaled(u), scaled(v))
        var place: UInt64 = 0
        var side: UInt64 = 1 << 23
        while side > 0 {
            let right: UInt64 = a & side > 0 ? 1 : 0
            let up: UInt64 = b & side > 0 ? 1 : 0
            place += side * side * (3 * right ^ up)
            if up == 0 {
                if right == 1 { (a, b) = (16_777_215 - a, 16_777_215 - b) }
                swap(&a, &b)
            }
            side >>= 1
        }
        return UInt64(face) << 48 | place
    }
}
