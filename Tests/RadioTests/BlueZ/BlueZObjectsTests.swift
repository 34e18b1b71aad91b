#if os(Linux)
import Beacons
import DBus
import Testing

@testable import Radio

@Suite("What BlueZ's objects mean")
struct BlueZObjectsTests {
    private static let hci0: ObjectPath = "/org/bluez/hci0"
    private static let device: ObjectPath = "/org/bluez/hci0/dev_D0_00_00_00_02_F7"

    /// The 23 bytes that BlueZ has under the company's number (dossier 2.2).
    private static let beacon: Value = [UInt16(0x004C): Value.bytes(Array(Packets.iBeacon.dropFirst(4)))].value
    private static let address: Value = "D0:00:00:00:02:F7"

    private static func added(_ properties: [String: Value], _ path: ObjectPath = device) -> Signal {
        Signal(
            path: "/", interface: .objectManager, member: "InterfacesAdded",
            arguments: [path.value, ["org.bluez.Device1": properties].value])
    }

    private static func changed(
        _ properties: [String: Value], invalidated: [String] = [], _ path: ObjectPath = device,
        of interface: String = "org.bluez.Device1"
    ) -> Signal {
        Signal(
            path: path, interface: .properties, member: "PropertiesChanged",
            arguments: [interface.value, properties.value, invalidated.value])
    }

    private static func sighting(rssi: Int?) throws -> BlueZObjects.Change {
        .sighting(try Packets.advertisement(Packets.iBeacon, rssi: rssi))
    }

    @Test("a device that appears with a signal is a sighting")
    func appears() throws {
        var objects = BlueZObjects()
        let signal = Self.added(["Address": Self.address, "RSSI": .int16(-61), "ManufacturerData": Self.beacon])
        #expect(objects.apply(signal, at: Air.now) == (try Self.sighting(rssi: -61)))
    }

    @Test("BE-15: a device without a signal is a memory of BlueZ's and no sighting, and neither is one at the start")
    func cached() throws {
        var objects = BlueZObjects()
        let properties = ["Address": Self.address, "ManufacturerData": Self.beacon]
        #expect(objects.apply(Self.added(properties), at: Air.now) == .nothing)
        let other = objects.replace(with: [Self.device: ["org.bluez.Device1": properties]], at: Air.now)
        #expect(other.isEmpty)
        let heard = properties.merging(["RSSI": .int16(-61)]) { $1 }
        #expect(objects.replace(with: [Self.device: ["org.bluez.Device1": heard]], at: Air.now).count == 1)
    }

