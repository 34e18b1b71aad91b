import AsyncSupport

/// How idempotent reads are retried (dossier 3).
///
/// After status 429, a server error (5xx) or a lost connection, the pause is the value of `Retry-After`, or else 1, 2, 4 … 60
/// seconds with jitter.
public struct RetryPolicy: Sendable {
    /// The pause before the first retry. Default: 1 second.
    public var firstPause: Duration
    /// The longest pause without `Retry-After`. Default: 60 seconds.
    public var maximumPause: Duration
    /// The largest random share by which a pause is shortened. It stops clients from retrying in step. Default: 0.5.
    public var jitter: Double
    /// The total time for all attempts. When the next pause would end later, the failure is thrown immediately. Default: 90 seconds.
    public var timeout: Duration
    /// Random numbers from 0 up to 1.
    public var random: @Sendable () -> Double

    public init(
        firstPause: Duration = .seconds(1), maximumPause: Duration = .seconds(60), jitter: Double = 0.5,
        timeout: Duration = .seconds(90), random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.firstPause = firstPause
        self.maximumPause = maximumPause
        self.jitter = jitter
        self.timeout = timeout
        self.random = random
    }

    /// No retries.
    public static let never = RetryPolicy(timeout: .zero)

    /// The pause before the retry with this number, counted from 0.
    func pause(_ number: Int) -> Duration {
        let whole = BackOff(first: firstPause, longest: maximumPause).pause(afterFailures: number + 1)
        let share = min(max(jitter, 0), 1) * min(max(random(), 0), 1)
        return whole * (1 - share)
    }
}
