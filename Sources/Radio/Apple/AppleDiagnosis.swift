#if canImport(CoreBluetooth) && canImport(CoreLocation) && (os(iOS) || os(macOS))
import Beacons
import CoreBluetooth
import CoreLocation
import Foundation

extension AppleRadio {
    /// The keys that Info.plist needs, with what each is for (dossier 7.1).
    #if os(iOS)
    static let keys = [
        ("NSBluetoothAlwaysUsageDescription", "Bluetooth"),
        ("NSLocationWhenInUseUsageDescription", "ranging beacons"),
        // Without it the system cannot grant *Always*, and asks for nothing.
        ("NSLocationAlwaysAndWhenInUseUsageDescription", "the location while it is closed, to be woken"),
    ]
    #else
    static let keys = [
        ("NSBluetoothAlwaysUsageDescription", "Bluetooth"),
        ("NSLocationWhenInUseUsageDescription", "ranging beacons"),
    ]
    #endif

    /// Checks everything that scanning and advertising need.
    ///
    /// It asks the user nothing. It checks the keys of Info.plist, the permissions of Bluetooth and of the location, which must be
    /// *Always* for wake-ups, and the background modes.
    @MainActor
    public func diagnosis() -> RadioDiagnosis {
        var findings = Self.keys.map { key, use in
            Bundle.main.object(forInfoDictionaryKey: key) == nil
                ? RadioDiagnosis.Finding(
                    .permission, .missing, "Info.plist does not say why this app uses \(use)",
                    cure: "add \(key). A command embeds Info.plist in a section of its executable")
                : RadioDiagnosis.Finding(.permission, .good, "Info.plist says why this app uses \(use)")
        }
        findings.append(bluetooth)
        findings.append(contentsOf: ranging)
        findings.append(background)
        #if os(iOS)
        findings.append(sending)
        #endif
        findings.append(
            .init(
                .address, .limited, "the system decides when the address changes, so it can outlast an identifier",
                cure: "none: iOS and macOS leave an app no choice"))
        findings.append(
            .init(
                .advertising, .limited,
                "what every device can read is sent only while the app is in the foreground and the screen is on",
                cure: "keep the app open, or use a stationary beacon"))
        return RadioDiagnosis(findings)
    }

    private var bluetooth: RadioDiagnosis.Finding {
        switch CBManager.authorization {
        case .allowedAlways: .init(.permission, .good, "this app may use Bluetooth")
        case .notDetermined: .init(.permission, .unknown, "the user has not been asked for Bluetooth yet")
        default: .init(.permission, .notPermitted(reason: "this app may not use Bluetooth"))
        }
    }

    /// The modes in which a sleeping app is woken: for a service UUID in the air, and for a region.
    private var background: RadioDiagnosis.Finding {
        let declared = Bundle.main.object(forInfoDictionaryKey: "UIBackgroundModes") as? [String] ?? []
        let missing = ["bluetooth-central", "location"].filter { !declared.contains($0) }
        guard missing.isEmpty else {
            return .init(
                .scanning, .limited,
                "this app is not woken for people who come near: Info.plist lacks a background mode",
                cure: "add \(missing.joined(separator: " and ")) to UIBackgroundModes")
        }
        return .init(.scanning, .good, "this app can be woken when a person comes near")
    }

    #if os(iOS)
    /// The mode in which an app in the background goes on sending.
    private var sending: RadioDiagnosis.Finding {
        let declared = Bundle.main.object(forInfoDictionaryKey: "UIBackgroundModes") as? [String] ?? []
        guard declared.contains("bluetooth-peripheral") else {
            return .init(
                .advertising, .limited,
                "this app sends nothing in the background: Info.plist lacks a background mode",
                cure: "add bluetooth-peripheral to UIBackgroundModes")
        }
        return .init(
            .advertising, .good, "this app goes on sending in the background, in a form that only iPhones read")
    }
    #endif

    @MainActor
    private var ranging: [RadioDiagnosis.Finding] {
        guard CLLocationManager.isRangingAvailable() else {
            return [
                .init(
                    .scanning, .limited, "this device does not support ranging; Core Bluetooth scans instead")
            ]
        }
        let permission: RadioDiagnosis.Finding =
            switch CLLocationManager().authorizationStatus {
            case .authorizedAlways: .init(.permission, .good, "this app may always use the location")
            case .authorizedWhenInUse:
                .init(
                    .permission, .limited, "this app may use the location only while it is open",
                    cure: "choose “Always” in Settings, so that the app is woken when a person comes near")
            case .notDetermined: .init(.permission, .unknown, "the user has not been asked for the location yet")
            default: .init(.permission, .notPermitted(reason: "this app may not use the location"))
            }
        return [permission, .init(.scanning, .good, "this device supports ranging")]
    }
}
#endif
