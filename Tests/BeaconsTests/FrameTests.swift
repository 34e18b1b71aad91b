import Beacons
import Testing

@Suite("Frames")
struct FrameTests {
    private let parser = FrameParser()
    private let workedDigits = "02 15 3e e7 61 a0 f7 37 11 e3 a3 ac 08 00 20 0c 9a 66 00 01 02 f7 c5"

    private func read(_ digits: String, _ parser: FrameParser = FrameParser()) throws -> Frame {
        parser.frame(in: try AdvertisingData(received: bytes(digits)))
    }

    @Test("BE-02: the worked iBeacon is read, with flags or without, and as BlueZ hands it over")
    func iBeacon() throws {
        #expect(try read("1a ff 4c 00" + workedDigits) == .iBeacon(worked))
        #expect(try read("02 01 06 1a ff 4c 00" + workedDigits) == .iBeacon(worked))
        #expect(try read("02 01 1a 1a ff 4c 00" + workedDigits) == .iBeacon(worked))
        #expect(worked.manufacturerData == bytes(workedDigits))
        let assembled = try AdvertisingData(manufacturerData: [.apple: bytes(workedDigits)])
        #expect(parser.frame(in: assembled) == .iBeacon(worked))
        #expect("\(worked.uuid)" == "3ee761a0-f737-11e3-a3ac-0800200c9a66")
        #expect(ProximityUUID("3EE761A0-F737-11E3-A3AC-0800200C9A66") == worked.uuid)
        #expect(ProximityUUID("3ee761a0f73711e3a3ac0800200c9a66") == worked.uuid)
        #expect(ProximityUUID("3ee761a0f-73711e3a3ac-0800200c-9a66-") == nil)
    }

    @Test(
        "BE-02: an iBeacon of another length is malformed, and a longer one is read only when its tail is to be ignored"
    )
    func lengths() throws {
        let short = Array(bytes(workedDigits).dropLast())
        let long = bytes(workedDigits) + [0]
        for value in [short, long, [0x02, 0x15]] {
            #expect(parser.frame(in: try AdvertisingData(manufacturerData: [.apple: value])) == .malformed(.iBeacon))
        }
        let lenient = FrameParser(ignoresTail: true)
        #expect(lenient.frame(in: try AdvertisingData(manufacturerData: [.apple: long])) == .iBeacon(worked))
        #expect(lenient.frame(in: try AdvertisingData(manufacturerData: [.apple: short])) == .malformed(.iBeacon))
    }

    @Test("BE-02: other messages of Apple's and other companies' data are distinguished and identify no beacon")
    func others() throws {
        #expect(try read("06 ff 4c 00 12 19 00") == .otherApple(messageType: 0x12))
        #expect(try read("04 ff 4c 00 10") == .otherApple(messageType: 0x10))
        #expect(try read("03 ff 4c 00") == .unknown)
        #expect(try read("1a ff 4d 00" + workedDigits) == .unknown)
        #expect(try read("") == .unknown)
        #expect(try read("02 ff 4c") == .unknown)
        #expect(try read("06 ff 4c 00 12 19 00").identity == nil)
    }

    @Test("BE-02: a beacon behind other structures is found, and damage behind it does not hide it")
    func severalStructures() throws {
        #expect(try read("05 ff 4c 00 10 01 1a ff 4c 00" + workedDigits) == .iBeacon(worked))
        #expect(try read("1a ff 4c 00" + workedDigits + "ff 16") == .iBeacon(worked))
        let other = IBeacon(uuid: .secretHandshake, major: 1, minor: 36)
        let two = try AdvertisingData([worked.structure, other.structure], limit: .extended)
        #expect(parser.frame(in: two) == .iBeacon(worked))
        #expect(try read("05 ff 4c 00 10 01 20 16 aa fe") == .otherApple(messageType: 0x10))
    }

