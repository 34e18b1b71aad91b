/// How requests that only read are repeated (dossier 3).
///
/// After status 429, a failure of the server (5xx) or a lost connection comes a pause: what `Retry-After` asks for, else 1, 2,
/// 4 … 60 seconds, of which chance takes away a part.
public struct RetryPolicy: Sendable {
    /// The pause before the first repetition; 1 second.
    public var firstPause: Duration
    /// The longest pause that is not the service's own wish; 60 seconds.
    public var longestPause: Duration
    /// How much of a pause chance takes away, so that many clients do not return at once; 0.5 is at most a half.
    public var jitter: Double
    /// How long to go on in all; 90 seconds. A pause that would end later is not begun: the failure is thrown at once.
    public var deadline: Duration
    /// Where chance comes from: numbers from 0 up to 1.
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

    /// No repetition: every failure is thrown at once.
    public static let never = RetryPolicy(deadline: .zero)

    /// The pause before the repetition with this number, from 0.
    func pause(_ number: Int) -> Duration {
        var whole = min(firstPause, longestPause)
        for _ in 0..<min(number, 64) where whole < longestPause { whole = min(whole * 2, longestPause) }
        let share = min(max(jitter, 0), 1) * min(max(chance(), 0), 1)
        return whole * (1 - share)
    }
}
