/// Whether the device is inside a region.
public enum RegionState: String, Sendable, Hashable, Codable {
    /// No beacon was heard, and the exit period has not passed yet.
    case unknown
    case inside
    case outside
}
