#if canImport(CoreLocation) && (os(iOS) || os(macOS))
import CoreLocation
public import Foundation
public import Geofences

/// Core Location's monitor of regions, which works also while the app does not run.
///
/// Create one for each name, at every launch and as early as possible, and give it to a ``RegionCoordinator``. A monitor holds regions of
/// its own name only, so others of the app are neither seen nor stopped. It needs ``LocationPermission/always``.
public struct RegionRegistration: RegionMonitoring {
    public let limit: Int
    public let maximumRadius: Double
    private let monitor: CLMonitor

    /// - Parameters:
    ///   - name: the monitor's name, by which the system finds its regions at the next launch.
    ///   - limit: how many regions the system takes; less where the app has others monitored.
    public init(name: String = "handshake.places", limit: Int = RegionSelection.appleLimit) async {
        self.limit = limit
        let maximum = await Self.systemMaximum()
        // Negative where the system does not know.
        maximumRadius = maximum > 0 ? maximum : .infinity
        monitor = await CLMonitor(name)
    }

    @MainActor private static func systemMaximum() -> Double { CLLocationManager().maximumRegionMonitoringDistance }

    public var regions: [Geofence] {
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

    /// Regions whose last event tells nothing yet.
    ///
    /// Where the system has replaced it before the app is launched, the first word about that region counts as a crossing.
    public var undetermined: [String: Date] {
        get async {
            var found: [String: Date] = [:]
            for identifier in await monitor.identifiers {
                guard let event = await monitor.record(for: identifier)?.lastEvent, event.state == .unknown else {
                    continue
                }
                found[identifier] = event.date
            }
            return found
        }
    }

    public func start(_ region: Geofence, isInside: Bool?) async {
        guard case .circle(let circle) = region.shape else { return }
        let condition = CLMonitor.CircularGeographicCondition(
            center: CLLocationCoordinate2D(latitude: circle.center.latitude, longitude: circle.center.longitude),
            radius: circle.radius)
        guard let isInside else { return await monitor.add(condition, identifier: region.id) }
        await monitor.add(condition, identifier: region.id, assuming: isInside ? .satisfied : .unsatisfied)
    }

    public func stop(_ id: String) async { await monitor.remove(id) }

    public func crossings() -> AsyncThrowingStream<RegionCrossing, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    for try await event in await monitor.events {
                        switch event.state {
                        case .satisfied:
                            continuation.yield(RegionCrossing(.enter, of: event.identifier, at: event.date))
                        case .unsatisfied:
                            continuation.yield(RegionCrossing(.exit, of: event.identifier, at: event.date))
                        // The system cannot tell, for want of permission for instance; that is no crossing.
                        default: break
                        }
                    }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
#endif
