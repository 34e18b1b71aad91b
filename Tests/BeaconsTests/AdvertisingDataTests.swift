import Beacons
import Testing

@Suite("Advertising data")
struct AdvertisingDataTests {
    @Test("BE-01: the worked frame is built byte by byte, with and without flags")
    func worked() throws {
        let bare = try AdvertisingData([BeaconsTests.worked.structure])
        #expect(
            hex(bare.bytes)
                == hex(bytes("1a ff 4c 00 02 15 3e e7 61 a0 f7 37 11 e3 a3 ac 08 00 20 0c 9a 66 00 01 02 f7 c5")))
        let flagged = try AdvertisingData([.flags(), BeaconsTests.worked.structure])
        #expect(
            hex(flagged.bytes)
                == hex(
                    bytes("02 01 06 1a ff 4c 00 02 15 3e e7 61 a0 f7 37 11 e3 a3 ac 08 00 20 0c 9a 66 00 01 02 f7 c5"))
        )
        #expect(bare.bytes.count == 27 && flagged.bytes.count == 30)
    }

    @Test("BE-01: 31 bytes are built and 32 are refused")
    func limit() throws {
        let fits = try AdvertisingStructure(type: .manufacturerData, value: [UInt8](repeating: 7, count: 29))
        #expect(try AdvertisingData([fits]).bytes.count == 31)
        let overlong = try AdvertisingStructure(type: .manufacturerData, value: [UInt8](repeating: 7, count: 30))
        #expect(throws: BeaconsError.advertisingDataTooLong(count: 32, limit: 31)) { try AdvertisingData([overlong]) }
        #expect(try AdvertisingData([overlong], limit: .extended).bytes.count == 32)
        #expect(throws: BeaconsError.advertisingDataTooLong(count: 257, limit: 256)) {
            try AdvertisingStructure(type: .serviceData, value: [UInt8](repeating: 7, count: 255))
        }
        #expect(throws: BeaconsError.advertisingDataTooLong(count: 1_651, limit: 1_650)) {
            try AdvertisingData(received: [UInt8](repeating: 0, count: 1_651))
        }
    }

    struct Reading: Sendable, CustomTestStringConvertible {
        let digits: String
        let types: [UInt8]
        /// Offset, length and what is available.
        var damage: [Int]?
        var testDescription: String { digits }
    }

    @Test(
        "BE-01: a length of 0 ends the structures, and one that runs past the end spoils only the rest",
        arguments: [
            Reading(digits: "", types: []),
            Reading(digits: "00", types: []),
            Reading(digits: "02 01 06", types: [1]),
            Reading(digits: "02 01 06 00 02 0a 04", types: [1]),
            Reading(digits: "01 09 02 01 1a", types: [9, 1]),
            Reading(digits: "05", types: [], damage: [0, 5, 0]),
            Reading(digits: "02 01 06 03 ff 4c", types: [1], damage: [3, 3, 2]),
            Reading(digits: "ff ff 4c 00", types: [], damage: [0, 255, 3]),
        ])
    func reading(_ reading: Reading) throws {
        let data = try AdvertisingData(received: bytes(reading.digits))
        #expect(data.structures.map(\.type.rawValue) == reading.types)
        #expect(data.damage.map { [$0.offset, $0.length, $0.available] } == reading.damage)
    }

    @Test("BE-01: what was read is built again as it was")
    func roundTrip() throws {
        let received = bytes("02 01 06 03 03 aa fe 11 16 aa fe 20 00 0b c4 15 80 00 00 12 34 00 0d 2f 00")
        #expect(try AdvertisingData(AdvertisingData(received: received).structures).bytes == received)
    }

    @Test("An address is printed as BlueZ prints it, and nothing else is read as one")
    func address() throws {
        let address = try #require(DeviceAddress("d0:00:00:00:02:F7"))
        #expect(address.number == 0xD000_0000_02F7)
        #expect("\(address)" == "D0:00:00:00:02:F7")
        for text in [
            "", "D0:00:00:00:02", "D0-00-00-00-02-F7", "D0:00:00:00:02:G7", "D0:00:00:00:02:F7:", "D00000:00:02:F7",
        ] {
            #expect(DeviceAddress(text) == nil, "\(text)")
        }
    }

    @Test("A service UUID is read from its 128-bit form only where it has a 16-bit one")
    func service() {
        #expect(ServiceUUID(bluetoothUUID: "0000feaa-0000-1000-8000-00805f9b34fb") == .eddystone)
        #expect(ServiceUUID.exposureNotification.bluetoothUUID == "0000fd6f-0000-1000-8000-00805f9b34fb")
        #expect(ServiceUUID(bluetoothUUID: "1000feaa-0000-1000-8000-00805f9b34fb") == nil)
        #expect(ServiceUUID(bluetoothUUID: "0000feaa-0000-1000-8000-00805f9b34fc") == nil)
        #expect(ServiceUUID(bluetoothUUID: "feaa") == nil)
    }
}

@Suite("Time stamps")
struct TimestampTests {
    @Test("stay within their range whatever is added, and are no number's victim")
    func range() throws {
        #expect(Timestamp(secondsSince1970: .nan) == nil)
        #expect(Timestamp(secondsSince1970: .infinity) == nil)
        #expect(Timestamp(secondsSince1970: 1e30) == nil)
        let late = Timestamp(clampingMicroseconds: .max)
        #expect(late.advanced(by: .seconds(Int64.max)) == late)
        let early = Timestamp(clampingMicroseconds: .min)
        #expect(early.advanced(by: .seconds(Int64.min)) == early)
        #expect(early.duration(to: late) > .seconds(300_000_000_000))
        #expect(try at(-0.5).wholeSeconds == -1)
        #expect(try at(-1).wholeSeconds == -1)
        #expect(try at(1.9).wholeSeconds == 1)
    }
}