    @Test("BE-15: an invalidated signal is no sighting, and the next data comes without a strength")
    func invalidated() throws {
        var objects = BlueZObjects()
        _ = objects.apply(
            Self.added(["Address": Self.address, "RSSI": .int16(-61), "ManufacturerData": Self.beacon]), at: Air.now)
        #expect(objects.apply(Self.changed([:], invalidated: ["RSSI"]), at: Air.now) == .nothing)
        #expect(
            objects.apply(Self.changed(["ManufacturerData": Self.beacon]), at: Air.now)
                == (try Self.sighting(rssi: nil)))
    }

    @Test("BE-15: data that comes after the signal is heard with it")
    func lateData() throws {
        var objects = BlueZObjects()
        #expect(
            objects.apply(Self.added(["Address": Self.address, "RSSI": .int16(-61)]), at: Air.now) == .nothing)
        #expect(objects.apply(Self.changed(["RSSI": .int16(-60)]), at: Air.now) == .nothing)
        #expect(
            objects.apply(Self.changed(["ManufacturerData": Self.beacon]), at: Air.now)
                == (try Self.sighting(rssi: -60)))
    }

    @Test("changes that say nothing of the air are no sightings", arguments: ["Alias", "Connected", "UUIDs"])
    func otherChanges(property: String) {
        var objects = BlueZObjects()
        _ = objects.apply(
            Self.added(["Address": Self.address, "RSSI": .int16(-61), "ManufacturerData": Self.beacon]), at: Air.now)
        #expect(objects.apply(Self.changed([property: "x"]), at: Air.now) == .nothing)
    }

    @Test(
        "a strength that is none is not believed, and its packet counts all the same",
        arguments: [Int16(127), 0, 20, -128])
    func strength(reported: Int16) throws {
        var objects = BlueZObjects()
        let signal = Self.added(["Address": Self.address, "RSSI": .int16(reported), "ManufacturerData": Self.beacon])
        #expect(objects.apply(signal, at: Air.now) == (try Self.sighting(rssi: nil)))
    }

    @Test("service data comes by its short UUID; other services' data is left out")
    func serviceData() throws {
        var objects = BlueZObjects()
        let data: Value = [
            "0000feaa-0000-1000-8000-00805f9b34fb": Value.bytes([0x10, 0xEE, 0x01, 0x72]),
            "3ee761a0-f737-11e3-a3ac-0800200c9a66": Value.bytes([1]),
            "not a uuid": Value.bytes([2]),
        ].value
        let change = objects.apply(Self.added(["RSSI": .int16(-61), "ServiceData": data]), at: Air.now)
        #expect(
            change
                == .sighting(
                    try Packets.advertisement([0x07, 0x16, 0xAA, 0xFE, 0x10, 0xEE, 0x01, 0x72], nil, rssi: -61)))
    }

    private static let services = ["b3fe9844-9dfa-4470-ae08-68eb355c32c9", "32c170d9-b408-4617-8d31-dbd5acd2c2c7"]

    private static func service(_ digits: String, rssi: Int) throws -> BlueZObjects.Change {
        .sighting(try Packets.advertisement(Packets.bytes("1107" + digits), rssi: rssi))
    }

    @Test(
        "CI5: of service UUIDs the newest counts, also when only the strength changes, and the list as such is no sighting"
    )
    func services() throws {
        let (first, second) = ("c9325c35eb6808ae7044fa9d4498feb3", "c7c2d2acd5db318d174608b4d970c132")
        var objects = BlueZObjects()
        let uuids = Self.services
        let signal = Self.added(["Address": Self.address, "RSSI": .int16(-61), "UUIDs": [uuids[0]].value])
        #expect(objects.apply(signal, at: Air.now) == (try Self.service(first, rssi: -61)))
        #expect(objects.apply(Self.changed(["UUIDs": [uuids[0]].value]), at: Air.now) == .nothing)
        #expect(
            objects.apply(Self.changed(["UUIDs": uuids.value]), at: Air.now) == (try Self.service(second, rssi: -61)))
        #expect(
            objects.apply(Self.changed(["RSSI": .int16(-60)]), at: Air.now) == (try Self.service(second, rssi: -60)))
        // Others' services, and what is no UUID.
        let foreign = uuids + ["0000feaa-0000-1000-8000-00805f9b34fb", "x"]
        #expect(objects.apply(Self.changed(["UUIDs": foreign.value]), at: Air.now) == .nothing)
    }

    @Test("CI6: a device without a strength is BlueZ's memory, whatever services it has")
    func cachedService() {
        var objects = BlueZObjects()
        let signal = Self.added(["Address": Self.address, "UUIDs": Self.services.value])
        #expect(objects.apply(signal, at: Air.now) == .nothing)
    }

    @Test("the kind of the address, and beside a service UUID the name, are told: the audit needs them")
    func addressKind() throws {
        var objects = BlueZObjects()
        let change = objects.apply(
            Self.added([
                "Address": Self.address, "AddressType": "public", "RSSI": .int16(-61), "Name": "Ada",
                "UUIDs": [Self.services[0]].value,
            ]), at: Air.now)
        guard case .sighting(let advertisement) = change else {
            Issue.record("no sighting: \(change)")
            return
        }
        #expect(advertisement.addressKind == .public)
        #expect(advertisement.data.structures.map(\.type) == [.completeServices128, .completeName])
    }

    @Test("CI13: beside a rolling service UUID constant services and the appearance are told, which the audit finds")
    func constants() throws {
        func heard(_ properties: [String: Value]) throws -> [AdvertisingStructure] {
            var table = DeviceTable()
            let signal: [String: Value] = ["Address": Self.address, "RSSI": .int16(-61)]
            return table.add(Self.device, signal.merging(properties) { $1 }, at: Air.now)?.data.structures ?? []
        }
        let own = Self.services[0]
        let short = "0000180f-0000-1000-8000-00805f9b34fb"
        #expect(try heard(["UUIDs": [own].value]).map(\.value.count) == [16])
        let battery = try heard(["UUIDs": [short, own].value])
        #expect(battery.map(\.type) == [.completeServices128, .completeServices])
        #expect(battery.map(\.value.count) == [16, 2] && battery.last?.value == [0x0f, 0x18])
        let maker = try heard(["UUIDs": ["a0000000-0000-1000-8000-0000000000ff", own].value])
        #expect(maker.map(\.value.count) == [32] && maker[0].value[16] == 0xff && maker[0].value[31] == 0xa0)
        let watch = try heard(["UUIDs": [own].value, "Appearance": .uint16(0x00C0)])
        #expect(watch.map(\.type.rawValue) == [0x07, 0x19] && watch.last?.value == [0xC0, 0x00])
        #expect(try heard(["UUIDs": [short].value, "Appearance": .uint16(0x00C0)]).isEmpty, "of no interest alone")
        // However many there are.
        let many = (0..<300).map { "a00000\(String($0 + 0x100, radix: 16).suffix(2))-0000-1000-8000-0000000000ff" }
        #expect(try heard(["UUIDs": (many + [own]).value]).isEmpty, "more than a device sends are not read")
        #expect(try heard(["UUIDs": (Array(many.prefix(200)) + [own]).value]).map(\.value.count) == [16 + 7 * 16])
    }

    @Test("a device whose constant services do not fit into one advertisement is reported without them")
    func constantsThatDoNotFit() {
        var table = DeviceTable()
        let uuids = [Self.services[0]] + (0..<7).map { "a000000\($0)-0000-1000-8000-0000000000ff" }
        // Six structures of 254 bytes, and 18 of the identifier: 1542 of 1650 bytes. Seven services would be 112 more.
        let pairs = (1...6).map { (UInt16($0), Value.bytes([UInt8](repeating: 0, count: 250))) }
        let data: [UInt16: Value] = Dictionary(uniqueKeysWithValues: pairs)
        let properties: [String: Value] = ["RSSI": .int16(-61), "ManufacturerData": data.value, "UUIDs": uuids.value]
        let heard = table.add(Self.device, properties, at: Air.now)
        #expect(heard?.data.structures.map(\.value.count) == [252, 252, 252, 252, 252, 252, 16])
    }

    @Test("a list of services that grows without end takes no more memory than a day of identifiers")
    func manyServices() throws {
        var table = DeviceTable()
        let path = Self.device
        _ = table.add(path, ["RSSI": .int16(-61)], at: Air.now)
        for index in 0..<1_000 {
            let digits = String(index + 0x1000, radix: 16)
            let uuids = (0..<4).map { "\(digits)0000-0000-4000-8000-00000000000\($0)" }
            let heard = table.change(path, ["UUIDs": uuids.value], [], at: Air.now)
            #expect(heard?.data.structures.first?.value.count == 64)
        }
        // More than an advertisement can carry: the newest eight.
        let many = (0..<5_000).map { "\(String($0 + 0x1000_0000, radix: 16))-0000-4000-8000-000000000000" }
        #expect(table.change(path, ["UUIDs": many.value], [], at: Air.now)?.data.structures.first?.value.count == 128)
    }

    @Test("properties of wrong types are left as they were, and nothing is lost of the others")
    func wrongTypes() throws {
        var objects = BlueZObjects()
        let mixed: Value = [UInt16(0x004C): Value.bytes(Array(Packets.iBeacon.dropFirst(4))), 7: "text"].value
        let signal = Self.added(
            ["Address": .uint32(1), "RSSI": "loud", "ManufacturerData": mixed, "ServiceData": .boolean(true)])
        #expect(
            objects.apply(signal, at: Air.now) == .sighting(try Packets.advertisement(Packets.iBeacon, nil, rssi: nil)))
        for arguments: [Value] in [[], ["x"], [.int16(1), .int16(2), .int16(3)]] {
            for (interface, member) in [
                (InterfaceName.properties, MemberName("PropertiesChanged")), (.objectManager, "InterfacesAdded"),
                (.objectManager, "InterfacesRemoved"),
            ] as [(InterfaceName, MemberName)] {
                let signal = Signal(path: "/", interface: interface, member: member, arguments: arguments)
                #expect(objects.apply(signal, at: Air.now) == .nothing)
            }
        }
    }

    @Test("a device of which nothing is known is asked for when it was heard, and only then")
    func unknown() {
        var objects = BlueZObjects()
        #expect(objects.apply(Self.changed(["RSSI": .int16(-61)]), at: Air.now) == .unknownDevice(Self.device))
        #expect(objects.apply(Self.changed(["Alias": "x"]), at: Air.now) == .nothing)
        #expect(objects.apply(Self.changed([:], invalidated: ["RSSI"]), at: Air.now) == .nothing)
    }

    @Test("a monitor's find is a sighting unless the device was handed over since it was lost")
    func found() throws {
        var objects = BlueZObjects()
        #expect(objects.found(Self.device, at: Air.now) == .unknownDevice(Self.device))
        _ = objects.apply(Self.added(["Address": Self.address, "ManufacturerData": Self.beacon]), at: Air.now)
        #expect(objects.found(Self.device, at: Air.now) == (try Self.sighting(rssi: nil)))
        #expect(objects.found(Self.device, at: Air.now) == .nothing)
        objects.lost(Self.device)
        #expect(objects.found(Self.device, at: Air.now) == (try Self.sighting(rssi: nil)))
    }

    @Test("addresses that rotate take no more memory than the table has, the oldest goes first")
    func bounded() throws {
        var table = DeviceTable(capacity: 100)
        let properties: [String: Value] = ["RSSI": .int16(-61), "ManufacturerData": Self.beacon]
        for index in 0..<1_000 {
            _ = table.add(try Self.hci0.appending("dev_\(index)"), properties, at: Air.now)
            // One goes on being heard.
            _ = table.change(try Self.hci0.appending("dev_0"), ["RSSI": .int16(-60)], [], at: Air.now)
            #expect(table.count <= 100)
        }
        #expect(table.knows(try Self.hci0.appending("dev_0")))
        #expect(table.knows(try Self.hci0.appending("dev_999")))
        #expect(!table.knows(try Self.hci0.appending("dev_1")))
    }

    @Test("a device that BlueZ removes is forgotten, and with an adapter all of its devices")
    func removed() {
        var objects = BlueZObjects()
        _ = objects.apply(Self.added(["RSSI": .int16(-61), "ManufacturerData": Self.beacon]), at: Air.now)
        let removed = Signal(
            path: "/", interface: .objectManager, member: "InterfacesRemoved",
            arguments: [Self.device.value, ["org.bluez.Device1"].value])
        #expect(objects.apply(removed, at: Air.now) == .nothing)
        #expect(objects.devices.count == 0)
        _ = objects.replace(
            with: [
                Self.hci0: ["org.bluez.Adapter1": ["Powered": true]],
                Self.device: ["org.bluez.Device1": ["RSSI": .int16(-61)]],
            ], at: Air.now)
        let unplugged = Signal(
            path: "/", interface: .objectManager, member: "InterfacesRemoved",
            arguments: [Self.hci0.value, ["org.bluez.Adapter1"].value])
        #expect(objects.apply(unplugged, at: Air.now) == .adapters)
        #expect(objects.devices.count == 0 && objects.adapters.isEmpty)
    }

    @Test("the first adapter that is on is used, or the named one, by name or address")
    func adapters() throws {
        var objects = BlueZObjects()
        _ = objects.replace(
            with: [
                "/org/bluez/hci0": ["org.bluez.Adapter1": ["Powered": false, "Address": "00:00:00:00:00:0A"]],
                "/org/bluez/hci1": ["org.bluez.Adapter1": ["Powered": true, "Address": "00:00:00:00:00:0B"]],
                "/org/bluez/hci2": ["org.bluez.Adapter1": ["Powered": true]],
            ], at: Air.now)
        #expect(try objects.adapter(named: nil).name == "hci1")
        #expect(try objects.adapter(named: "hci0").name == "hci0")
        #expect(try objects.adapter(named: "00:00:00:00:00:0a").name == "hci0")
        #expect(throws: RadioError.noAdapter(named: "hci9")) { try objects.adapter(named: "hci9") }
        let off = Self.changed(["Powered": false], "/org/bluez/hci1", of: "org.bluez.Adapter1")
        #expect(objects.apply(off, at: Air.now) == .adapters)
        #expect(objects.apply(off, at: Air.now) == .nothing)
        #expect(try objects.adapter(named: nil).name == "hci2")
    }
}
#endif
