import Beacons
import Testing

@Suite("People")
struct UserNumberTests {
    @Test(
        "BE-03: SecretHandshake's numbers are major 1 and the number as minor",
        arguments: [(36, "00 01 00 24"), (759, "00 01 02 f7"), (65_535, "00 01 ff ff"), (1, "00 01 00 01")])
    func secretHandshake(_ number: Int, _ digits: String) throws {
        let (major, minor) = try UserNumber(number).identifiers(.secretHandshake)
        #expect([major >> 8, major & 255, minor >> 8, minor & 255].map { UInt8($0) } == bytes(digits))
        #expect(UserNumber(major: major, minor: minor, scheme: .secretHandshake)?.value == number)
        #expect(UserNumber(major: major, minor: minor, scheme: .wide)?.value == number)
    }

    @Test(
        "BE-03: 70000 is rejected where it would become 4464, another user's number, and is sent whole by the wide scheme"
    )
    func wide() throws {
        let number = try UserNumber(70_000)
        #expect(throws: BeaconsError.userNumber(70_000, maximum: 65_535)) { try number.identifiers(.secretHandshake) }
        let (major, minor) = try number.identifiers(.wide)
        #expect(major == 0x8001 && minor == 0x1170)
        #expect(UserNumber(major: major, minor: minor, scheme: .wide) == number)
        #expect(UserNumber(major: major, minor: minor, scheme: .secretHandshake)?.value == 4_464)
        let last = try UserNumber(0x7FFF_FFFF)
        #expect(try last.identifiers(.wide) == (0xFFFF, 0xFFFF))
        #expect(UserNumber(major: 0xFFFF, minor: 0xFFFF, scheme: .wide) == last)
    }

    @Test(
        "BE-03: 0, negative numbers and those beyond 31 bits are no user numbers",
        arguments: [0, -1, 0x8000_0000, .max, .min])
    func refused(_ number: Int) {
        #expect(throws: BeaconsError.userNumber(number, maximum: 0x7FFF_FFFF)) { try UserNumber(number) }
    }

    @Test("BE-03, BE-12: a minor of 0 identifies no user")
    func minorZero() {
        #expect(UserNumber(major: 1, minor: 0, scheme: .secretHandshake) == nil)
        #expect(UserNumber(major: 1, minor: 0, scheme: .wide) == nil)
        #expect(UserNumber(major: 0x8000, minor: 0, scheme: .wide) == nil)
        #expect(UserNumber(major: 0x8001, minor: 0, scheme: .wide)?.value == 65_536)
    }
}
