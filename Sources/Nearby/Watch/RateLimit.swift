/// A rate limit: a burst, then one event per interval (token bucket). A pure value.
struct RateLimit: Sendable {
    private let burst: Int
    private let interval: Duration
    private var tokens: Int
    /// When the current interval began.
    private var begin: Duration?

    /// - Parameters:
    ///   - burst: how many events are allowed immediately.
    ///   - interval: the time after which one more event is allowed.
    init(burst: Int, interval: Duration) {
        self.burst = burst
        self.interval = interval
        tokens = burst
    }

    /// Takes a token; false when there is none.
    mutating func take(at instant: Duration) -> Bool {
        refill(at: instant)
        guard tokens > 0 else { return false }
        tokens -= 1
        return true
    }

    /// Returns an unused token.
    mutating func returnToken() {
        tokens = min(tokens + 1, burst)
    }

    private mutating func refill(at instant: Duration) {
        guard let begin, tokens < burst else {
            begin = instant
            return
        }
        let intervals = Int((instant - begin) / interval)
        guard intervals > 0 else { return }
        tokens = min(tokens + min(intervals, burst), burst)
        self.begin = begin + interval * intervals
    }
}
