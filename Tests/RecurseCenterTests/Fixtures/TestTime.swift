import Handshake
import TestFixtures

/// A time that a test moves, and on which every pause ends immediately; it tells how long the pauses were.
struct TestTime: Sendable {
    private let start: Double
    private let clock = HurriedClock()

    /// - Parameter start: seconds since 1970; noon of the first of July 2025 in New York unless stated.
    init(_ start: Double = 1_751_385_600) {
        self.start = start
    }

    var pauses: [Duration] { clock.pauses }

    /// Seconds since its beginning.
    var elapsed: Double { clock.now.offset / .seconds(1) }

    var source: TimeSource {
        TimeSource(now: { start + elapsed }, clock: clock)
    }

    func advance(by seconds: Double) {
        clock.advance(by: .seconds(seconds))
    }
}
