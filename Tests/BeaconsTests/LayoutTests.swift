import Beacons
import Testing

@Suite("Layouts")
struct LayoutTests {
    private static let texts: [(BeaconLayout, String)] = [
        (.iBeacon, "m:2-3=0215,i:4-19,i:20-21,i:22-23,p:24-24"),
        (.altBeacon, "m:2-3=beac,i:4-19,i:20-21,i:22-23,p:24-24,d:25-25"),
        (.eddystoneUID, "s:0-1=feaa,m:2-2=00,p:3-3:-41,i:4-13,i:14-19"),
        (.eddystoneURL, "s:0-1=feaa,m:2-2=10,p:3-3:-41,i:4-21v"),
    ]

    @Test("BE-06: the layouts that are built in are those of the texts in use", arguments: texts)
    func builtIn(_ layout: BeaconLayout, _ text: String) throws {
        #expect(try BeaconLayout(parsing: text) == layout)
    }

    @Test("BE-06: an iBeacon and an AltBeacon are read by their layouts as by the parser")
    func proximity() throws {
        let iBeacon = try #require(BeaconLayout.iBeacon.reading(of: try AdvertisingData([.flags(), worked.structure])))
        #expect(iBeacon.identity == worked.identity)
        #expect(iBeacon.number == 0x004C)
        #expect(iBeacon.powerAtOneMetre == RSSI(-59))
        let beacon = AltBeacon(company: .test, identifiedBy: (.secretHandshake, 1, 759), reserved: 9)
        let data = try AdvertisingData([beacon.structure])
        let altBeacon = try #require(BeaconLayout.altBeacon.reading(of: data))
        #expect(altBeacon.identity == beacon.identity)
        #expect(altBeacon.data == [[9]])
        #expect(BeaconLayout.iBeacon.reading(of: data) == nil)
    }

    @Test("BE-06: Eddystone's power is corrected to 1 m, and a variable part ends with the data")
    func eddystone() throws {
        let uid = EddystoneUID(namespace: .init(shortening: .secretHandshake), truncatingInstance: 759)
        let reading = BeaconLayout.eddystoneUID.reading(of: try AdvertisingData(uid.structures(power: -18)))
        #expect(reading?.identifiers == [bytes("3ee761a0 0800200c9a66"), bytes("00 00 00 00 02 f7")])
        #expect(reading?.powerAtOneMetre == RSSI(-59))
        #expect(reading?.number == 0xFEAA)
        let url = try EddystoneURL("https://www.recurse.com/u/759")
        let address = BeaconLayout.eddystoneURL.reading(of: try AdvertisingData(url.structures(power: -18)))
        #expect(address?.identifiers == [url.bytes])
    }

    @Test("BE-06: bytes are reversed where the layout says so")
    func littleEndian() throws {
        let layout = try BeaconLayout(parsing: "m:2-2=01,i:3-4l,i:3-4,d:5-6l")
        let data = try AdvertisingData(manufacturerData: [.test: [1, 0x12, 0x34, 0x56, 0x78]])
        let reading = try #require(layout.reading(of: data))
        #expect(reading.identifiers == [[0x34, 0x12], [0x12, 0x34]])
        #expect(reading.data == [[0x78, 0x56]])
        #expect(reading.powerAtOneMetre == nil)
    }

    @Test("BE-06: a service with a 128-bit UUID is found in its own kind of structure")
    func longService() throws {
        let layout = try BeaconLayout(parsing: "s:0-15=0000110000001000800000805f9b34fb,i:16-16")
        let value = bytes("fb 34 9b 5f 80 00 00 80 00 10 00 00 00 11 00 00 07")
        let data = try AdvertisingData([AdvertisingStructure(type: .serviceData128, value: value)])
        #expect(layout.reading(of: data)?.identifiers == [[7]])
        #expect(layout.reading(of: data)?.number == nil)
    }

    @Test("BE-06: an extra frame needs no identifier")
    func extra() throws {
        let layout = try BeaconLayout(parsing: "x,s:0-1=feaa,m:2-2=20,d:3-3,d:4-5,d:6-7,d:8-11,d:12-15")
        #expect(layout.isExtra)
        let data = try AdvertisingData(received: bytes("11 16 aa fe 20 00 0b c4 15 80 00 00 12 34 00 0d 2f 00"))
        #expect(layout.reading(of: data)?.data.map { hex($0) } == ["00", "0bc4", "1580", "00001234", "000d2f00"])
    }

    @Test("BE-06: a frame that is shorter than its layout is none of it")
    func short() throws {
        for count in 0..<23 {
            let data = try AdvertisingData(manufacturerData: [.apple: Array(worked.manufacturerData.prefix(count))])
            #expect(BeaconLayout.iBeacon.reading(of: data) == nil)
        }
    }

    @Test(
        "BE-06: a layout that cannot be understood is refused with its term",
        arguments: [
            ("", ""), ("m:2-3=beac", "m:2-3=beac"), ("i:4-19", "i:4-19"), ("m:2-3=be,i:4-5", "m:2-3=be"),
            ("m:2-3=bexx,i:4-5", "m:2-3=bexx"), ("m:3-2=beac,i:4-5", "m:3-2=beac"), ("m:2-3,i:4-5", "m:2-3"),
            ("m:2-2=01,i:4", "i:4"), ("m:2-2=01,i:-4-5", "i:-4-5"), ("m:2-2=01,i:4-254", "i:4-254"),
            ("m:2-2=01,i:+4-5", "i:+4-5"), ("m:2-2=01,i:4-99999999999999999999", "i:4-99999999999999999999"),
            ("m:2-2=01,i:4-5q", "i:4-5q"), ("m:2-2=01,i:4-5,p:6-7", "p:6-7"), ("m:2-2=01,i:4-5,p:6-6:x", "p:6-6:x"),
            ("m:2-2=01,i:4-5,p:6-6:128", "p:6-6:128"), ("m:2-2=01,i:4-5,p:6-6,p:7-7", "p:7-7"), ("q:1-2", "q:1-2"),
            ("s:1-2=feaa,i:4-5", "s:1-2=feaa"), ("s:0-2=feaa00,i:4-5", "s:0-2=feaa00"), ("m:2-2=01,,i:4-5", ""),
            ("x:1,m:2-2=01", "x:1"),
        ])
    func refused(_ text: String, _ term: String) {
        let error = #expect(throws: BeaconsError.self) { try BeaconLayout(parsing: text) }
        guard case .layout(term, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A text from elsewhere reaches an error's description only escaped")
    func escaped() {
        let error = BeaconsError.layout(term: "\u{1b}[2J\u{202e}x", problem: "is wrong")
        #expect(error.description.unicodeScalars.allSatisfy { $0.isASCII && $0.value >= 0x20 })
    }
}
