/// Makes a line of times that never goes back out of a clock that may, and tells when it leapt (dossier 6).
struct SteadyTimeline {
    /// A step of more than this, either way, is a leap: the machine slept, or somebody set the clock.
    let leap: Duration
    /// The latest time so far.
    private(set) var now: Timestamp?
    /// When the last leap was over; nil without one.
    private(set) var resumed: Timestamp?
    /// What is added to the clock's times, since it was set back.
    private var offset = Duration.zero

    init(leap: Duration) {
        self.leap = leap
    }

    /// The time on the line for one on the clock. Small steps back count as no step.
    mutating func advance(to time: Timestamp) -> Timestamp {
        var time = time.advanced(by: offset)
        guard let now else {
            self.now = time
            return time
        }
        let step = now.duration(to: time)
        if step < .zero - leap {
            offset += .zero - step
            time = now
            resumed = now
        } else if step > leap {
            resumed = time
        }
        time = max(time, now)
        self.now = time
        return time
    }
}
