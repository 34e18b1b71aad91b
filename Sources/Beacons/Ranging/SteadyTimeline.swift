/// A monotonic timeline derived from a clock that can be set, which also detects jumps (dossier 6).
struct SteadyTimeline {
    /// A larger step in either direction is a jump: the machine slept, or the clock was set.
    let jumpThreshold: Duration
    /// The latest time so far.
    private(set) var now: Timestamp?
    /// When the last jump ended; nil without one.
    private(set) var resumed: Timestamp?
    /// Added to the clock's times, which undoes its steps back.
    private var offset = Duration.zero

    init(jumpThreshold: Duration) {
        self.jumpThreshold = jumpThreshold
    }

    /// The time on the timeline for one on the clock. Small steps back count as zero.
    mutating func advance(to time: Timestamp) -> Timestamp {
        var time = time.advanced(by: offset)
        guard let now else {
            self.now = time
            return time
        }
        let step = now.duration(to: time)
        if step < .zero - jumpThreshold {
            offset += .zero - step
            time = now
            resumed = now
        } else if step > jumpThreshold {
            resumed = time
        }
        time = max(time, now)
        self.now = time
        return time
    }
}
