/// The files to list (dossier 4.1, the flags of `DataSourceList`). Subsets can be combined: `[.uploaded, .shared]`.
public struct FileSubset: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Everything, including samples: one request for all tabs of a selector.
    public static let all = FileSubset(rawValue: 1 << 0)
    /// The service's sample files.
    public static let sample = FileSubset(rawValue: 1 << 1)
    /// The user's uploads.
    public static let uploaded = FileSubset(rawValue: 1 << 2)
    /// Shared with the user.
    public static let shared = FileSubset(rawValue: 1 << 3)
    /// Saved from apps.
    public static let fromApps = FileSubset(rawValue: 1 << 4)
    /// From altruists.
    public static let altruist = FileSubset(rawValue: 1 << 5)

    private static let flags: [(FileSubset, String)] = [
        (.all, "all"), (.sample, "sample"), (.uploaded, "uploaded"), (.shared, "shared"), (.fromApps, "fromApps"),
        (.altruist, "allWithAltruist"),
    ]

    /// The flags as a query.
    var query: String {
        Self.flags.filter { contains($0.0) }.map { "\($0.1)=true" }.joined(separator: "&")
    }
}
