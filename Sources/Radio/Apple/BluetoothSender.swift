#if canImport(CoreBluetooth) && canImport(CoreLocation) && (os(iOS) || os(macOS))
import Beacons
import CoreBluetooth
import CoreLocation
import Foundation

/// Advertises service UUIDs and iBeacons with Core Bluetooth. On the main actor, because its manager calls back on the main queue.
@MainActor
final class BluetoothSender: NSObject, CBPeripheralManagerDelegate {
    private var manager: CBPeripheralManager?
    /// The data to advertise; nil for none.
    private var payload: [String: Any]?
    private let status: StatusReport

    init(status: StatusReport) {
        self.status = status
    }

    /// Advertises a broadcast from now on.
    ///
    /// - Throws: ``RadioError/unsendable(problem:)`` for anything but one rolling service UUID or one iBeacon: Apple lets apps
    ///   send no other data.
    func send(_ broadcast: Broadcast) throws(RadioError) {
        switch broadcast {
        case .silence:
            payload = nil
            manager?.stopAdvertising()
            status(.silent)
        case .data(let data):
            payload = try Self.payload(data)
            if manager == nil { manager = CBPeripheralManager(delegate: self, queue: nil) }
            start()
        }
    }

    func stop() {
        manager?.stopAdvertising()
        manager?.delegate = nil
        manager = nil
    }

    private static func payload(_ data: AdvertisingData) throws(RadioError) -> [String: Any] {
        switch FrameParser().frame(in: data) {
        case .rollingService(let uuid):
            // No name: 28 bytes hold the UUID, and a name would link two of them.
            return [CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: uuid.description)]]
        case .iBeacon(let beacon):
            guard let uuid = UUID(uuidString: beacon.uuid.description) else { break }
            let region = CLBeaconRegion(uuid: uuid, major: beacon.major, minor: beacon.minor, identifier: "handshake")
            return region.peripheralData(withMeasuredPower: NSNumber(value: beacon.power)) as? [String: Any] ?? [:]
        default: break
        }
        throw .unsendable(problem: "Apple's platforms send service UUIDs and iBeacons only")
    }

    private func start() {
        guard let manager, manager.state == .poweredOn, let payload else { return }
        // Stopped first, so that the address changes together with the data where the system supports it.
        manager.stopAdvertising()
        manager.startAdvertising(payload)
    }

    /// Called once at the start, and whenever Bluetooth is switched off or on.
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        if let error = RadioError(peripheral.state) {
            if peripheral.state != .unknown { status(.unavailable(error)) }
        } else {
            start()
        }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if error == nil {
            status(.sending)
        } else {
            status(.unavailable(.advertisementRejected(reason: "Core Bluetooth did not start to advertise")))
        }
    }
}
#endif
