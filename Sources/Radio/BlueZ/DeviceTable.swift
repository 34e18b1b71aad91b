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
        let addressKind: DeviceAddress.Kind?
        var rssi: RSSI?
        var manufacturerData: [CompanyID: [UInt8]] = [:]
        var serviceData: [ServiceUUID: [UInt8]] = [:]
        /// Every service UUID that BlueZ has reported: its list only grows, and repeating one emits no signal (circles dossier 2).
        var known: Set<RollingUUID> = []
        /// Those that were new when the list last grew: what the device sends now.
        var services: [RollingUUID] = []
        /// Others that were ever reported; they are constant.
        var constantServices: Set<ProximityUUID> = []
        var appearance: UInt16?
        var name: String?
        var power: Int8?
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
        ["RSSI", "ManufacturerData", "ServiceData", "UUIDs"].contains(property)
    }

    /// Adds a device with its properties. One without signal strength is cached by BlueZ and no sighting.
    mutating func add(_ path: ObjectPath, _ properties: [String: Value], at time: Timestamp) -> Advertisement? {
        let address = properties["Address"].flatMap { String(reading: $0) }.flatMap { DeviceAddress($0) }
        let kind = properties["AddressType"].flatMap { String(reading: $0) }.flatMap {
            DeviceAddress.Kind(rawValue: $0)
        }
        var device = Device(address: address, addressKind: kind)
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
        let before = device.services
        device.take(changed)
        // A list of services without a new one says nothing of the air.
        let isHeard = changed.keys.contains { $0 == "UUIDs" ? device.services != before : Self.isHeard($0) }
        for property in invalidated { device.forget(property) }
        changes += 1
        device.change = changes
        devices[path] = device
        return isHeard ? report(path, at: time) : nil
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
        guard let device = devices[path],
            !device.manufacturerData.isEmpty || !device.serviceData.isEmpty || !device.services.isEmpty,
            let data = device.data
        else { return nil }
        devices[path]?.isReported = true
        return Advertisement(
            time: time, address: device.address, addressKind: device.addressKind, rssi: device.rssi, data: data)
    }

    private mutating func forgetOldest() {
        guard devices.count > capacity else { return }
        // Many together, so that a flood does not sort the table for each device.
        let oldest = devices.sorted { $0.value.change < $1.value.change }.prefix(Swift.max(1, capacity / 8))
        for (path, _) in oldest { devices[path] = nil }
    }
}

extension DeviceTable.Device {
    /// How many service UUIDs are remembered of a device: more than a day of rolling identifiers.
    private static let maximumServices = 128

    /// How many services that are no rolling identifier are remembered: a list with eight identifiers has room for seven.
    private static let maximumConstantServices = 7

    /// What was received, put together again. A name, a power, an appearance and other services are told beside rolling service
    /// UUIDs only, for the audit of what one sends.
    fileprivate var data: AdvertisingData? {
        let isService = !services.isEmpty
        let data = try? AdvertisingData(
            manufacturerData: manufacturerData, serviceData: serviceData, services: services,
            name: isService ? name : nil, power: isService ? power : nil)
        guard isService, appearance != nil || !constantServices.isEmpty, let data else { return data }
        // Constants that do not fit must not hide the device.
        return (try? withConstants(data.structures)).flatMap { try? AdvertisingData($0, limit: .extended) } ?? data
    }

    private func withConstants(_ structures: [AdvertisingStructure]) throws(BeaconsError) -> [AdvertisingStructure] {
        let uuids = constantServices.sorted { ($0.high, $0.low) < ($1.high, $1.low) }
        // A service of 16 bits was sent as such.
        let short = uuids.compactMap { ServiceUUID(bluetoothUUID: $0.description) }
        let long = uuids.filter { ServiceUUID(bluetoothUUID: $0.description) == nil }
        var all = structures.filter { $0.type != .completeServices128 }
        all.append(
            try AdvertisingStructure(
                type: .completeServices128,
                value: services.flatMap(\.sentBytes) + long.flatMap { $0.bytes.reversed() }))
        if !short.isEmpty {
            let value = short.flatMap { [UInt8(truncatingIfNeeded: $0.rawValue), UInt8($0.rawValue >> 8)] }
            all.append(try AdvertisingStructure(type: .completeServices, value: value))
        }
        if let appearance {
            let value = [UInt8(truncatingIfNeeded: appearance), UInt8(appearance >> 8)]
            all.append(try AdvertisingStructure(type: .appearance, value: value))
        }
        return all
    }

    private mutating func take(services uuids: [String]) {
        let uuids = uuids.prefix(2 * Self.maximumServices)
        for uuid in uuids where RollingUUID(uuid) == nil && constantServices.count < Self.maximumConstantServices {
            if let uuid = ProximityUUID(uuid) { constantServices.insert(uuid) }
        }
        let all = uuids.compactMap { RollingUUID($0) }
        let new = all.filter { !known.contains($0) }
        guard !new.isEmpty else { return }
        if known.count + new.count > Self.maximumServices { known = [] }
        known.formUnion(new)
        services = Array(new.suffix(8))
    }

    /// Applies properties. Values of a wrong type are ignored, because they are untrusted.
    fileprivate mutating func take(_ properties: [String: Value]) {
        if let value = properties["RSSI"], let number = Int16(reading: value) { rssi = RSSI(Int(number)) }
        if let value = properties["UUIDs"], let uuids = [String](reading: value) { take(services: uuids) }
        if let value = properties["Name"], let name = String(reading: value) { self.name = name }
        if let value = properties["TxPower"], let power = Int16(reading: value) { self.power = Int8(clamping: power) }
        if let value = properties["Appearance"], let number = UInt16(reading: value) { appearance = number }
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

extension StructureType {
    /// What kind of device it is.
    fileprivate static let appearance = StructureType(rawValue: 0x19)
}
#endif
