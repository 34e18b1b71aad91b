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

    /// Calls `body` once an interval, of a millisecond at least, until it answers false or the task is cancelled.
    /// Intervals that were slept through are left out.
    func everyInterval<C: Clock>(
        _ interval: Duration, of clock: C, _ body: @Sendable (Timestamp) async -> Bool
    ) async where C.Duration == Duration {
        let interval = max(interval, .milliseconds(1))
        var deadline = clock.now
        repeat {
            let present = clock.now
            deadline = deadline.advanced(by: interval)
            // Late by an interval or more: ticks that were missed do not come all at once.
            if deadline <= present { deadline = present.advanced(by: interval) }
            do { try await clock.sleep(until: deadline, tolerance: nil) } catch { return }
        } while await body(now())
    }
}
