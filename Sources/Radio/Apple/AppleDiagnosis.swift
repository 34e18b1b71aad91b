#if canImport(CoreBluetooth) && canImport(CoreLocation) && (os(iOS) || os(macOS) || CHECK_APPLE_ADAPTERS)
import Beacons
import CoreBluetooth
import CoreLocation
import Foundation

extension AppleRadio {
    /// The keys that Info.plist needs, with what each is for (dossier 7.1).
    static let keys = [
        ("NSBluetoothAlwaysUsageDescription", "Bluetooth"),
        ("NSLocationWhenInUseUsageDescription", "ranging beacons"),
    ]

    /// Looks at everything that scanning and advertising need; the user is not asked for anything.
    @MainActor
    public func diagnosis() -> RadioDiagnosis {
        var findings = Self.keys.map { key, use in
            Bundle.main.object(forInfoDictionaryKey: key) == nil
                ? RadioDiagnosis.Finding(
                    .permission, .missing, "Info.plist does not say why this app uses \(use)",
                    cure: "add \(key); a command embeds an Info.plist in a section of its executable")
                : RadioDiagnosis.Finding(.permission, .good, "Info.plist says why this app uses \(use)")
        }
        findings.append(bluetooth)
        findings.append(contentsOf: ranging)
        findings.append(
            .init(
                .advertising, .limited, "beacons are sent only while the app is in front and the screen is on",
                cure: "keep the app open; a stationary beacon goes on by itself"))
        return RadioDiagnosis(findings)
    }

    private var bluetooth: RadioDiagnosis.Finding {
        switch CBManager.authorization {
        case .allowedAlways: .init(.permission, .good, "this app may use Bluetooth")
        case .notDetermined: .init(.permission, .unknown, "the user was not asked yet for Bluetooth")
        default: .init(.permission, .notPermitted(reason: "this app may not use Bluetooth"))
        }
    }

    @MainActor
    private var ranging: [RadioDiagnosis.Finding] {
        guard CLLocationManager.isRangingAvailable() else {
            return [
                .init(
                    .scanning, .limited, "this device does not range; what Core Bluetooth shows is heard instead")
            ]
        }
        let permission: RadioDiagnosis.Finding =
            switch CLLocationManager().authorizationStatus {
            case .authorizedAlways: .init(.permission, .good, "this app may use the location always")
            case .authorizedWhenInUse:
                .init(
                    .permission, .limited, "this app may use the location while it is in use",
                    cure: "allow it always, so that it is woken when somebody comes near")
            case .notDetermined: .init(.permission, .unknown, "the user was not asked yet for the location")
            default: .init(.permission, .notPermitted(reason: "this app may not use the location"))
            }
        return [permission, .init(.scanning, .good, "this device ranges beacons")]
    }
}
#endif
