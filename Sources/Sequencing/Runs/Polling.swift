/// The intervals and the deadline of polling (dossier 9.4).
public struct Polling: Sendable {
    /// The pause before the first poll; 1 second.
    public var firstInterval: Duration
    /// The longest pause; 5 seconds.
    public var longestInterval: Duration
    /// The factor by which each pause grows; 1.5.
    public var growth: Double
    /// The largest random share by which a pause is shortened, so that clients do not poll in step; 0.2.
    public var jitter: Double
    /// The total time; 120 seconds.
    public var deadline: Duration
    /// Random numbers from 0 up to 1.
    public var chance: @Sendable () -> Double

    public init(
        firstInterval: Duration = .seconds(1), longestInterval: Duration = .seconds(5), growth: Double = 1.5,
        jitter: Double = 0.2, deadline: Duration = .seconds(120),
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.firstInterval = firstInterval
        self.longestInterval = longestInterval
        self.growth = growth
        self.jitter = jitter
        self.deadline = deadline
        self.chance = chance
    }

    /// The pause before the poll with this number, counted from 0, without jitter.
    func interval(_ number: Int) -> Duration {
        var interval = min(firstInterval, longestInterval)
        for _ in 0..<min(number, 64) where interval < longestInterval {
            interval = min(interval * max(growth, 1), longestInterval)
        }
        return interval
    }

    /// Starts a wait on a clock.
    func start(on clock: any Clock<Duration>) -> Wait {
        Wait(self, elapsed: Self.stopwatch(clock))
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> Stopwatch {
        let start = clock.now
        return Stopwatch(elapsed: { start.duration(to: clock.now) }, sleep: { try await clock.sleep(for: $0) })
    }
}

/// Measures the time since a start, on a clock.
struct Stopwatch: Sendable {
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
}

/// The pauses of one wait, up to its deadline.
struct Wait: Sendable {
    private let polling: Polling
    private let stopwatch: Stopwatch
    private(set) var count = 0

    init(_ polling: Polling, elapsed stopwatch: Stopwatch) {
        self.polling = polling
        self.stopwatch = stopwatch
    }

    /// Sleeps until the next poll is due, or until the deadline, which allows one last poll.
    ///
    /// - Returns: false, without sleeping, when the deadline has passed.
    mutating func pause() async throws -> Bool {
        let left = polling.deadline - stopwatch.elapsed()
        guard left > .zero else { return false }
        let whole = polling.interval(count)
        let share = min(max(polling.jitter, 0), 1) * min(max(polling.chance(), 0), 1)
        count += 1
        try await stopwatch.sleep(min(whole * (1 - share), left))
        return true
    }
}
