#if Desktop && os(Linux)
import Beacons
import DBus

/// The devices that BlueZ knows, and when a change of one means that it was heard (dossier 7.2, active scan). A pure value.
///
/// BlueZ removes a device some time after it was heard last; an address that rotates makes a new one. Beyond ``capacity``
/// devices the one that was heard longest ago is forgotten; it is asked for again if it is heard again.
struct DeviceTable: Sendable {
    fileprivate struct Device {
        let address: DeviceAddress?
        var rssi: RSSI?
        var manufacturerData: [CompanyID: [UInt8]] = [:]
        var serviceData: [ServiceUUID: [UInt8]] = [:]
        /// In which order it changed last.
        var change = 0
        /// Whether it was handed over since a monitor lost it.
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

    /// Whether a change of this property says that a packet came.
    static func isHeard(_ property: String) -> Bool {
        ["RSSI", "ManufacturerData", "ServiceData"].contains(property)
    }

    /// A device appeared, with its properties. One without signal strength is a memory of BlueZ's and no sighting.
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

    /// Properties of a device changed. When only its data came, the signal was as strong as before: BlueZ tells of changes
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

    /// A monitor found a device. That is a sighting of its own only if none was handed over since the monitor lost it.
    mutating func found(_ path: ObjectPath, at time: Timestamp) -> Advertisement? {
        devices[path]?.isReported == false ? report(path, at: time) : nil
    }

    /// A monitor lost a device.
    mutating func lost(_ path: ObjectPath) {
        devices[path]?.isReported = false
    }

    mutating func remove(_ path: ObjectPath) {
        devices[path] = nil
    }

    mutating func removeAll(below adapter: ObjectPath) {
        devices = devices.filter { !adapter.contains($0.key) }
    }

    /// What is known of a device, as an advertisement. A signal strength may come before the data that it belongs to; then there is
    /// nothing to hand over yet.
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
        // Many at once, so that a flood does not sort the table for each device.
        let oldest = devices.sorted { $0.value.change < $1.value.change }.prefix(Swift.max(1, capacity / 8))
        for (path, _) in oldest { devices[path] = nil }
    }
}

extension DeviceTable.Device {
    /// Takes properties over. One of a wrong type is left as it is: it came from outside.
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
