#if Desktop && os(Linux)
import Beacons
import DBus

/// The devices that BlueZ reports, and which changes count as sightings (dossier 7.2, active scan). A pure value.
///
/// BlueZ removes a device some time after its last packet; a rotated address creates a new one. Beyond ``capacity``, the
/// device that was heard longest ago is dropped; it is fetched again if it is heard again.
struct DeviceTable: Sendable {
    fileprivate struct Device {
        let address: DeviceAddress?
        var rssi: RSSI?
        var manufacturerData: [CompanyID: [UInt8]] = [:]
        var serviceData: [ServiceUUID: [UInt8]] = [:]
        /// The position of its last change in the order of all changes.
        var change = 0
        /// Whether it was reported since a monitor lost it.
        var isReported = false
    }

    let capacity: Int
    private var devices: [ObjectPath: Device] = [:]
    private var changes = 0

    init(capacity: Int = 4_096) {
        self.capacity = capacity
    }

    var count: Int { devices.count }

    func knows(_ path: ObjectPath) -> Bool {
        devices[path] != nil
    }

    /// Whether a change of this property means that a packet was received.
    static func isHeard(_ property: String) -> Bool {
        ["RSSI", "ManufacturerData", "ServiceData"].contains(property)
    }

    /// Adds a device with its properties. One without signal strength is cached by BlueZ and no sighting.
    mutating func add(_ path: ObjectPath, _ properties: [String: Value], at time: Timestamp) -> Advertisement? {
        let address = properties["Address"].flatMap { String(reading: $0) }.flatMap { DeviceAddress($0) }
        var device = Device(address: address)
        device.take(properties)
        changes += 1
        device.change = changes
        devices[path] = device
        forgetOldest()
        return properties["RSSI"] == nil ? nil : report(path, at: time)
    }

    /// Changes a device's properties. If only its data changed, the signal is as strong as before: BlueZ reports changes
    /// only.
    mutating func change(
        _ path: ObjectPath, _ changed: [String: Value], _ invalidated: [String], at time: Timestamp
    ) -> Advertisement? {
        guard var device = devices[path] else { return nil }
        device.take(changed)
        for property in invalidated { device.forget(property) }
        changes += 1
        device.change = changes
        devices[path] = device
        return changed.keys.contains(where: Self.isHeard) ? report(path, at: time) : nil
    }

    /// Applies a monitor's `DeviceFound`. It is a sighting only if none was reported since the monitor lost the device.
    mutating func found(_ path: ObjectPath, at time: Timestamp) -> Advertisement? {
        devices[path]?.isReported == false ? report(path, at: time) : nil
    }

    /// Applies a monitor's `DeviceLost`.
    mutating func lost(_ path: ObjectPath) {
        devices[path]?.isReported = false
    }

    mutating func remove(_ path: ObjectPath) {
        devices[path] = nil
    }

    mutating func removeAll(below adapter: ObjectPath) {
        devices = devices.filter { !adapter.contains($0.key) }
    }

    /// A device as an advertisement. The signal strength can arrive before the data; until then there is nothing to
    /// report.
    private mutating func report(_ path: ObjectPath, at time: Timestamp) -> Advertisement? {
        guard let device = devices[path], !device.manufacturerData.isEmpty || !device.serviceData.isEmpty,
            let data = try? AdvertisingData(
                manufacturerData: device.manufacturerData, serviceData: device.serviceData)
        else { return nil }
        devices[path]?.isReported = true
        return Advertisement(time: time, address: device.address, rssi: device.rssi, data: data)
    }

    private mutating func forgetOldest() {
        guard devices.count > capacity else { return }
        // Many together, so that a flood does not sort the table for each device.
        let oldest = devices.sorted { $0.value.change < $1.value.change }.prefix(Swift.max(1, capacity / 8))
        for (path, _) in oldest { devices[path] = nil }
    }
}

extension DeviceTable.Device {
    /// Applies properties. Values of a wrong type are ignored, because they are untrusted.
    fileprivate mutating func take(_ properties: [String: Value]) {
        if let value = properties["RSSI"], let number = Int16(reading: value) { rssi = RSSI(Int(number)) }
        if let value = properties["ManufacturerData"], let entries = [UInt16: Value](reading: value) {
            manufacturerData = Dictionary(
                uniqueKeysWithValues: entries.compactMap { company, value in
                    [UInt8](reading: value).map { (CompanyID(rawValue: company), $0) }
                })
        }
        if let value = properties["ServiceData"], let entries = [String: Value](reading: value) {
            serviceData = Dictionary(
                entries.compactMap { uuid, value in
                    guard let service = ServiceUUID(bluetoothUUID: uuid), let bytes = [UInt8](reading: value)
                    else { return nil }
                    return (service, bytes)
                }, uniquingKeysWith: { _, last in last })
        }
    }

    fileprivate mutating func forget(_ property: String) {
        switch property {
        case "RSSI": rssi = nil
        case "ManufacturerData": manufacturerData = [:]
        case "ServiceData": serviceData = [:]
        default: break
        }
    }
}
#endif
