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
