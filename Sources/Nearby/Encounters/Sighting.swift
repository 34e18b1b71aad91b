public import Beacons

/// A person's beacon, as heard at one tick.
public struct Sighting: Sendable, Hashable {
    public let person: UserNumber
    /// Seconds since 1970, on the calendar clock, which can jump.
    public let time: Double
    /// The same moment on a monotonic clock, relative to a fixed moment of this run.
    public let instant: Duration
    /// The estimated distance in metres; nil when the beacon carries too little data. Beyond a few metres it is noise.
    public let distance: Double?
    /// The distance's range, smoothed.
    public let proximity: Proximity
    /// Whether a friend's key proves who it is; any sender can use a plain number.
    public let isVerified: Bool
    /// The sender's address, if the radio reports it.
    public let transmitter: DeviceAddress?

    /// Creates a sighting. A negative distance or NaN counts as unknown.
    ///
    /// - Parameters:
    ///   - person: the number that the beacon claims.
    ///   - time: seconds since 1970.
    ///   - instant: the same moment on a monotonic clock.
    ///   - distance: metres, smoothed; nil when unknown.
    ///   - proximity: nil derives it from the distance.
    ///   - isVerified: whether a friend's key proves who it is.
    ///   - transmitter: the sender's address, if the radio reports it.
    public init(
        of person: UserNumber, at time: Double, instant: Duration, distance: Double? = nil,
        proximity: Proximity? = nil, isVerified: Bool = false, transmitter: DeviceAddress? = nil
    ) {
        self.person = person
        self.time = time
        self.instant = instant
        self.distance = distance.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        self.proximity = proximity ?? Proximity(metres: self.distance)
        self.isVerified = isVerified
        self.transmitter = transmitter
    }
}
