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
        "BE-03: 70000 is refused where it would become 4464 and point at somebody else, and is sent whole by the wide scheme"
    )
    func wide() throws {
        let number = try UserNumber(70_000)
        #expect(throws: BeaconsError.userNumber(70_000, most: 65_535)) { try number.identifiers(.secretHandshake) }
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
        #expect(throws: BeaconsError.userNumber(number, most: 0x7FFF_FFFF)) { try UserNumber(number) }
    }

    @Test("BE-03, BE-12: a minor of 0 names nobody")
    func nobody() {
        #expect(UserNumber(major: 1, minor: 0, scheme: .secretHandshake) == nil)
        #expect(UserNumber(major: 1, minor: 0, scheme: .wide) == nil)
        #expect(UserNumber(major: 0x8000, minor: 0, scheme: .wide) == nil)
        #expect(UserNumber(major: 0x8001, minor: 0, scheme: .wide)?.value == 65_536)
    }

    @Test("BE-12: oneself, nobody and other fleets are passed over")
    func passersBy() throws {
        let people = PassersBy(ignoring: try UserNumber(759))
        func person(_ minor: UInt16, _ uuid: ProximityUUID = .secretHandshake) -> Int? {
            people.person(in: .iBeacon(IBeacon(uuid: uuid, major: 1, minor: minor)))?.value
        }
        #expect(person(36) == 36)
        #expect(person(759) == nil)
        #expect(person(0) == nil)
        #expect(person(36, ProximityUUID(high: 1, low: 2)) == nil)
        #expect(
            people.person(in: .altBeacon(AltBeacon(company: .test, identifiedBy: (.secretHandshake, 1, 7))))?.value == 7
        )
        #expect(people.person(in: .unknown) == nil)
    }

    @Test("BE-12: each person is let through once an hour, however many stand together")
    func oncePerPerson() throws {
        var once = RepeatGuard<Int>()
        for minute in stride(from: 0.0, through: 59, by: 1) {
            for person in 1...2 {
                #expect(once.lets(person, throughAt: try at(1_000 + 60 * minute)) == (minute == 0))
            }
        }
        #expect(once.lets(1, throughAt: try at(1_000 + 3_600)))
        #expect(!once.lets(1, throughAt: try at(1_000 + 3_601)))
        once.forget(1)
        #expect(once.lets(1, throughAt: try at(1_000 + 3_602)))
    }

    @Test("BE-12: a clock that is set back neither repeats an alert nor silences a person for long")
    func clockSetBack() throws {
        var once = RepeatGuard<Int>()
        #expect(once.lets(1, throughAt: try at(100_000)))
        #expect(!once.lets(1, throughAt: try at(10)))
        #expect(!once.lets(1, throughAt: try at(3_609)))
        #expect(once.lets(1, throughAt: try at(3_610)))
    }

    @Test("BE-12: no more people are remembered than there is room for, and the oldest are forgotten first")
    func bounded() throws {
        var once = RepeatGuard<Int>(capacity: 16)
        for person in 1...17 { #expect(once.lets(person, throughAt: try at(Double(person)))) }
        #expect(!once.lets(17, throughAt: try at(20)))
        #expect(!once.lets(16, throughAt: try at(20)))
        #expect(once.lets(1, throughAt: try at(20)))
    }
}
