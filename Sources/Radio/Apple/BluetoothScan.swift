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
    /// Which service UUIDs are expected; nil scans for every packet, which works in the foreground only.
    private let expected: AppleRadio.Expecting?
    private var list = ExpectedScan()
    /// Renews the list while the app does not sleep.
    private var renewal: Task<Void, Never>?
    /// Whether the list is being made: packets must not begin that again meanwhile.
    private var isRenewing = false

    /// By this name the system goes on with the scan of an app that it has terminated.
    private static let restorationIdentifier = "handshake.nearby"

    private static let packet = DiscoveredPacket(
        manufacturerDataKey: CBAdvertisementDataManufacturerDataKey, serviceDataKey: CBAdvertisementDataServiceDataKey,
        servicesKey: CBAdvertisementDataServiceUUIDsKey, nameKey: CBAdvertisementDataLocalNameKey,
        powerKey: CBAdvertisementDataTxPowerLevelKey)

    init(
        now: @escaping @Sendable () -> Timestamp, hear: @escaping @Sendable (Advertisement) -> Void,
        status: StatusReport, expected: AppleRadio.Expecting? = nil
    ) {
        self.expected = expected
        self.now = now
        self.hear = hear
        self.status = status
    }

    /// Scans until the task is cancelled. The system prompts for permission the first time.
    func run() async throws {
        manager = CBCentralManager(delegate: self, queue: nil, options: restoration)
        try await suspendUntilCancelled()
    }

    /// The options for a scan that outlasts the app. The system stops an app that asks for it without the background mode.
    private var restoration: [String: Any]? {
        #if os(iOS)
        let modes = Bundle.main.object(forInfoDictionaryKey: "UIBackgroundModes") as? [String] ?? []
        if expected != nil, modes.contains("bluetooth-central") {
            return [CBCentralManagerOptionRestoreIdentifierKey: Self.restorationIdentifier]
        }
        #endif
        return nil
    }

    func stop() {
        renewal?.cancel()
        if let manager, manager.isScanning { manager.stopScan() }
        manager?.delegate = nil
        manager = nil
    }

    /// Called once at the start, and whenever Bluetooth is switched off or on.
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        list.interrupt()
        isRenewing = false
        guard let error = RadioError(central.state) else {
            scan()
            return status(.listening(.coreBluetooth))
        }
        renewal?.cancel()
        // The state is briefly unknown at the start.
        if central.state != .unknown { status(.unavailable(error)) }
    }

    /// Called first when the system has launched the app for what a scan has found.
    ///
    /// That scan looks for an earlier list. Bluetooth's state is told next, and begins one for the present list.
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) { list.interrupt() }

    /// Scans for the present list, and for the next ones when their time has come; without lists for everything.
    private func scan() {
        renewal?.cancel()
        guard let expected else { return scan(for: nil) }
        isRenewing = true
        renewal = Task { [weak self, now] in
            while !Task.isCancelled {
                self?.isRenewing = true
                let services = await expected(now())
                guard let self, !Task.isCancelled else { return }
                take(services)
                isRenewing = false
                // It does not go on while the app sleeps: what wakes the app renews the list then.
                try? await Task.sleep(for: list.pause(at: now()))
            }
        }
    }

    private func take(_ services: ExpectedServices) {
        guard let uuids = list.take(services) else { return }
        guard !uuids.isEmpty else {
            manager?.stopScan()
            return
        }
        scan(for: uuids.map { CBUUID(string: $0.description) })
    }

    private func scan(for services: [CBUUID]?) {
        manager?.scanForPeripherals(
            withServices: services, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        if expected != nil, list.isDue(at: now()), !isRenewing { scan() }
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
    fileprivate init(transmitter identifier: UUID) {
        let bytes = identifier.uuid
        self.init(transmitter: [bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15])
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
