/// Every person whose beacon was heard recently, as of one tick.
public struct SightingList: Sendable, Hashable {
    /// Seconds since 1970, on the calendar clock, which can jump.
    public let time: Double
    /// The same moment on a monotonic clock.
    public let instant: Duration
    public let sightings: [Sighting]

    /// Creates the list of one tick.
    public init(time: Double, instant: Duration, sightings: [Sighting]) {
        self.time = time
        self.instant = instant
        self.sightings = sightings
    }
}
