#if canImport(CoreLocation) && (os(iOS) || os(macOS) || os(visionOS))
import AsyncSupport
import CoreLocation
import Foundation
import Geofences

/// Where the user arrives and leaves, as Core Location notices visits. They come late, by minutes, but with little
/// power, and also while the app does not run.
///
/// Iterate it from every launch on: a launch that a visit caused delivers it then. It needs
/// ``LocationPermission/always``. Give the fixes to ``RegionCoordinator/receive(_:)``.
public struct VisitSource: PositionSource {
    public init() {}

    public func updates() -> AsyncThrowingStream<PositionUpdate, any Error> {
        AsyncThrowingStream(reportedBy: { report in try await VisitScan.run(report) })
    }
}

/// On the main actor, because Core Location calls back on its run loop.
@MainActor
private final class VisitScan: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let report: @Sendable (PositionUpdate) -> Void

    private init(_ report: @escaping @Sendable (PositionUpdate) -> Void) { self.report = report }

    /// Reports visits until the task is cancelled.
    static func run(_ report: @escaping @Sendable (PositionUpdate) -> Void) async throws {
        let scan = VisitScan(report)
        scan.manager.delegate = scan
        defer {
            scan.manager.stopMonitoringVisits()
            scan.manager.delegate = nil
        }
        try await suspendUntilCancelled()
    }

    /// Also called once at the start.
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        switch manager.authorizationStatus {
        case .notDetermined: break
        case .authorizedAlways: manager.startMonitoringVisits()
        default:
            report(.unavailable(.notAuthorized(reason: "visits need the permission “Always”. Allow it in Settings")))
        }
    }

    func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
        if let fix = Fix(visit) { report(.fix(fix)) }
    }
}

extension Fix {
    /// A visit: the time is the departure, or before it is known the arrival. Nil for a visit without either.
    init?(_ visit: CLVisit) {
        guard
            let time = [visit.departureDate, visit.arrivalDate].first(where: {
                $0 != .distantFuture && $0 != .distantPast
            }),
            let coordinate = try? Coordinate(
                latitude: visit.coordinate.latitude, longitude: visit.coordinate.longitude)
        else { return nil }
        try? self.init(coordinate, accuracy: visit.horizontalAccuracy, time: time)
    }
}
#endif
