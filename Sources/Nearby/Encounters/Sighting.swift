public import Beacons

/// A person's beacon was heard.
public struct Sighting: Sendable, Hashable {
    public let person: UserNumber
    /// Seconds since 1970, by the calendar clock, which may jump.
    public let time: Double
    /// Time since some fixed moment of this run, by a clock that never jumps.
    public let instant: Duration
    /// The estimated distance in metres, from 0; nil when the beacon says too little. Beyond a few metres it is noise.
    public let distance: Double?
    /// How near that is, steadied.
    public let proximity: Proximity

    /// Describes a sighting. A distance that is negative or not a number counts as unknown.
    ///
    /// - Parameters:
    ///   - person: who the beacon claims to be.
    ///   - time: seconds since 1970.
    ///   - instant: the same moment on the clock that never jumps.
    ///   - distance: metres, smoothed; nil when unknown.
    ///   - proximity: nil takes the distance's own.
    public init(
        of person: UserNumber, at time: Double, instant: Duration, distance: Double? = nil, proximity: Proximity? = nil
    ) {
        self.person = person
        self.time = time
        self.instant = instant
        self.distance = distance.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        self.proximity = proximity ?? Proximity(metres: self.distance)
    }
}
