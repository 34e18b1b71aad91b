/// What happens at the borders of regions (dossier 6).
public enum RegionEvent: Sendable, Hashable {
    /// The first beacon of a region was heard. Comes once, until the region was left.
    case entered(Region, by: BeaconIdentity, at: Timestamp)
    /// No beacon of the region was heard for the exit period. Comes once.
    case exited(Region, at: Timestamp)
    /// A beacon of any watched region is heard.
    case appeared(BeaconIdentity, at: Timestamp)
    /// A beacon that appeared was not heard for the exit period, or made room for others.
    case disappeared(BeaconIdentity, at: Timestamp)
}
