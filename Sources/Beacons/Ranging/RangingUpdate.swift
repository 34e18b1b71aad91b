/// What ranging tells at each tick, also when there is nothing (dossier 6).
public struct RangingUpdate: Sendable, Hashable {
    public let time: Timestamp
    /// The beacons in range, the nearest first; those without a distance last, by strength.
    public let beacons: [RangedBeacon]
    /// How many packets of other beacons were left out so far because there was no more room.
    public let leftOut: Int
}
