#if canImport(CoreBluetooth) && canImport(CoreLocation) && (os(iOS) || os(macOS))
import AsyncSupport
public import Beacons
import CoreLocation

/// The radio of an iPhone, iPad or Mac (dossier 7.1). It works through Core Location and Core Bluetooth.
///
/// **Scanning.** Core Bluetooth receives rolling service UUIDs, AltBeacon and Eddystone everywhere, and iBeacons where the system
/// reports them. iOS hides iBeacons from it, so they are ranged too, which needs their UUIDs in advance.
///
/// **Advertising.** Rolling service UUIDs and iBeacons can be sent. Other platforms can read them only while the app is in the
/// foreground with the screen on: in the background iOS sends a mask that only its own devices read. Tell the user. One
/// identifier is sent at a time: those of several circles take turns.
///
/// **In the background** a scan needs a list of what is expected: `expecting` renews it when its time is over, when Bluetooth
/// starts, and when the app is woken after that. With `bluetooth-central` in `UIBackgroundModes`, iOS goes on with the scan of an app
/// that it has terminated, and launches the app for what it finds: scan at every launch. Ranging stops a few seconds after the app is woken. ``BeaconWatch`` wakes an app when a beacon comes near, even one
/// that was terminated.
///
/// **Info.plist** needs `NSBluetoothAlwaysUsageDescription`, `NSLocationWhenInUseUsageDescription` for ranging,
/// `NSLocationAlwaysAndWhenInUseUsageDescription` for ``BeaconWatch``, and `location`, `bluetooth-central` and, to send in the background,
/// `bluetooth-peripheral` in `UIBackgroundModes`. A command on macOS has no bundle: embed Info.plist in a section of the executable. ``diagnosis()`` reports what is missing.
public struct AppleRadio: Radio {
    let uuids: [ProximityUUID]
    let power: Int8
    let now: @Sendable () -> Timestamp
    let expecting: Expecting?

    /// Says which service UUIDs a scan in the background looks for from a moment on.
    public typealias Expecting = @Sendable (Timestamp) async -> ExpectedServices

    /// Creates a radio.
    ///
    /// - Parameters:
    ///   - uuids: The fleets to range.
    ///   - power: The beacons' power at 1 m, in dBm, which Core Location does not report.
    ///   - now: The current time.
    ///   - expecting: What a scan in the background looks for, as `KnownPeople` of the module `Nearby` says. Nil scans for all,
    ///     which works in the foreground only.
    public init(
        uuids: [ProximityUUID] = [.secretHandshake], power: Int8 = -59,
        now: @escaping @Sendable () -> Timestamp = { Timestamp.now() },
        expecting: Expecting? = nil
    ) {
        self.expecting = expecting
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
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    let scan = await BluetoothScan(now: now, hear: hear, status: status, expected: expecting)
                    defer { Task { @MainActor in scan.stop() } }
                    try await scan.run()
                }
                if CLLocationManager.isRangingAvailable(), !uuids.isEmpty {
                    group.addTask {
                        let scan = await RangingScan(uuids: uuids, power: power, now: now, hear: hear, status: status)
                        defer { Task { @MainActor in scan.stop() } }
                        try await scan.run()
                    }
                }
                try await group.next()
            }
        })
    }

    public func advertise<Source: AsyncSequence & Sendable>(
        _ broadcasts: Source, status: @escaping @Sendable (RadioStatus) -> Void
    ) async throws where Source.Element == Broadcast {
        // Core Bluetooth sends what one app advertises as one advertisement under one address.
        if let several = broadcasts as? Broadcasts, several.scopes > 1 {
            status(.takingTurns(identifiers: several.scopes, atATime: 1))
        }
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
