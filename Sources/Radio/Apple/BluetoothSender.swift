#if canImport(CoreBluetooth) && canImport(CoreLocation) && (os(iOS) || os(macOS))
import Beacons
import CoreBluetooth
import CoreLocation
import Foundation

/// Advertises iBeacons with Core Bluetooth. On the main actor, because its manager calls back on the main queue.
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
    /// - Throws: ``RadioError/unsendable(problem:)`` for anything but one iBeacon: Apple lets apps send no other
    ///   manufacturer data.
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
        guard case .iBeacon(let beacon) = FrameParser().frame(in: data),
            let uuid = UUID(uuidString: beacon.uuid.description)
        else { throw .unsendable(problem: "Apple's platforms send iBeacons only") }
        let region = CLBeaconRegion(uuid: uuid, major: beacon.major, minor: beacon.minor, identifier: "handshake")
        let payload = region.peripheralData(withMeasuredPower: NSNumber(value: beacon.power))
        return payload as? [String: Any] ?? [:]
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
