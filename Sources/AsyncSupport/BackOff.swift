/// The pause before the next attempt, which doubles with each failure.
package struct BackOff: Sendable, Hashable {
    /// The pause after the first failure.
    package let first: Duration
    /// The longest pause.
    package let longest: Duration

    /// - Parameters:
    ///   - first: the pause after the first failure.
    ///   - longest: the longest pause.
    package init(first: Duration, longest: Duration) {
        self.first = min(max(first, .zero), longest)
        self.longest = longest
    }

    /// The pause after so many failures in a row.
    package func pause(afterFailures count: Int) -> Duration {
        var pause = first
        for _ in 1..<min(max(count, 1), 64) where pause < longest { pause = min(pause * 2, longest) }
        return pause
    }
}
