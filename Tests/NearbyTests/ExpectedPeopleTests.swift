import Beacons
import Nearby
import Radio
import Testing

/// The vectors are those of the circles dossier, 2: seeds A = 00 … 1f and B = 80 … 9f.
@Suite("Whom a scan in the background looks for")
struct ExpectedPeopleTests {
    private let adas: RollingSeed
    private let zoes: RollingSeed
    private let newYear: Timestamp
    private let ada = person(759)
    private let zoe = person(65_535)

    init() throws {
        adas = try RollingSeed(revealed: (0..<32).map { UInt8($0) })
        zoes = try RollingSeed(revealed: (0x80..<0xA0).map { UInt8($0) })
        newYear = try #require(Timestamp(secondsSince1970: 1_767_225_600))
    }

    /// The first window of the new year.
    private static let window: UInt32 = 1_963_584

    private func key(_ seed: RollingSeed, day: UInt32 = 20_454) -> DayKey { seed.dayKey(for: RollingDay(number: day)) }

    private func services(_ keys: [DayKey], seconds: Int) -> ExpectedServices {
        var people = ExpectedPeople()
        people.add(keys.map { (ada, $0) }, areFriends: false)
        return people.services(at: newYear.advanced(by: .seconds(seconds)))
    }

    private func names(_ keys: [DayKey], seconds: Int) -> [String] {
        services(keys, seconds: seconds).uuids.map { "\($0)".lowercased() }
    }

    private func name(_ seed: RollingSeed, _ window: UInt32) -> String {
        "\(RollingUUID(seed.token(in: RollingWindow(number: window))))".lowercased()
    }

    private static let first = "b3fe9844-9dfa-4470-ae08-68eb355c32c9"
    private static let second = "32c170d9-b408-4617-8d31-dbd5acd2c2c7"

    @Test(
        "CI58: what is sent in this quarter of an hour and in the next one, and what is still accepted of the one before"
    )
    func windows() {
        #expect(names([key(adas)], seconds: 600) == [Self.first, Self.second])
        let third = name(adas, Self.window + 2)
        // The dossier's second identifier begins at 00:16:26: the first one is accepted for two minutes more.
        #expect(names([key(adas)], seconds: 900) == [Self.first, Self.second, third])
        #expect(names([key(adas)], seconds: 986 + 120) == [Self.first, Self.second, third])
        #expect(names([key(adas)], seconds: 986 + 121) == [Self.second, third])
    }

    @Test("CI58: another list is due when the quarter of an hour ends", arguments: [0, 1, 600, 899])
    func end(seconds: Int) {
        #expect(services([key(adas)], seconds: seconds).end == newYear.advanced(by: .seconds(900)))
        #expect(services([], seconds: seconds).end == newYear.advanced(by: .seconds(900)))
    }

    @Test("CI58: at midnight the keys of both days count; other days and a clock before 1970 expect nothing")
    func days() {
        let last = name(adas, Self.window + 95)
        #expect(last == "60507f95-2df3-460b-b5fd-2727b0822484")
        #expect(names([key(adas)], seconds: 86_400 + 419) == [last])
        #expect(names([key(adas)], seconds: 86_400 + 420) == [])
        // With the next day's key the change is known: 00:03:44.
        let keys = [key(adas), key(adas, day: 20_455)]
        let next = [name(adas, Self.window + 96), name(adas, Self.window + 97)]
        #expect(names(keys, seconds: 85_500 + 600) == [last, next[0]])
        #expect(names(keys, seconds: 86_400 + 224 + 120) == [last] + next)
        #expect(names(keys, seconds: 86_400 + 224 + 121) == next)
        #expect(names([key(adas)], seconds: -1_767_225_601) == [])
        #expect(names([], seconds: 0) == [])
    }

    @Test("CI58: friends come first, then those who were met lately, and of each kind those who were met last")
    func order() {
        var people = ExpectedPeople()
        let seeds = (0..<6).map { _ in RollingSeed.random() }
        for (index, seed) in seeds.enumerated() {
            people.add([(person(index + 1), key(seed))], areFriends: index < 2)
        }
        let now = newYear.secondsSince1970 + 600
        let day = 86_400.0
        // Person 2 is a friend whom the user has met, 1 another friend; 5 was met today, 4 six days ago, 3 eight days ago.
        let meetings = [2: now - 6 * day, 5: now - 60, 4: now - 6 * day, 3: now - 8 * day]
        let list = people.services(
            at: newYear.advanced(by: .seconds(600)),
            meetings: Dictionary(uniqueKeysWithValues: meetings.map { (person($0.key), $0.value) }))
        let order = list.uuids.compactMap { uuid in
            seeds.firstIndex { RollingUUID($0.token(in: RollingWindow(number: Self.window))) == uuid }
        }
        #expect(order.prefix(4) == [1, 0, 4, 3])
        #expect(Set(order.suffix(2)) == [2, 5])
        #expect(list.uuids.count == 12, "each with the next quarter's")
    }

    @Test("CI58: of 500 members a hundred identifiers are looked for: who was met lately always, others in turn")
    func many() {
        var people = ExpectedPeople()
        for number in 1...500 { people.add([(person(number), key(.random()))], areFriends: false) }
        people.add([(zoe, key(zoes))], areFriends: false)
        var seen: Set<RollingUUID> = []
        for quarter in 0..<40 {
            let time = newYear.advanced(by: .seconds(900 * quarter + 600))
            let list = people.services(at: time, meetings: [zoe: time.secondsSince1970 - 3_600])
            #expect(list.uuids.count == 100 && Set(list.uuids).count == 100)
            let window = RollingWindow(number: Self.window + UInt32(quarter))
            #expect(list.uuids.first == RollingUUID(zoes.token(in: window)))
            seen.formUnion(list.uuids)
        }
        #expect(seen.count > 3_400, "40 times about 50 others, each time others")
    }

    @Test(
        "CI58: a friend who is a member too is looked for as a friend, with the keys for friends and of each circle")
    func twice() {
        let inCircles = [RollingSeed.random(), .random()]
        var people = ExpectedPeople()
        people.add([(ada, key(adas))], areFriends: true)
        // The second circle's server, or its member, may have invented them.
        people.add([(ada, key(inCircles[0])), (zoe, key(zoes))], areFriends: false)
        people.add([(ada, key(inCircles[1]))], areFriends: false)
        let list = people.services(at: newYear.advanced(by: .seconds(600)), meetings: [zoe: 1_767_225_600])
        let names = list.uuids.map { "\($0)".lowercased() }
        let others = inCircles.flatMap { [name($0, Self.window), name($0, Self.window + 1)] }
        #expect(Array(names.prefix(6)) == [Self.first, Self.second] + others)
        #expect(names.count == 8)
    }
}
