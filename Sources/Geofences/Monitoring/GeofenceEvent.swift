#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A region was entered, left, or stayed in.
public struct GeofenceEvent: Sendable, Hashable, Codable {
    public let kind: Kind
    /// The region's ``Geofence/id``.
    public let region: String
    /// The fix that decided.
    public let fix: Fix
    /// The distance of the fix to the region's edge, in metres. Negative inside, positive outside.
    public let distanceToEdge: Double
    /// The time of the first of the fixes that agree. It says when the edge was crossed, as far as is known. For a
    /// dwell event, when the visit began.
    public let since: Date

    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        case enter, exit, dwell
    }
}

/// What a monitor did with a fix.
public enum FixOutcome: Sendable, Hashable {
    /// The fix counts; the events are ordered as the regions are.
    case accepted([GeofenceEvent])
    case ignored(IgnoredFix)

    /// The events; none for an ignored fix.
    public var events: [GeofenceEvent] {
        if case .accepted(let events) = self { events } else { [] }
    }
}

/// Why a fix does not count.
public enum IgnoredFix: String, Sendable, Hashable, Codable, Error {
    /// Measured longer ago than ``GeofenceMonitor/Configuration/maximumAge``.
    case stale
    /// Measured later than the present. The difference is more than ``GeofenceMonitor/Configuration/maximumAge``.
    case future
    /// Not later than the previous fix.
    case outOfOrder
    /// Too far from the previous fix to be reached in the time. It counts if the next one confirms it.
    case teleport
}
