import Beacons
import Handshake
import Synchronization
import Testing

@testable import Nearby

@Suite("What inventions leave in the list and in the log")
struct WatchFloodTests {
    private let ada = person(759)
    private let scene = WatchScene()

    /// One list of sightings.
    private func hear(_ sightings: [Sighting], at second: Int, in watch: Watch) async {
        await watch.take(
            SightingList(time: 1_000_000 + Double(second), instant: .seconds(second), sightings: sightings))
    }

    private func sighting(
        _ person: UserNumber, at second: Int, distance: Double = 0.2, trust: Trust = .unverified,
        from transmitter: DeviceAddress? = nil
    ) -> Sighting {
        Sighting(
            of: person, at: 1_000_000 + Double(second), instant: .seconds(second), distance: distance, trust: trust,
            transmitters: transmitter.map { [$0] } ?? [])
    }

    private static let address = DeviceAddress(truncating: 0xD000_0000_02F7)

    private func logged() async throws -> Set<UserNumber> {
        Set(try await scene.log.contents(at: 1_000_000).people.map(\.person))
    }

    @Test("CI47: whom a key verifies is listed before 512 nearer inventions, and who is suspect comes last")
    func order() async {
        let listed = Mutex<[NearbyPerson]>([])
        let watch = scene.watch { update in
            if case .people(let people) = update { listed.withLock { $0 = people } }
        }
        let friend = person(36)
        let inventions = (0..<509).map { sighting(person(1_000 + $0), at: 0) }
        let suspects = (1...3).map { sighting(person($0), at: 0, distance: 0.1, from: Self.address) }
        // Of who is relayed no distance is known.
        let relayed = Sighting(of: friend, at: 1_000_000, instant: .zero, trust: .paired, isRelayed: true)
        let member = sighting(ada, at: 0, distance: 5, trust: .circle)
        await hear(inventions + suspects + [member, relayed], at: 0, in: watch)
        let people = listed.withLock(\.self).map(\.person)
        #expect(people.count == 514 && people.prefix(3) == [friend, ada, person(1_000)])
        #expect(people.suffix(3) == [person(1), person(2), person(3)])
    }

    @Test("CI46: 206 numbers from one address leave no record, neither while they are sent nor when they are gone")
    func oneAddress() async throws {
        let watch = scene.watch()
        for second in 0..<40 {
            let numbers = (0..<206).map { sighting(person(1_000 + $0), at: second, from: Self.address) }
            await hear(numbers + [sighting(ada, at: second, trust: .circle)], at: second, in: watch)
        }
        #expect(try await logged() == [ada])
        await hear([], at: 400, in: watch)
        await watch.finish(announcing: true)
        #expect(try await logged() == [ada])
    }

