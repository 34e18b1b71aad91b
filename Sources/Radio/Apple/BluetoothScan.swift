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
    /// Which service UUIDs are expected now; nil scans for every packet, which works in the foreground only.
    private let expected: (@Sendable () -> [RollingUUID])?

    private static let packet = DiscoveredPacket(
        manufacturerDataKey: CBAdvertisementDataManufacturerDataKey, serviceDataKey: CBAdvertisementDataServiceDataKey,
        servicesKey: CBAdvertisementDataServiceUUIDsKey)

    init(
        now: @escaping @Sendable () -> Timestamp, hear: @escaping @Sendable (Advertisement) -> Void,
        status: StatusReport, expected: (@Sendable () -> [RollingUUID])? = nil
    ) {
        self.expected = expected
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
            let services = expected.map { expected in
                expected().prefix(AppleRadio.maximumExpected).map { CBUUID(string: $0.description) }
            }
            central.scanForPeripherals(
                withServices: services, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
            return status(.listening(.coreBluetooth))
        }
        // The state is briefly unknown at the start.
        if central.state != .unknown { status(.unavailable(error)) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        guard
            let data = Self.packet.data(
                in: advertisementData, bytes: Data.self, text: { (uuid: CBUUID) in uuid.uuidString })
        else { return }
        // Apple's platforms do not report the address; the identifier tells transmitters apart.
        let address = DeviceAddress(transmitter: peripheral.identifier)
        hear(Advertisement(time: now(), address: address, rssi: RSSI(rssi.intValue), data: data))
    }
}

extension DeviceAddress {
    /// The system's identifier of a transmitter in place of its address: 48 of its 128 bits.
    fileprivate init(transmitter identifier: UUID) {
        let bytes = identifier.uuid
        self.init(
            truncating: [bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15].reduce(0) { $0 << 8 | UInt64($1) })
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
