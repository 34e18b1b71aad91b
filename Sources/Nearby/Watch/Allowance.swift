/// How often something may be done: a few times at once, and then one after the other. A pure value.
struct Allowance: Sendable {
    private let most: Int
    private let interval: Duration
    private var left: Int
    /// When the present interval began.
    private var begin: Duration?

    /// - Parameters:
    ///   - most: how many at once.
    ///   - interval: after which time there is one more.
    init(atOnce most: Int, thenEvery interval: Duration) {
        self.most = most
        self.interval = interval
        left = most
    }

    /// Takes one, if there is one.
    mutating func take(at instant: Duration) -> Bool {
        refill(at: instant)
        guard left > 0 else { return false }
        left -= 1
        return true
    }

    /// Gives one back that was not used.
    mutating func giveBack() {
        left = min(left + 1, most)
    }

    private mutating func refill(at instant: Duration) {
        guard let begin, left < most else {
            begin = instant
            return
        }
        let intervals = Int((instant - begin) / interval)
        guard intervals > 0 else { return }
        left = min(left + min(intervals, most), most)
        self.begin = begin + interval * intervals
    }
}
