#if canImport(CoreBluetooth) && canImport(CoreLocation) && (os(iOS) || os(macOS))
import AsyncSupport
import Beacons
import CoreBluetooth
import Foundation

/// Scans with Core Bluetooth. On the main actor, because its manager calls back on the main queue.
@MainActor
final class BluetoothScan: NSObject, CBCentralManagerDelegate {
    private var manager: CBCentralManager?
    private let now: @Sendable () -> Timestamp
    private let hear: @Sendable (Advertisement) -> Void
    private let status: StatusReport

    init(
        now: @escaping @Sendable () -> Timestamp, hear: @escaping @Sendable (Advertisement) -> Void,
        status: StatusReport
    ) {
        self.now = now
        self.hear = hear
        self.status = status
    }

    /// Scans until the task is cancelled. The system prompts for permission the first time.
    func run() async throws {
        manager = CBCentralManager(delegate: self, queue: nil)
        try await suspendUntilCancelled()
    }

    func stop() {
        if let manager, manager.isScanning { manager.stopScan() }
        manager?.delegate = nil
        manager = nil
    }

    /// Called once at the start, and whenever Bluetooth is switched off or on.
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard let error = RadioError(central.state) else {
            central.scanForPeripherals(
                withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
            return status(.listening(.coreBluetooth))
        }
        // The state is briefly unknown at the start.
        if central.state != .unknown { status(.unavailable(error)) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        var manufacturerData: [CompanyID: [UInt8]] = [:]
        if let data = advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data, data.count >= 2 {
            let bytes = [UInt8](data)
            let company = CompanyID(rawValue: UInt16(bytes[0]) | UInt16(bytes[1]) << 8)
            manufacturerData[company] = Array(bytes.dropFirst(2))
        }
        var serviceData: [ServiceUUID: [UInt8]] = [:]
        let entries = advertisementData[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:]
        for (uuid, data) in entries where uuid.data.count == 2 {
            let number = [UInt8](uuid.data)
            serviceData[ServiceUUID(rawValue: UInt16(number[0]) << 8 | UInt16(number[1]))] = [UInt8](data)
        }
        guard !manufacturerData.isEmpty || !serviceData.isEmpty,
            let data = try? AdvertisingData(manufacturerData: manufacturerData, serviceData: serviceData)
        else { return }
        // Apple's platforms do not report the address.
        hear(Advertisement(time: now(), address: nil, rssi: RSSI(rssi.intValue), data: data))
    }
}

extension RadioError {
    /// The error of a Core Bluetooth state; nil when it works.
    init?(_ state: CBManagerState) {
        switch state {
        case .poweredOn: return nil
        case .poweredOff: self = .poweredOff(adapter: "Bluetooth")
        case .unauthorized: self = .notPermitted(reason: "this app may not use Bluetooth")
        case .unsupported: self = .noAdapter(named: nil)
        case .resetting, .unknown: self = .lost(reason: "Bluetooth is restarting")
        @unknown default: self = .lost(reason: "Bluetooth is in an unknown state")
        }
    }
}
#endif
