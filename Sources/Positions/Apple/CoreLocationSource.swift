#if canImport(CoreLocation) && (os(iOS) || os(macOS) || os(watchOS) || os(visionOS))
public import CoreLocation
import Foundation
public import Geofences

/// Positions of Core Location: live updates while the app runs.
public struct CoreLocationSource: PositionSource {
    public init() {}

    public func updates() -> AsyncThrowingStream<PositionUpdate, any Error> {
        AsyncThrowingStream(reportedBy: { report in
            for try await update in CLLocationUpdate.liveUpdates() {
                if let fix = update.location.flatMap({ Fix($0) }) {
                    report(.fix(fix))
                } else if update.authorizationDenied || update.authorizationRestricted {
                    let reason = "this app may not use it. Allow it in Settings, Privacy & Security, Location Services"
                    report(.unavailable(.notAuthorized(reason: reason)))
                } else if update.locationUnavailable {
                    report(.unavailable(.noFix))
                }
            }
        })
    }
}

extension Fix {
    /// A location of Core Location. Nil for one that is invalid, which a negative accuracy says.
    public init?(_ location: CLLocation) {
        guard
            let coordinate = try? Coordinate(
                latitude: location.coordinate.latitude, longitude: location.coordinate.longitude)
        else { return nil }
        try? self.init(
            coordinate, accuracy: location.horizontalAccuracy, time: location.timestamp,
            speed: location.speed)
    }
}

extension LocationPermission {
    /// The permission that Core Location reports.
    public init(_ status: CLAuthorizationStatus) {
        self =
            switch status {
            case .notDetermined: .notDetermined
            case .restricted: .restricted
            case .denied: .denied
            case .authorizedAlways: .always
            case .authorizedWhenInUse: .whenInUse
            @unknown default: .notDetermined
            }
    }
}
#endif
