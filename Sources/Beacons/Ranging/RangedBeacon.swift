/// A beacon in range, as of one tick.
public struct RangedBeacon: Sendable, Hashable {
    public let identity: BeaconIdentity
    /// The filtered signal strength in dBm; nil when no packet of late had one.
    public let rssi: Double?
    /// The strength of its last packet; nil when the receiver could not measure it.
    public let lastRSSI: RSSI?
    /// A guess in metres, for order and not for position; nil when it is unknown (dossier 5.2).
    public let metres: Double?
    public let proximity: Proximity
    /// When its last packet was received, on the clock of the packets.
    public let lastSeen: Timestamp
    /// How many packets were heard since it came into range.
    public let packets: Int
}
