#if Sandbox
import Foundation

/// A shape in a square from 0 to 1, as the distance of a point to its edge: negative inside, y downwards.
struct Shape: Sendable {
    let distance: @Sendable (_ x: Double, _ y: Double) -> Double

    static func circle(_ x: Double, _ y: Double, _ radius: Double) -> Shape {
        Shape { hypot($0 - x, $1 - y) - radius }
    }

    /// A box around a centre with rounded corners.
    static func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double, corner: Double = 0.02) -> Shape {
        Shape {
            let (right, below) = (abs($0 - x) - width / 2 + corner, abs($1 - y) - height / 2 + corner)
            return hypot(max(right, 0), max(below, 0)) + min(max(right, below), 0) - corner
        }
    }

    /// A line with round ends, as thick as twice the radius.
    static func line(_ a: (Double, Double), _ b: (Double, Double), _ radius: Double) -> Shape {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1)
        return Shape {
            let part = min(max((($0 - a.0) * dx + ($1 - a.1) * dy) / (dx * dx + dy * dy), 0), 1)
            return hypot($0 - a.0 - part * dx, $1 - a.1 - part * dy) - radius
        }
    }

    /// A triangle; its corners are in clockwise order.
    static func triangle(_ corners: (Double, Double)...) -> Shape {
        Shape { x, y in
            corners.indices.map { index in
                let (a, b) = (corners[index], corners[(index + 1) % corners.count])
                let length = hypot(b.0 - a.0, b.1 - a.1)
                return ((b.1 - a.1) * (x - a.0) - (b.0 - a.0) * (y - a.1)) / length
            }.max() ?? 1
        }
    }

    /// A leaf from its stalk to its tip: where two circles meet.
    static func leaf(_ stalk: (Double, Double), _ tip: (Double, Double), bulge: Double = 0.3) -> Shape {
        let (dx, dy) = (tip.0 - stalk.0, tip.1 - stalk.1)
        let length = hypot(dx, dy)
        // The further the centres lie beside the leaf, the thinner it is.
        let beside = length * (0.25 / bulge - bulge) / 2
        let radius = hypot(length / 2, beside)
        let (x, y) = ((stalk.0 + tip.0) / 2, (stalk.1 + tip.1) / 2)
        let (aside, along) = (-dy / length * beside, dx / length * beside)
        return circle(x + aside, y + along, radius).meeting(circle(x - aside, y - along, radius))
    }

    /// Repeated around the centre of the square.
    func repeated(_ count: Int) -> Shape {
        let step = 2 * Double.pi / Double(count)
        return Shape { x, y in
            let angle = atan2(y - 0.5, x - 0.5)
            let folded = angle - (angle / step).rounded() * step
            let length = hypot(x - 0.5, y - 0.5)
            return distance(0.5 + length * cos(folded), 0.5 + length * sin(folded))
        }
    }

    /// Wherever one of the shapes is.
    static func any(_ shapes: Shape...) -> Shape {
        Shape { x, y in shapes.lazy.map { $0.distance(x, y) }.min() ?? 1 }
    }

    /// Where both shapes are.
    func meeting(_ other: Shape) -> Shape { Shape { max(distance($0, $1), other.distance($0, $1)) } }

    /// Without what another shape covers.
    func without(_ other: Shape) -> Shape { Shape { max(distance($0, $1), -other.distance($0, $1)) } }
}
#endif
