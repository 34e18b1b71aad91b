/// Whether one is inside a region.
public enum RegionState: String, Sendable, Hashable, Codable {
    /// Nothing was heard so far, and not long enough listened.
    case unknown
    case inside
    case outside
}
