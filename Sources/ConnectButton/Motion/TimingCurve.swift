/// A cubic Bézier curve from (0, 0) to (1, 1), as in CSS and SwiftUI: the progress of an animation over time.
struct TimingCurve: Sendable, Hashable {
    let x1: Double
    let y1: Double
    let x2: Double
    let y2: Double

    /// Creates a curve from its two control points.
    ///
    /// - Parameters:
    ///   - x1: The first point's time, clamped to 0…1, because time cannot decrease.
    ///   - y1: The first point's progress.
    ///   - x2: The second point's time, clamped likewise.
    ///   - y2: The second point's progress.
    init(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
        self.x1 = min(max(x1, 0), 1)
        self.y1 = y1
        self.x2 = min(max(x2, 0), 1)
        self.y2 = y2
    }

    /// The progress, to better than a millionth.
    ///
    /// - Parameter time: The elapsed fraction of the duration; before 0 the progress is 0, after 1 it is 1.
    func progress(at time: Double) -> Double {
        guard time > 0 else { return 0 }
        guard time < 1 else { return 1 }
        // Time increases along the curve, so bisection finds the place.
        var (low, high) = (0.0, 1.0)
        for _ in 0..<40 {
            let middle = (low + high) / 2
            if Self.value(x1, x2, at: middle) < time { low = middle } else { high = middle }
        }
        return Self.value(y1, y2, at: (low + high) / 2)
    }

    private static func value(_ first: Double, _ second: Double, at place: Double) -> Double {
        let left = 1 - place
        return 3 * left * left * place * first + 3 * left * place * place * second + place * place * place
    }
}

extension TimingCurve: Encodable {
    /// The four numbers, as `cubic-bezier()` takes them.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for number in [x1, y1, x2, y2] { try container.encode(number) }
    }
}
