#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A region was entered or left.
public struct RegionCrossing: Sendable, Hashable {
    /// The region's ``Geofence/id``.
    public let region: String
    public let kind: Kind
    /// When the edge was crossed, as far as is known.
    public let date: Date

    public enum Kind: String, Sendable, Hashable, Codable {
        case enter, exit
    }

    public init(_ kind: Kind, of region: String, at date: Date) {
        self.kind = kind
        self.region = region
        self.date = date
    }
}

extension RegionCrossing {
    /// The crossing that a monitor found; nil for dwelling.
    public init?(_ event: GeofenceEvent) {
        switch event.kind {
        case .enter: self.init(.enter, of: event.region, at: event.since)
        case .exit: self.init(.exit, of: event.region, at: event.since)
        case .dwell: return nil
        }
    }
}
