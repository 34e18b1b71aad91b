#if canImport(CoreLocation) && (os(iOS) || os(macOS))
import CoreLocation
public import Geofences

/// Has the system monitor a ``RegionSelection``, also while the app does not run.
///
/// Create it at every launch, with the same name and as early as possible: a launch that a region caused delivers its event then. A
/// monitor holds conditions of its own name only, so regions of other owners are neither seen nor stopped. The system takes 20
/// conditions for an app (``RegionSelection/appleLimit``) and needs ``LocationPermission/always``.
public struct RegionRegistration: Sendable {
    private let monitor: CLMonitor

    /// What the system reports of a region.
    public enum Event: Sendable, Hashable {
        case entered(String)
        case left(String)
        /// The system cannot tell, for want of permission for instance.
        case unknown(String)
    }

    public init(name: String = "handshake.places") async { monitor = await CLMonitor(name) }

    /// The regions that the system monitors under this name.
    public var registered: [Geofence] {
        get async {
            var found: [Geofence] = []
            for identifier in await monitor.identifiers {
                guard let record = await monitor.record(for: identifier),
                    let condition = record.condition as? CLMonitor.CircularGeographicCondition,
                    let center = try? Coordinate(
                        latitude: condition.center.latitude, longitude: condition.center.longitude),
                    let circle = try? Circle(center: center, radius: condition.radius),
                    let geofence = try? Geofence(id: identifier, .circle(circle))
                else { continue }
                found.append(geofence)
            }
            return found
        }
    }

    /// Starts and stops regions until the system monitors the selection. Areas that are no circles are left out: the system
    /// knows only circles, and a ``GeofenceMonitor`` evaluates the others.
    public func register(_ selection: RegionSelection) async {
        let (stop, start) = selection.changes(from: await registered, isOwned: { _ in true })
        for identifier in stop { await monitor.remove(identifier) }
        for geofence in start {
            guard case .circle(let circle) = geofence.shape else { continue }
            let condition = CLMonitor.CircularGeographicCondition(
                center: CLLocationCoordinate2D(
                    latitude: circle.center.latitude, longitude: circle.center.longitude),
                radius: circle.radius)
            await monitor.add(condition, identifier: geofence.id, assuming: .unsatisfied)
        }
    }

    /// Calls `body` for each event, in order, until the task is cancelled.
    ///
    /// - Throws: what the system or `body` throws; `CancellationError`.
    public func run(_ body: @Sendable (Event) async throws -> Void) async throws {
        for try await event in await monitor.events {
            switch event.state {
            case .satisfied: try await body(.entered(event.identifier))
            case .unsatisfied: try await body(.left(event.identifier))
            default: try await body(.unknown(event.identifier))
            }
        }
        try Task.checkCancellation()
    }
}
#endif
