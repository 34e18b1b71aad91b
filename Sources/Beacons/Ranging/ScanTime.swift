/// The clock of a scan. It is injected, so that no test sleeps and a replay can run faster.
public struct ScanTime: Sendable {
    /// The present, on the packets' clock.
    public let now: @Sendable () -> Timestamp
    /// The clock that measures the time between ticks.
    public let clock: any Clock<Duration>

    public init(now: @escaping @Sendable () -> Timestamp, clock: any Clock<Duration>) {
        self.now = now
        self.clock = clock
    }

    /// The machine's clocks.
    public static let system = ScanTime(now: { Timestamp.now() }, clock: ContinuousClock())

    /// Calls `body` once per interval, of a millisecond at least, until it returns false or the task is cancelled.
    /// Skips missed intervals.
    func everyInterval<C: Clock>(
        _ interval: Duration, of clock: C, _ body: @Sendable (Timestamp) async -> Bool
    ) async where C.Duration == Duration {
        let interval = max(interval, .milliseconds(1))
        var deadline = clock.now
        repeat {
            let present = clock.now
            deadline = deadline.advanced(by: interval)
            // Late by an interval or more: missed ticks are not caught up.
            if deadline <= present { deadline = present.advanced(by: interval) }
            do { try await clock.sleep(until: deadline, tolerance: nil) } catch { return }
        } while await body(now())
    }
}
