/// A beacon in range, as of one tick.
public struct RangedBeacon: Sendable, Hashable {
    public let identity: BeaconIdentity
    /// The filtered signal strength in dBm; nil when no recent packet had one.
    public let rssi: Double?
    /// The signal strength of the last packet. Nil when the receiver could not measure it.
    public let lastRSSI: RSSI?
    /// An estimate in metres, for ordering and not for positioning (dossier 5.2). Nil when unknown.
    public let metres: Double?
    /// The distance's range, steadied. Rough where ``metres`` is nil: a rolling identifier states no power, and a usual one is assumed.
    public let proximity: Proximity
    /// When its last packet was received, on the packets' clock.
    public let lastSeen: Timestamp
    /// How many packets were received since it came into range.
    public let packets: Int
    /// The addresses that sent it, the newest last; empty if none are reported.
    ///
    /// Beside the last one, those of the last five seconds, four in all.
    public let transmitters: [DeviceAddress]
}

extension RangedBeacon {
    /// The sender's address in its last packet, if the receiver reports it.
    public var transmitter: DeviceAddress? { transmitters.last }

    /// Whether another address sent the same identity less than five seconds before. One of the two may relay it.
    public var isHeardTwice: Bool { transmitters.count > 1 }
}
