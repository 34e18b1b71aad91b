/// The intervals and the timeout of polling (dossier 9.4).
public struct Polling: Sendable {
    /// The pause before the first poll. Default: 1 second.
    public var firstInterval: Duration
    /// The longest pause. Default: 5 seconds.
    public var maximumInterval: Duration
    /// The factor by which each pause grows. Default: 1.5.
    public var growth: Double
    /// The largest random share by which a pause is shortened. It stops clients from polling in step. Default: 0.2.
    public var jitter: Double
    /// The total time. Default: 120 seconds.
    public var timeout: Duration
    /// How long a poll may go on after the total time, for the one at its end. Default: 5 seconds.
    public var lastPoll: Duration
    /// Random numbers from 0 up to 1.
    public var random: @Sendable () -> Double

    public init(
        firstInterval: Duration = .seconds(1), maximumInterval: Duration = .seconds(5), growth: Double = 1.5,
        jitter: Double = 0.2, timeout: Duration = .seconds(120), lastPoll: Duration = .seconds(5),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.firstInterval = firstInterval
        self.maximumInterval = maximumInterval
        self.growth = growth
        self.jitter = jitter
        self.timeout = timeout
        self.lastPoll = lastPoll
        self.random = random
    }

    /// The pause before the poll with this number, counted from 0, without jitter.
    func interval(_ number: Int) -> Duration {
        var interval = min(firstInterval, maximumInterval)
        for _ in 0..<min(number, 64) where interval < maximumInterval {
            interval = min(interval * max(growth, 1), maximumInterval)
        }
        return interval
    }

    /// Starts a wait on a clock.
    func start(on clock: any Clock<Duration>) -> Wait {
        Wait(self, stopwatch: Self.stopwatch(clock))
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> Stopwatch {
        let start = clock.now
        return Stopwatch(elapsed: { start.duration(to: clock.now) }, sleep: { try await clock.sleep(for: $0) })
    }
}

/// Measures the time since a start, and sleeps, on a clock.
struct Stopwatch: Sendable {
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
}

/// The pauses of one wait, up to its timeout.
struct Wait: Sendable {
    private let polling: Polling
    private let stopwatch: Stopwatch
    private(set) var count = 0

    init(_ polling: Polling, stopwatch: Stopwatch) {
        self.polling = polling
        self.stopwatch = stopwatch
    }

    /// Returns how long a poll that begins now may take.
    var left: @Sendable () -> Duration {
        { [polling, stopwatch] in polling.timeout + polling.lastPoll - stopwatch.elapsed() }
    }

    /// Sleeps until the next poll is due, or until the deadline, which allows one last poll.
    ///
    /// - Returns: false, without sleeping, when the timeout has passed.
    mutating func pause() async throws -> Bool {
        let left = polling.timeout - stopwatch.elapsed()
        guard left > .zero else { return false }
        let whole = polling.interval(count)
        let share = min(max(polling.jitter, 0), 1) * min(max(polling.random(), 0), 1)
        count += 1
        try await stopwatch.sleep(min(whole * (1 - share), left))
        return true
    }
}
