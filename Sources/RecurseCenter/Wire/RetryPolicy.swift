/// How idempotent reads are retried (dossier 3).
///
/// After status 429, a server error (5xx) or a lost connection, the pause is the value of `Retry-After`, or else 1, 2, 4 … 60
/// seconds with jitter.
public struct RetryPolicy: Sendable {
    /// The pause before the first retry; 1 second.
    public var firstPause: Duration
    /// The longest pause without `Retry-After`; 60 seconds.
    public var longestPause: Duration
    /// The largest random share by which a pause is shortened, so that clients do not retry in step; 0.5.
    public var jitter: Double
    /// The total time for all attempts; 90 seconds. When the next pause would end later, the failure is thrown immediately.
    public var deadline: Duration
    /// Random numbers from 0 up to 1.
    public var chance: @Sendable () -> Double

    public init(
        firstPause: Duration = .seconds(1), longestPause: Duration = .seconds(60), jitter: Double = 0.5,
        deadline: Duration = .seconds(90), chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.firstPause = firstPause
        self.longestPause = longestPause
        self.jitter = jitter
        self.deadline = deadline
        self.chance = chance
    }

    /// No retries.
    public static let never = RetryPolicy(deadline: .zero)

    /// The pause before the retry with this number, counted from 0.
    func pause(_ number: Int) -> Duration {
        var whole = min(firstPause, longestPause)
        for _ in 0..<min(number, 64) where whole < longestPause { whole = min(whole * 2, longestPause) }
        let share = min(max(jitter, 0), 1) * min(max(chance(), 0), 1)
        return whole * (1 - share)
    }
}
