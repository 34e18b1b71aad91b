import Synchronization

/// A time of day that is an hour later at each look.
package final class HourlyTime: Sendable {
    private let seconds: Mutex<Double>

    /// - Parameter start: in seconds since 1970.
    package init(from start: Double) { seconds = Mutex(start) }

    /// In seconds since 1970.
    package func next() -> Double {
        seconds.withLock { seconds in
            seconds += 3_600
            return seconds
        }
    }
}
