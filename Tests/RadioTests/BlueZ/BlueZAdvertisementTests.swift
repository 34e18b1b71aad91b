#if os(Linux)
import Beacons
import DBus
import Testing

@testable import Radio

@Suite("Advertising data as BlueZ's properties")
struct BlueZAdvertisementTests {
    @Test("an iBeacon is Apple's manufacturer data of 23 bytes, with or without flags", arguments: ["", "020106"])
    func iBeacon(flags: String) throws {
        let bytes = Packets.bytes(flags) + Packets.iBeacon
        let advertisement = try BlueZAdvertisement(AdvertisingData(received: bytes))
        #expect(advertisement.manufacturerData == [.apple: Array(Packets.iBeacon.dropFirst(4))])
        #expect(advertisement.serviceData.isEmpty && advertisement.services.isEmpty)
    }

    @Test("Eddystone is service data and the list with its service")
    func eddystone() throws {
        let advertisement = try BlueZAdvertisement(AdvertisingData(received: Packets.eddystone))
        #expect(advertisement.services == [.eddystone])
        #expect(advertisement.serviceData == [.eddystone: Array(Packets.eddystone.dropFirst(11))])
    }

    @Test("CI2: a rolling identifier is one service UUID and nothing else", arguments: ["", "02011a"])
    func rollingService(flags: String) throws {
        let bytes = Packets.bytes(flags + "1107" + "c9325c35eb6808ae7044fa9d4498feb3")
        let advertisement = try BlueZAdvertisement(AdvertisingData(received: bytes))
        #expect(advertisement.rollingService?.description == "b3fe9844-9dfa-4470-ae08-68eb355c32c9")
        let properties = advertisement.properties(withInterval: false)
        #expect(properties.map(\.name) == ["Type", "ServiceUUIDs"])
    }

    @Test("the interval is there when it is wanted")
    func interval() throws {
        let advertisement = try BlueZAdvertisement(AdvertisingData(received: Packets.iBeacon))
        #expect(
            advertisement.properties(withInterval: true).map(\.name)
                == ["Type", "ManufacturerData", "MinInterval", "MaxInterval"])
        #expect(advertisement.properties(withInterval: false).map(\.name) == ["Type", "ManufacturerData"])
    }

    @Test(
        "what BlueZ cannot send is refused before anything is asked of it",
        arguments: [
            "", "020106", "0303aafe", "05096e616d65", "1aff4c0002", "02ff4c", "0216aa", "0403aafe01",
            "05ffffff0102" + "05ffffff0304", "0416aafe01" + "0416aafe02",
            // A service UUID beside other data, twice, of another version, or cut.
            "1107c9325c35eb6808ae7044fa9d4498feb3" + "05ffffff0102",
            "2107" + "c9325c35eb6808ae7044fa9d4498feb3" + "c7c2d2acd5db318d174608b4d970c132",
            "1107c9325c35eb6808ae7014fa9d4498feb3", "0f07c9325c35eb6808ae7044fa9d4498",
        ])
    func unsendable(digits: String) {
        #expect(throws: RadioError.self) {
            try BlueZAdvertisement(AdvertisingData(received: Packets.bytes(digits)))
        }
    }
}
#endif
