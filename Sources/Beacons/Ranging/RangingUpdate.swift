/// The result of one ranging tick, sent also when there are no beacons (dossier 6).
public struct RangingUpdate: Sendable, Hashable {
    public let time: Timestamp
    /// The beacons in range, nearest first. Those without a distance come last, by signal strength.
    public let beacons: [RangedBeacon]
    /// How many packets of other beacons of each kind were dropped so far.
    package let leftOutOfKind: [Int: Int]
}

extension RangingUpdate {
    /// How many packets of other beacons were dropped so far. They are dropped when the table is full.
    public var leftOut: Int { leftOutOfKind.values.reduce(0, +) }
}
