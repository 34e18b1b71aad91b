/// Where text stands in the picture, so that none is written over another. Letters are 30 units high.
struct MapLabels: Sendable {
    private var rows: [Int: [(y: Double, from: Double, to: Double)]] = [:]

    private static let lineHeight = 38.0

    /// Takes the place of a text, whatever stands there.
    mutating func take(from: Double, to: Double, baseline y: Double) {
        rows[row(of: y), default: []].append((y, from, to))
    }

    /// Takes the first of the places that is free.
    ///
    /// - Returns: the baseline of that place; nil when none is free.
    mutating func takeFirstFree(from: Double, to: Double, baselines: [Double]) -> Double? {
        guard let y = baselines.first(where: { isFree(from: from, to: to, baseline: $0) }) else { return nil }
        take(from: from, to: to, baseline: y)
        return y
    }

    private func isFree(from: Double, to: Double, baseline y: Double) -> Bool {
        (-1...1).allSatisfy { step in
            rows[row(of: y) + step, default: []].allSatisfy { other in
                other.to <= from || to <= other.from || (other.y - y).magnitude >= Self.lineHeight
            }
        }
    }

    private func row(of y: Double) -> Int { Int((min(max(y, -1e6), 1e6) / Self.lineHeight).rounded(.down)) }
}
