#if canImport(CoreBluetooth) && canImport(CoreLocation) && (os(iOS) || os(macOS))
import AsyncSupport
public import Beacons
import CoreLocation

/// The radio of an iPhone, iPad or Mac (dossier 7.1). It works through Core Location and Core Bluetooth.
///
/// **Scanning.** iOS hides iBeacons from Core Bluetooth, so they are ranged, which needs their UUIDs in advance. Where ranging is
/// not available, as on many Macs, Core Bluetooth scans; it receives AltBeacon and Eddystone everywhere, and iBeacons where
/// the system reports them.
///
/// **Advertising.** Only iBeacons can be sent, and only while the app is in the foreground with the screen on: in the
/// background, other platforms cannot read what iOS sends. Tell the user.
///
/// **In the background** ranging stops a few seconds after the app is woken. ``BeaconWatch`` wakes an app when a beacon comes
/// near, even one that was terminated.
///
/// **Info.plist** needs `NSBluetoothAlwaysUsageDescription`, `NSLocationWhenInUseUsageDescription` for ranging,
/// `NSLocationAlwaysAndWhenInUseUsageDescription` for ``BeaconWatch``, and `location` in `UIBackgroundModes`. A command on macOS
/// has no bundle: embed Info.plist in a section of the executable. ``diagnosis()`` reports what is missing.
public struct AppleRadio: Radio {
    let uuids: [ProximityUUID]
    let power: Int8
    let now: @Sendable () -> Timestamp

    /// Creates a radio.
    ///
    /// - Parameters:
    ///   - uuids: The fleets to range.
    ///   - power: The beacons' power at 1 m, in dBm, which Core Location does not report.
    ///   - now: The current time.
    public init(
        uuids: [ProximityUUID] = [.secretHandshake], power: Int8 = -59,
        now: @escaping @Sendable () -> Timestamp = { Timestamp.now() }
    ) {
        self.uuids = uuids
        self.power = power
        self.now = now
    }

    public func scan(for interest: ScanInterest) -> Scan {
        Scan(feeding: { buffer in
            let hear: @Sendable (Advertisement) -> Void = { advertisement in
                if interest.wants(advertisement.data) { buffer.offer(.advertisement(advertisement)) }
            }
            let status = StatusReport { buffer.offer(.status($0)) }
            if CLLocationManager.isRangingAvailable(), !uuids.isEmpty {
                let scan = await RangingScan(uuids: uuids, power: power, now: now, hear: hear, status: status)
                defer { Task { @MainActor in scan.stop() } }
                try await scan.run()
            } else {
                let scan = await BluetoothScan(now: now, hear: hear, status: status)
                defer { Task { @MainActor in scan.stop() } }
                try await scan.run()
            }
        })
    }

    public func advertise<Source: AsyncSequence & Sendable>(
        _ broadcasts: Source, status: @escaping @Sendable (RadioStatus) -> Void
    ) async throws where Source.Element == Broadcast {
        let sender = await BluetoothSender(status: StatusReport(status))
        defer { Task { @MainActor in sender.stop() } }
        var hasElement = false
        for try await broadcast in broadcasts {
            hasElement = true
            try await sender.send(broadcast)
        }
        if hasElement { try await suspendUntilCancelled() }
        try Task.checkCancellation()
    }
}
#endif
