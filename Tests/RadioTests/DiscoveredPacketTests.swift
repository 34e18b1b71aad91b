import Beacons
import Testing

@testable import Radio

/// Dictionaries as Core Bluetooth reports packets, with texts in place of its identifiers.
@Suite("What Core Bluetooth reports of a packet")
struct DiscoveredPacketTests {
    private static let identifier = "B3FE9844-9DFA-4470-AE08-68EB355C32C9"
    private static let packet = DiscoveredPacket(
        manufacturerDataKey: "kCBAdvDataManufacturerData", serviceDataKey: "kCBAdvDataServiceData",
        servicesKey: "kCBAdvDataServiceUUIDs", nameKey: "kCBAdvDataLocalName", powerKey: "kCBAdvDataTxPowerLevel")

    private func data(_ dictionary: [String: Any]) -> AdvertisingData? {
        Self.packet.data(in: dictionary, bytes: [UInt8].self) { (identifier: String) in identifier }
    }

    private func beacon(_ dictionary: [String: Any]) throws -> BeaconIdentity? {
        try data(dictionary).flatMap { FrameParser().frame(of: try Packets.advertisement($0.bytes)).identity }
    }

    @Test("a rolling service UUID, manufacturer data and service data are what another radio hears")
    func heard() throws {
        let uuid = try #require(RollingUUID(Self.identifier))
        #expect(try beacon(["kCBAdvDataServiceUUIDs": ["FEAA", Self.identifier]]) == .rollingService(uuid))
        let number = IBeacon(uuid: .secretHandshake, major: 1, minor: 759, power: -59)
        let structure = Array(number.structure.bytes.dropFirst(2))
        #expect(
            try beacon(["kCBAdvDataManufacturerData": structure])
                == .proximity(uuid: .secretHandshake, major: 1, minor: 759))
        let uid: [UInt8] = [0, 0xE7] + Array(repeating: 7, count: 16)
        guard case .eddystone? = try beacon(["kCBAdvDataServiceData": ["FEAA": uid, Self.identifier: [1]]]) else {
            Issue.record("no Eddystone UID")
            return
        }
    }

    @Test(
        "CI15: an identifier in the overflow area, or in any place but the three that are read, names no person",
        arguments: [
            "kCBAdvDataHashedServiceUUIDs", "kCBAdvDataSolicitedServiceUUIDs", "kCBAdvDataLeBluetoothDeviceAddress",
        ])
    func overflow(key: String) {
        #expect(data([key: [Self.identifier]]) == nil)
        let both = data([key: [Self.identifier], "kCBAdvDataManufacturerData": [0xFF, 0xFF, 1] as [UInt8]])
        #expect(both?.bytes == [4, 0xFF, 0xFF, 0xFF, 1])
    }

    @Test("CI13: beside a rolling service UUID a name and a power are told, which the audit finds, and nowhere else")
    func constants() throws {
        let constants: [String: Any] = ["kCBAdvDataLocalName": "Ada's phone", "kCBAdvDataTxPowerLevel": -8]
        #expect(data(constants) == nil)
        let services: [String: Any] = ["kCBAdvDataServiceUUIDs": [Self.identifier]]
        let both = try #require(data(services.merging(constants) { $1 })).structures
        #expect(both.map(\.type) == [.completeServices128, .completeName, .transmitPower])
        #expect(both.map(\.value).suffix(2) == [Array("Ada's phone".utf8), [0xF8]])
        let other: [String: Any] = ["kCBAdvDataManufacturerData": [0xFF, 0xFF, 1] as [UInt8]]
        #expect(data(other.merging(constants) { $1 }) == data(other))
        let hostile: [String: Any] = ["kCBAdvDataLocalName": 7, "kCBAdvDataTxPowerLevel": "text"]
        #expect(data(services.merging(hostile) { $1 }) == data(services))
    }

    @Test(
        "CI13: an audit takes the system's identifier of a transmitter for no address that lasts",
        arguments: [0x00, 0x7F, 0x80, 0xFF] as [UInt8])
    func transmitter(first: UInt8) throws {
        let address = DeviceAddress(transmitter: [first, 1, 2, 3, 4, 5])
        #expect(address != DeviceAddress(transmitter: [first, 1, 2, 3, 4, 6]))
        let seed = try RollingSeed(revealed: Array(0...31))
        let window = RollingWindow(number: 1_963_584)
        var audit = LinkabilityAudit(of: [.init(seed, isSent: true)])
        audit.receive(
            Advertisement(
                time: seed.change(to: window).advanced(by: .seconds(1)), address: address, rssi: nil,
                data: try AdvertisingData([.service(RollingUUID(seed.token(in: window)))])))
        #expect(audit.termCounts == [1] && audit.report().findings == [])
    }

    @Test("what is of another type, too short or too long is no packet")
    func hostile() {
        for value: Any in [7, "text", [UInt8](), [7] as [UInt8], [UInt8](repeating: 0, count: 2_000)] {
            #expect(data(["kCBAdvDataManufacturerData": value]) == nil)
        }
        #expect(data(["kCBAdvDataServiceData": ["FEAZ": [1] as [UInt8]], "kCBAdvDataServiceUUIDs": [7]]) == nil)
    }
}
