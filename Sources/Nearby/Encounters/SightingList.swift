/// Everyone whose beacon was heard of late, as of one tick.
public struct SightingList: Sendable, Hashable {
    /// Seconds since 1970, by the calendar clock, which may jump.
    public let time: Double
    /// The same moment on a clock that never jumps.
    public let instant: Duration
    public let sightings: [Sighting]

    /// Describes a tick.
    public init(time: Double, instant: Duration, sightings: [Sighting]) {
        self.time = time
        self.instant = instant
        self.sightings = sightings
    }
}
