/// Every person whose beacon was heard recently, as of one tick.
public struct SightingList: Sendable, Hashable {
    /// Seconds since 1970, on the calendar clock, which can jump.
    public let time: Double
    /// The same moment on a monotonic clock.
    public let instant: Duration
    public let sightings: [Sighting]
    /// How many packets of each kind of people were left out since the last tick.
    ///
    /// They are left out while more beacons keep sending than are ranged.
    public let leftOut: [Trust: Int]

    /// Creates the list of one tick.
    public init(time: Double, instant: Duration, sightings: [Sighting], leftOut: [Trust: Int] = [:]) {
        self.time = time
        self.instant = instant
        self.sightings = sightings
        self.leftOut = leftOut
    }
}
