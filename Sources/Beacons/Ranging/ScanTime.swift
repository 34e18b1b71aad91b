/// What time it is for a scan, and how it waits; injected, so that no test sleeps and a replay may hurry.
public struct ScanTime: Sendable {
    /// The present, on the clock that the packets' times are of.
    public let now: @Sendable () -> Timestamp
    /// What the pauses between ticks are measured on.
    public let clock: any Clock<Duration>

    public init(now: @escaping @Sendable () -> Timestamp, clock: any Clock<Duration>) {
        self.now = now
        self.clock = clock
    }

    /// The machine's own clocks.
    public static let system = ScanTime(now: { Timestamp.now() }, clock: ContinuousClock())

    /// Calls `body` once an interval until it answers false or the task is cancelled. Intervals that were slept through
    /// are left out.
    func everyInterval<C: Clock>(
        _ interval: Duration, of clock: C, _ body: @Sendable (Timestamp) async -> Bool
    ) async where C.Duration == Duration {
        var deadline = clock.now
        repeat {
            deadline = max(deadline.advanced(by: interval), clock.now)
            do { try await clock.sleep(until: deadline, tolerance: nil) } catch { return }
        } while await body(now())
    }
}
