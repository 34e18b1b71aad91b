public import Beacons
public import Circles

/// A person's beacon, as heard at one tick.
public struct Sighting: Sendable, Hashable {
    public let person: UserNumber
    /// Seconds since 1970, on the calendar clock, which can jump.
    public let time: Double
    /// The same moment on a monotonic clock, relative to a fixed moment of this run.
    public let instant: Duration
    /// The estimated distance in metres; nil when the beacon carries too little data. Beyond a few metres it is noise.
    public let distance: Double?
    /// The distance's range, smoothed. Rough where the distance is nil.
    public let proximity: Proximity
    /// The smoothed signal strength in dBm; nil when unknown.
    ///
    /// It is unknown when it was not measured, and when two transmitters send the identifier.
    public let rssi: Double?
    /// How sure it is who it is; any sender can use a plain number.
    public let trust: Trust
    /// The circle whose keys recognised the person.
    ///
    /// Nil for a friend, and for a plain number, which any device can send.
    public let circle: CircleScope?
    /// Whether two transmitters send the identifier at the same time.
    ///
    /// One of them may relay it. The distance is unknown then.
    public let isRelayed: Bool
    /// The addresses that sent it, the newest last; empty if none are reported.
    public let transmitters: [DeviceAddress]
    /// For how long the person had been heard when the identifier was confirmed.
    ///
    /// Zero but for a four-byte identifier, which counts from its second window on (beacons dossier 8.4).
    public let unconfirmed: Duration

    /// Creates a sighting. A negative distance or NaN counts as unknown.
    ///
    /// - Parameters:
    ///   - person: the number that the beacon claims.
    ///   - time: seconds since 1970.
    ///   - instant: the same moment on a monotonic clock.
    ///   - distance: metres, smoothed; nil when unknown.
    ///   - proximity: nil derives it from the distance.
    ///   - rssi: the smoothed signal strength in dBm; nil when it was not measured.
    ///   - trust: how sure it is who it is.
    ///   - circle: the circle whose keys recognised the person.
    ///   - isRelayed: whether two transmitters send the identifier; always true where their addresses are given.
    ///   - transmitters: the addresses that sent the identifier, the newest last, if the radio reports them.
    ///   - unconfirmed: for how long the person had been heard before.
    public init(
        of person: UserNumber, at time: Double, instant: Duration, distance: Double? = nil,
        proximity: Proximity? = nil, rssi: Double? = nil, trust: Trust = .unverified, circle: CircleScope? = nil,
        isRelayed: Bool = false, transmitters: [DeviceAddress] = [], unconfirmed: Duration = .zero
    ) {
        let isRelayed = isRelayed || transmitters.count > 1
        self.person = person
        self.time = time
        self.instant = instant
        self.distance = isRelayed ? nil : distance.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        self.proximity = isRelayed ? .unknown : proximity ?? Proximity(metres: self.distance)
        self.rssi = isRelayed ? nil : rssi.flatMap { $0.isFinite ? $0 : nil }
        self.trust = trust
        self.circle = circle
        self.isRelayed = isRelayed
        self.transmitters = transmitters
        self.unconfirmed = max(.zero, unconfirmed)
    }
}

extension Sighting {
    /// The distance, a rough one where the sender states no power, in metres; for order only. Infinite without a signal.
    var estimatedDistance: Double { distance ?? DistanceFormula.standard.roughMetres(rssi: rssi) ?? .infinity }
}