    @Test(
        "BE-02: a power of 0 or above is no calibration",
        arguments: [(Int8(0), nil), (5, nil), (-59, -59), (-128, nil)])
    func power(_ power: Int8, _ dBm: Int?) {
        let beacon = IBeacon(uuid: .secretHandshake, major: 1, minor: 1, power: power)
        #expect(beacon.powerAtOneMetre == dBm.flatMap { RSSI($0) })
        #expect(
            (DistanceFormula.standard.metres(rssi: -60, powerAtOneMetre: beacon.powerAtOneMetre) == nil) == (dBm == nil)
        )
    }

    @Test("BE-04: the AltBeacon of the dossier is built and read, and is the same beacon as the iBeacon")
    func altBeacon() throws {
        let digits = "1b ff ff ff be ac 3e e7 61 a0 f7 37 11 e3 a3 ac 08 00 20 0c 9a 66 00 01 02 f7 c5 00"
        let beacon = AltBeacon(company: .test, identifiedBy: (.secretHandshake, 1, 759))
        #expect(try AdvertisingData([beacon.structure]).bytes == bytes(digits))
        #expect(try read(digits) == .altBeacon(beacon))
        #expect(try AdvertisingData([.flags(), beacon.structure]).bytes.count == 31)
        #expect(beacon.identity == worked.identity)
        let assembled = try AdvertisingData(manufacturerData: [.test: beacon.manufacturerData])
        #expect(parser.frame(in: assembled) == .altBeacon(beacon))
        let short = try AdvertisingData(manufacturerData: [.test: beacon.manufacturerData.dropLast()])
        #expect(parser.frame(in: short) == .malformed(.altBeacon))
        #expect(AltBeacon(company: .test, identifiedBy: (.secretHandshake, 1, 1), power: 3).powerAtOneMetre == nil)
    }
}

@Suite("Eddystone")
struct EddystoneTests {
    private let uidDigits =
        "02 01 06 03 03 aa fe 17 16 aa fe 00 ee 3e e7 61 a0 08 00 20 0c 9a 66 00 00 00 00 02 f7 00 00"

    private func read(_ digits: String) throws -> Frame {
        FrameParser().frame(in: try AdvertisingData(received: bytes(digits)))
    }

    @Test("BE-05: the UID of the dossier is built and read; older senders leave two bytes out")
    func uid() throws {
        let uid = EddystoneUID(namespace: .init(shortening: .secretHandshake), truncatingInstance: 759)
        #expect(uid.namespace.bytes == bytes("3ee761a0 0800200c9a66"))
        #expect(try AdvertisingData([.flags()] + uid.structures(power: -18)).bytes == bytes(uidDigits))
        #expect(try read(uidDigits) == .eddystone(.uid(uid, power: -18)))
        #expect(try read(uidDigits).powerAtOneMetre == RSSI(-59))
        let older = "03 03 aa fe 15 16 aa fe 00 ee 3e e7 61 a0 08 00 20 0c 9a 66 00 00 00 00 02 f7"
        #expect(try read(older) == .eddystone(.uid(uid, power: -18)))
        #expect(try read(older.replacingFirst("15 16", "14 16")) == .malformed(.eddystone))
        let value = Array(bytes(uidDigits).dropFirst(11))
        let assembled = try AdvertisingData(manufacturerData: [:], serviceData: [.eddystone: value])
        #expect(FrameParser().frame(in: assembled) == .eddystone(.uid(uid, power: -18)))
    }

    @Test("BE-05: the URL of the dossier is built and read")
    func url() throws {
        let digits = "02 01 06 03 03 aa fe 13 16 aa fe 10 ee 01 72 65 63 75 72 73 65 00 75 2f 37 35 39"
        let url = try EddystoneURL("https://www.recurse.com/u/759")
        #expect(try AdvertisingData([.flags()] + url.structures(power: -18)).bytes == bytes(digits))
        #expect(try read(digits) == .eddystone(.url(url, power: -18)))
        #expect("\(url)" == "https://www.recurse.com/u/759")
    }

