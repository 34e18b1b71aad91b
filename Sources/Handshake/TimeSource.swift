#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What time it is, and how one waits; injected, so that no test sleeps.
public struct TimeSource: Sendable {
    /// Seconds since 1970, by the machine's calendar clock.
    public let now: @Sendable () -> Double
    /// What deadlines and waits are measured on.
    public let clock: any Clock<Duration>

    public init(now: @escaping @Sendable () -> Double, clock: any Clock<Duration>) {
        self.now = now
        self.clock = clock
    }

    /// The machine's own clocks.
    public static let system = TimeSource(
        now: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        },
        clock: ContinuousClock())
}
