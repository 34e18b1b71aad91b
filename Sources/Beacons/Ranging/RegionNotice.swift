/// A limit of another platform that a set of regions exceeds.
public enum RegionNotice: Sendable, Hashable, CustomStringConvertible {
    /// More than iOS monitors for one app.
    case manyRegions(Int)

    public var description: String {
        switch self {
        case .manyRegions(let count):
            "\(count) regions are monitored; iOS allows \(RegionMonitor.maximumOnApple) per app. Use one wildcard region instead"
        }
    }
}