    @Test("CI51: numbers of a crowd that stay for less than five minutes leave no record, and those that stay have one")
    func crowd() async throws {
        let watch = scene.watch()
        // Each from an address of its own, or from a radio that tells none; some are sent until the crowd is no crowd any more.
        let (short, long) = ((1...20).map { person(1_000 + $0) }, (1...20).map { person(2_000 + $0) })
        for second in stride(from: 0, through: 320, by: 20) {
            let numbers = (second <= 240 ? short : []) + long
            let member = second < 40 ? [sighting(ada, at: second, trust: .circle)] : []
            await hear(numbers.map { sighting($0, at: second) } + member, at: second, in: watch)
            if second == 280 { #expect(try await logged() == [ada]) }
        }
        #expect(try await logged() == Set(long + [ada]))
        await hear([], at: 1_000, in: watch)
        #expect(try await logged() == Set(long + [ada]))
    }

    @Test("CI51: of numbers that come and go in a crowd without end none is in the log, however often each is sent")
    func endless() async throws {
        let watch = scene.watch()
        for second in 0..<400 {
            // Each is sent five times, and 512 places are taken after a minute and a half.
            let numbers = (0..<30).map { sighting(person(10_000 + second * 6 + $0), at: second) }
            await hear(numbers, at: second, in: watch)
        }
        await watch.finish(announcing: false)
        #expect(try await logged().isEmpty)
    }

    @Test("CI47: of numbers that come too slowly for a crowd the log holds a bounded number, and no meeting is lost")
    func slow() async throws {
        let watch = scene.watch()
        await hear([sighting(ada, at: 0, trust: .circle)], at: 0, in: watch)
        for minute in 1...80 {
            let second = minute * 61
            await hear((0..<8).map { sighting(person(1_000 + minute * 8 + $0), at: second) }, at: second, in: watch)
        }
        let logged = try await logged()
        #expect(logged.count < EncounterLog.maximumUnverified + 65 && logged.contains(ada))
        #expect(logged.count > EncounterLog.maximumUnverified, "no more is deleted than is too much")
    }

    @Test("CI47: of too many numbers those go first whom no service knows and who were near for the shortest time")
    func bound() async throws {
        let (known, long, old) = (person(1), person(2), person(3))
        func note(_ person: UserNumber, _ duration: Double, trust: Trust?) async throws {
            let encounter = Encounter(
                firstSeen: 1_000_000 - duration, lastSeen: 1_000_000, duration: duration, trust: trust)
            _ = try await scene.log.note(encounter, with: person, wasLogged: false)
        }
        try await note(ada, 0, trust: .circle)
        try await note(old, 0, trust: nil)
        try await note(known, 0, trust: .unverified)
        try await scene.log.introduce(known, as: Person(name: "Zoë"))
        try await note(long, 600, trust: .unverified)
        for number in 0..<520 { try await note(person(1_000 + number), Double(number), trust: .unverified) }
        #expect(try await scene.log.prune(at: 1_000_000) == 10)
        let rest = try await logged()
        #expect(rest.isSuperset(of: [ada, old, known, long]) && rest.count == 514)
        #expect(!rest.contains(person(1_009)) && rest.contains(person(1_010)), "the shortest")
        #expect(try await scene.log.prune(at: 1_000_000) == 0)
        #expect(try await scene.log.prune(at: 1_000_000 + 40 * 86_400) == 514, "after the retention all go")
    }

    private func note(_ person: UserNumber, from first: Double, to last: Double) async throws {
        let encounter = Encounter(firstSeen: first, lastSeen: last, duration: last - first, trust: .unverified)
        _ = try await scene.log.note(encounter, with: person, wasLogged: false)
    }

    @Test("CI47: what is read from a recording deletes nothing from the log, however many unverified people it has")
    func recording() async throws {
        let log = EncounterLog(in: scene.vault, community: "recurse-center", rules: EncounterRules(retention: nil))
        let watch = Watch(
            log: log, ignoring: nil, report: { _ in }, ask: scene.asked.continuation, show: scene.shown.continuation)
        for number in 0..<512 { try await note(person(5_000 + number), from: 999_000, to: 999_001) }
        for minute in 1...80 {
            let second = minute * 61
            await hear((0..<8).map { sighting(person(1_000 + minute * 8 + $0), at: second) }, at: second, in: watch)
        }
        let before = try await logged()
        #expect(before.isSuperset(of: (0..<512).map { person(5_000 + $0) }) && before.count > 1_024)
        #expect(try await log.prune(at: 1_000_000 + 40 * 86_400) == 0)
        #expect(try await logged() == before)
    }

    @Test("CI47: a person who was met on two days outlives 512 who were near for longer on one")
    func days() async throws {
        try await note(ada, from: 899_990, to: 900_000)
        try await note(ada, from: 999_990, to: 1_000_000)
        for number in 0..<512 { try await note(person(5_000 + number), from: 999_000, to: 1_000_000) }
        #expect(try await scene.log.prune(at: 1_000_000) == 1)
        #expect(try await logged().contains(ada))
        // Days that no calendar has.
        var history = PersonHistory(of: ada)
        history.encounters = [1e300, -1e300].map { Encounter(firstSeen: $0, lastSeen: $0, duration: 0) }
        #expect(history.rank.1 == 2)
    }

    @Test("CI47: an unverified person who is near stays in the log, with one encounter, while others are deleted")
    func near() async throws {
        for number in 0..<512 { try await note(person(5_000 + number), from: 999_000, to: 1_000_000) }
        let watch = scene.watch()
        for minute in 0...9 {
            let second = minute * 61
            let passing = minute == 0 ? [] : (0..<8).map { person(1_000 + minute * 8 + $0) }
            await hear(([ada] + passing).map { sighting($0, at: second) }, at: second, in: watch)
        }
        #expect(try await logged().count < 512 + 73, "some were deleted")
        let encounters = try #require(try await scene.log.history(of: ada)).encounters
        #expect(encounters.map(\.firstSeen) == [1_000_000] && encounters.map(\.lastSeen) == [1_000_549])
    }

    @Test("CI47: also where what has expired is deleted, it is those who are near who stay")
    func nearAtExpiry() async throws {
        try await note(ada, from: 1_000_000, to: 1_000_000)
        for number in 0..<513 { try await note(person(5_000 + number), from: 999_000, to: 1_000_000) }
        try await scene.log.expire(at: 1_000_000, sparing: [ada])
        let rest = try await logged()
        #expect(rest.contains(ada) && rest.count == 513)
        #expect(try await scene.log.prune(at: 1_000_000) == 1)
        #expect(try await logged().contains(ada) == false)
    }
}
