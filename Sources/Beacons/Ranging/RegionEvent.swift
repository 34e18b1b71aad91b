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

/// Whether one is inside a region.
public enum RegionState: String, Sendable, Hashable, Codable {
    /// Nothing was heard so far, and not long enough listened.
    case unknown
    case inside
    case outside
}

/// What is unusual about a set of regions, and works all the same.
public enum RegionNotice: Sendable, Hashable, CustomStringConvertible {
    /// More than iOS lets an app monitor.
    case manyRegions(Int)

    public var description: String {
        switch self {
        case .manyRegions(let count):
            "\(count) regions are monitored; iOS allows \(RegionMonitor.mostOnApple) an app, so one wildcard region is better"
        }
    }
}
