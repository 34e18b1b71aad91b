/// An event of region monitoring (dossier 6).
public enum RegionEvent: Sendable, Hashable {
    /// The first beacon of a region was heard. Sent once until the region is exited.
    case entered(Region, by: BeaconIdentity, at: Timestamp)
    /// No beacon of the region was heard for the exit period. Sent once.
    case exited(Region, at: Timestamp)
    /// A beacon of a watched region is heard.
    case appeared(BeaconIdentity, at: Timestamp)
    /// A beacon is no longer tracked. It was not heard for the exit period, or was dropped to make room for others.
    case disappeared(BeaconIdentity, at: Timestamp)
}
