#if canImport(CoreBluetooth) && canImport(CoreLocation) && (os(iOS) || os(macOS))
import AsyncSupport
import Beacons
import CoreLocation
import Foundation

/// Ranges iBeacons of known UUIDs. On the main actor, because Core Location calls back on its run loop.
@MainActor
final class RangingScan: NSObject, CLLocationManagerDelegate {
    private let manager = CLLocationManager()
    private let constraints: [CLBeaconIdentityConstraint]
    private let power: Int8
    private let now: @Sendable () -> Timestamp
    private let hear: @Sendable (Advertisement) -> Void
    private let status: StatusReport

    init(
        uuids: [ProximityUUID], power: Int8, now: @escaping @Sendable () -> Timestamp,
        hear: @escaping @Sendable (Advertisement) -> Void, status: StatusReport
    ) {
        constraints = uuids.compactMap { UUID(uuidString: $0.description) }
            .map(CLBeaconIdentityConstraint.init(uuid:))
        self.power = power
        self.now = now
        self.hear = hear
        self.status = status
    }

    /// Ranges until the task is cancelled. The system prompts for permission the first time.
    func run() async throws {
        manager.delegate = self
        if manager.authorizationStatus == .notDetermined { manager.requestWhenInUseAuthorization() }
        try await suspendUntilCancelled()
    }

    func stop() {
        manager.delegate = nil
        for constraint in constraints { manager.stopRangingBeacons(satisfying: constraint) }
    }

    /// Also called once at the start.
    func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        switch manager.authorizationStatus {
        case .notDetermined: break
        case .authorizedAlways, .authorizedWhenInUse:
            for constraint in constraints { manager.startRangingBeacons(satisfying: constraint) }
            status(.listening(.ranging))
        default:
            status(.unavailable(.notPermitted(reason: "this app may not use the location, which ranging needs")))
        }
    }

    func locationManager(
        _ manager: CLLocationManager, didRange beacons: [CLBeacon],
        satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
        for beacon in beacons {
            // A beacon stays in the list for some seconds after its last packet, with an RSSI of 0: not a sighting.
            guard let rssi = RSSI(beacon.rssi), let uuid = ProximityUUID(beacon.uuid.uuidString) else { continue }
            let frame = IBeacon(
                uuid: uuid, major: beacon.major.uint16Value, minor: beacon.minor.uint16Value, power: power)
            guard let data = try? AdvertisingData([frame.structure]) else { continue }
            hear(Advertisement(time: now(), address: nil, rssi: rssi, data: data))
        }
    }

    func locationManager(
        _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
        error: any Error
    ) {
        status(.unavailable(.lost(reason: "ranging failed. Check that Bluetooth is on")))
    }
}
#endif
