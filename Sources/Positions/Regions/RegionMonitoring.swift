public import Geofences

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A system that monitors a few circular regions for an app. It does so also while the app does not run. Core Location
/// is one, by `RegionRegistration`.
///
/// The system remembers the regions and keeps their crossings until the app is launched. A protocol, so that a
/// ``RegionCoordinator`` does the same on every platform and with a system made for a test.
public protocol RegionMonitoring: Sendable {
    /// How many regions the system takes for the app.
    var limit: Int { get }
    /// The greatest radius that the system takes, in metres.
    var maximumRadius: Double { get }
    /// Every region that the system monitors for the app. Those of earlier launches and of other owners are among them.
    var regions: [Geofence] { get async }
    /// Regions of which the system has not said yet whether the user is inside.
    ///
    /// With the times at which they were started, also by earlier launches. Empty unless implemented.
    var undetermined: [String: Date] { get async }

    /// Monitors a circle from now on, in place of one with the same identifier.
    ///
    /// - Parameters:
    ///   - region: a circle of at most ``maximumRadius``.
    ///   - isInside: where the user is now, which is no crossing. With nil the system finds out, and reports it as a crossing.
    func start(_ region: Geofence, isInside: Bool?) async

    /// Monitors a region no longer.
    func stop(_ id: String) async

    /// The crossings of all regions, in order. First come those that the app has not seen yet, such as the one that
    /// launched it.
    ///
    /// Their dates say when the system noticed them, which may be long before the app runs.
    func crossings() -> AsyncThrowingStream<RegionCrossing, any Error>
}

extension RegionMonitoring {
    /// Empty: the system is not asked.
    public var undetermined: [String: Date] {
        get async { [:] }
    }
}
