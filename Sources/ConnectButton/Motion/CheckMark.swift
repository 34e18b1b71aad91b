/// The check mark of *connected* (`connect-button-motion.md`, MO18): a ring grows, a dot flies in a curl to the start of the
/// tick, and the tick is drawn. The switch is already on.
struct CheckMark: Sendable, Hashable {
    /// A place, from the upper left corner of the ring's square, in points.
    struct Point: Sendable, Hashable {
        let x: Double
        let y: Double
    }

    /// The side of the ring's square. The dot flies in a square of 72 around it.
    let side = ConnectButtonGeometry.standard.checkMark
    /// The ring's opacity (IFTTT dossier 4.3).
    let ringOpacity = 0.32
    /// The corners of the tick: its arms are 7 and 14 long and meet at a right angle.
    let tick = [Point(x: 13.05, y: 21), Point(x: 18, y: 25.95), Point(x: 27.9, y: 16.05)]

    /// The standard check mark.
    static let standard = CheckMark()

    /// The dot's centre after a part of its path: from left of the centre to the left edge through the lower left corner,
    /// then to the tick through the upper left one.
    func dot(at part: Double) -> Point {
        // The flight's square has a side of 72 and the same centre.
        let (start, edge, middle) = (Point(x: 18, y: 21), (low: -15.0, high: 57.0), 21.0)
        let left = Point(x: edge.low, y: middle)
        return part < 0.5
            ? Self.curve(start, Point(x: edge.low, y: edge.high), left, at: part * 2)
            : Self.curve(left, Point(x: edge.low, y: edge.low), tick[0], at: part * 2 - 1)
    }

    private static func curve(_ from: Point, _ through: Point, _ to: Point, at part: Double) -> Point {
        func mixture(_ a: Double, _ b: Double, _ c: Double) -> Double {
            (1 - part) * (1 - part) * a + 2 * part * (1 - part) * b + part * part * c
        }
        return Point(x: mixture(from.x, through.x, to.x), y: mixture(from.y, through.y, to.y))
    }
}

extension ConnectButtonLook {
    /// Whether a change of steps is animated with the check mark: an attempt has succeeded.
    ///
    /// - Parameters:
    ///   - before: The step that was shown.
    ///   - now: The step that is shown.
    static func celebrates(from before: ConnectButtonState.Step, to now: ConnectButtonState.Step) -> Bool {
        switch before {
        case .verifying, .creatingAccount, .goingToService, .connecting: ConnectButtonLook(now).knob == .end
        default: false
        }
    }
}