    @Test(
        "BE-05: every scheme and expansion is compressed and read back",
        arguments: [
            ("http://www.a.com/", "00 61 00"), ("https://www.a.org/", "01 61 01"), ("http://a.edu/", "02 61 02"),
            ("https://a.net/", "03 61 03"), ("https://a.info/", "03 61 04"), ("https://a.biz/", "03 61 05"),
            ("https://a.gov/", "03 61 06"), ("https://a.com", "03 61 07"), ("https://a.org", "03 61 08"),
            ("https://a.edu", "03 61 09"), ("https://a.net", "03 61 0a"), ("https://a.info", "03 61 0b"),
            ("https://a.biz", "03 61 0c"), ("https://a.gov", "03 61 0d"),
            (
                "https://abcdefghijklmnop.com",
                "03 61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70 07"
            ),
        ])
    func expansions(_ address: String, _ digits: String) throws {
        let url = try EddystoneURL(address)
        #expect(url.bytes == bytes(digits))
        #expect("\(url)" == address)
    }

    @Test(
        "BE-05: an address that cannot be sent is refused",
        arguments: [
            "", "ftp://a.com", "https://", "https://a b", "https://é.com", "https://abcdefghijklmnopqr",
            "https://a\u{7}",
        ])
    func refused(_ address: String) {
        #expect(throws: BeaconsError.self) { try EddystoneURL(address) }
    }

    @Test(
        "BE-05: a URL frame with a byte, scheme or length that is not allowed is malformed",
        arguments: [
            "06 16 aa fe 10 ee 03", "07 16 aa fe 10 ee 04 61", "07 16 aa fe 10 ee 03 0e", "07 16 aa fe 10 ee 03 20",
            "07 16 aa fe 10 ee 03 7f", "07 16 aa fe 10 ee 03 ff", "04 16 aa fe 10",
            "18 16 aa fe 10 ee 03 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61 61",
        ])
    func malformedURL(_ digits: String) throws {
        #expect(try read(digits) == .malformed(.eddystone))
    }

    @Test("BE-05: the telemetry of the dossier is read, and what is not measured is nothing")
    func telemetry() throws {
        let frame = try read("02 01 06 03 03 aa fe 11 16 aa fe 20 00 0b c4 15 80 00 00 12 34 00 0d 2f 00")
        guard case .eddystone(.telemetry(let telemetry)) = frame else { throw Unexpected(frame) }
        #expect(telemetry.battery == 3_012)
        #expect(telemetry.temperature == 21.5)
        #expect(telemetry.advertisements == 4_660)
        #expect(telemetry.uptime == 864_000)
        let bare = try read("11 16 aa fe 20 00 00 00 80 00 00 00 00 00 00 00 00 00")
        guard case .eddystone(.telemetry(let nothing)) = bare else { throw Unexpected(bare) }
        #expect(nothing.battery == nil && nothing.temperature == nil)
        let cold = try read("11 16 aa fe 20 00 00 00 ff 40 00 00 00 00 00 00 00 00")
        guard case .eddystone(.telemetry(let below)) = cold else { throw Unexpected(cold) }
        #expect(below.temperature == -0.75)
        #expect(try read("05 16 aa fe 20 01") == .eddystone(.otherTelemetry(version: 1)))
        #expect(try read("05 16 aa fe 20 00") == .malformed(.eddystone))
    }

    @Test("BE-05: an ephemeral identifier is read, a reserved type is told, and a low nibble is malformed")
    func others() throws {
        let frame = try read("03 03 aa fe 0d 16 aa fe 30 ee df 8e 76 bb fe c4 ef c5")
        #expect(frame == .eddystone(.ephemeral(0xdf8e_76bb_fec4_efc5, power: -18)))
        #expect(frame.identity == .ephemeral(0xdf8e_76bb_fec4_efc5))
        #expect(try read("04 16 aa fe 40") == .eddystone(.reserved(type: 0x40)))
        #expect(try read("04 16 aa fe 01") == .malformed(.eddystone))
        #expect(try read("03 16 aa fe") == .malformed(.eddystone))
    }
}

/// A frame of another kind than the test is about.
struct Unexpected: Error {
    let frame: Frame

    init(_ frame: Frame) { self.frame = frame }
}

extension String {
    func replacingFirst(_ old: String, _ new: String) -> String {
        guard let range = firstRange(of: old) else { return self }
        return self[..<range.lowerBound] + new + self[range.upperBound...]
    }
}
