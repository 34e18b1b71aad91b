import Beacons
import Circles
import Handshake
import Synchronization
import Testing

@testable import Nearby

@Suite("Ticks and answers in any order")
struct WatchTests {
    private let ada = person(759)
    private let known = Person(name: "Ada Example", batch: "S1'14")
    private let scene = WatchScene()

    private func hear(_ people: [UserNumber], at second: Int, _ watch: Watch) async {
        let time = 1_000_000 + Double(second)
        let sightings = people.map { Sighting(of: $0, at: time, instant: .seconds(second)) }
        await watch.take(SightingList(time: time, instant: .seconds(second), sightings: sightings))
    }

    @Test("without a network the alert comes with the number, and the name follows")
    func theNameFollows() async throws {
        let watch = scene.watch()
        for second in 0..<20 {
            await hear([ada], at: second, watch)
            if second == 1 { await watch.note(.unreachable, about: ada) }
        }
        for second in 20..<40 { await hear([ada], at: second, watch) }
        await watch.note(.known(known), about: ada)
        let outcome = await scene.outcome()
        #expect(outcome.alerts == [Alert(person: ada, known: nil), Alert(person: ada, known: known, isUpdate: true)])
        #expect(outcome.questions == [ada, ada])
        #expect(try await scene.log.history(of: ada)?.known == known)
    }

    @Test("a name that comes in time is in the one alert")
    func theNameComesInTime() async {
        let watch = scene.watch()
        for second in 0..<3 { await hear([ada], at: second, watch) }
        await watch.note(.known(known), about: ada)
        for second in 3..<10 { await hear([ada], at: second, watch) }
        #expect(await scene.outcome().alerts == [Alert(person: ada, known: known)])
    }

    @Test("someone who leaves before the name came is still announced")
    func leavingEarly() async {
        let watch = scene.watch()
        await hear([ada], at: 0, watch)
        await hear([], at: 1000, watch)
        await watch.note(.known(known), about: ada)
        #expect(await scene.outcome().alerts == [Alert(person: ada, known: nil)])
    }

    @Test("D9: someone who is near all day is asked about again every hour, and once")
    func theNameIsRefreshed() async {
        let watch = scene.watch()
        await hear([ada], at: 0, watch)
        await watch.note(.known(known), about: ada)
        for second in 1...3700 { await hear([ada], at: second, watch) }
        await watch.note(.known(known), about: ada)
        for second in 3701...7400 { await hear([ada], at: second, watch) }
        #expect(await scene.outcome().questions == [ada, ada, ada])
    }

    @Test("CI54: the circle whose keys are heard names a person, and another one five seconds after it")
    func circles() async throws {
        let hub = CircleScope(circleAt: "https://hub.example")
        let rook = CircleScope(circleAt: "https://rook.example")
        let near = Mutex<[NearbyPerson]>([])
        let watch = scene.watch { update in
            if case .people(let people) = update { near.withLock { $0 = people } }
        }
        /// What the list has after the keys of a circle were heard.
        func heard(_ circle: CircleScope, at second: Int) async -> NearbyPerson? {
            let time = 1_000_000 + Double(second)
            let sighting = Sighting(of: ada, at: time, instant: .seconds(second), trust: .circle, circle: circle)
            await watch.take(SightingList(time: time, instant: .seconds(second), sightings: [sighting]))
            return near.withLock(\.first)
        }
        _ = await heard(hub, at: 0)
        await watch.note(.known(known), about: ada, in: hub)
        for second in 1...3 { _ = await heard(hub, at: second) }
        let other = await heard(rook, at: 4)
        #expect(other?.known == known && other?.circle == hub)
        for second in 5...7 { _ = await heard(rook, at: second) }
        let unnamed = await heard(rook, at: 8)
        #expect(unnamed != nil && unnamed?.known == nil && unnamed?.circle == rook)
        let mallory = Person(name: "Mallory")
        await watch.note(.known(mallory), about: ada, in: rook)
        let named = await heard(hub, at: 9)
        #expect(named?.known == mallory && named?.circle == rook)
        let outcome = await scene.outcome()
        #expect(outcome.alerts == [Alert(person: ada, known: known, trust: .circle, circle: hub)])
        #expect(outcome.questions == [ada, ada])
    }

    @Test("CI54: whom a circle's keys recognise stays where the service does not know the number")
    func unknownToService() async throws {
        let hub = CircleScope(circleAt: "https://hub.example")
        let isRemoved = Mutex(false)
        let watch = scene.watch { update in
            if case .unknown = update { isRemoved.withLock { $0 = true } }
        }
        await hear([ada], at: 0, watch)
        let sighting = Sighting(of: ada, at: 1_000_001, instant: .seconds(1), trust: .circle, circle: hub)
        await watch.take(SightingList(time: 1_000_001, instant: .seconds(1), sightings: [sighting]))
        await watch.note(.unknown, about: ada)
        let wasRemoved = isRemoved.withLock { $0 }
        #expect(!wasRemoved)
        #expect(await watch.isStillNeeded(Watch.Question(person: ada, circle: hub)))
        await watch.note(.unknown, about: ada, in: hub)
        let wasRemovedThere = isRemoved.withLock { $0 }
        #expect(wasRemovedThere)
    }

    @Test("D9: a look-up that was never sent leaves the profile due, and no second one begins beside it")
    func withdrawn() {
        var lookups = ProfileLookups()
        _ = lookups.begin(ada, at: .zero)
        lookups.note(.known(known), about: ada, at: .zero)
        let hourly = [3599, 3600, 100_000].map { lookups.begin(ada, at: .seconds($0)) }
        #expect(hourly == [false, true, false])
        lookups.withdraw(ada, at: .seconds(100_001))
        #expect(!lookups.isFresh(ada, at: .seconds(100_001)))
        #expect(lookups.known(ada) == known)
        let again = lookups.begin(ada, at: .seconds(100_001))
        #expect(again)
    }

    @Test("D5: a question that failed is put again after 30 seconds, then twice as long, up to ten minutes")
    func backOff() {
        var lookups = ProfileLookups()
        var asked: [Int] = []
        for second in 0...3000 where lookups.begin(ada, at: .seconds(second)) {
            asked.append(second)
            lookups.note(.unreachable, about: ada, at: .seconds(second))
        }
        #expect(asked == [0, 30, 90, 210, 450, 930, 1530, 2130, 2730])
    }

    @Test("D4: while a question is in flight no second one is put")
    func oneQuestion() {
        var lookups = ProfileLookups()
        let answers = [0, 1, 100_000].map { lookups.begin(ada, at: .seconds($0)) }
        #expect(answers == [true, false, false])
    }

    @Test("an unknown number is looked up again after an hour")
    func unknownExpires() {
        var lookups = ProfileLookups()
        _ = lookups.begin(ada, at: .zero)
        lookups.note(.unknown, about: ada, at: .zero)
        let isUnknown = [3599, 3600].map { lookups.isUnknown(ada, at: .seconds($0)) }
        let asked = [3599, 3600].map { lookups.begin(ada, at: .seconds($0)) }
        #expect(isUnknown == [true, false])
        #expect(asked == [false, true])
    }

    @Test("answers about invented numbers do not grow without bound, and later ones stay")
    func boundedAnswers() {
        var lookups = ProfileLookups()
        for (second, person) in (1...50_000).compactMap({ try? UserNumber($0) }).enumerated() {
            _ = lookups.begin(person, at: .seconds(second))
            lookups.note(.unknown, about: person, at: .seconds(second))
        }
        #expect(lookups.count <= 2 * EncounterTracker.capacity)
        #expect(lookups.isUnknown(person(50_000), at: .seconds(50_000)))
    }

    @Test("a log that cannot be used is told of once a minute, however many people are near and however long")
    func troubleIsNotRepeated() async throws {
        let people = (1...5).map { person($0) }
        for person in people {
            try await scene.vault.update(VaultKey(.encounters, ["recurse-center", person.description])) {
                try await $0.replace(with: Array("damaged".utf8))
            }
        }
        let failures = Mutex<[NearbyError]>([])
        let watch = scene.watch { update in
            if case .logFailed(let error) = update { failures.withLock { $0.append(error) } }
        }
        for second in 0..<61 { await hear(people, at: second, watch) }
        let perPerson = Dictionary(grouping: failures.withLock { $0 }, by: \.self).mapValues(\.count)
        #expect(perPerson.count == people.count)
        #expect(perPerson.values.allSatisfy { $0 == 2 }, "\(perPerson)")
    }

    @Test("someone forgotten while near, whose name is known, is logged again with the name")
    func forgottenAndLoggedAgain() async throws {
        let watch = scene.watch()
        await hear([ada], at: 0, watch)
        await watch.note(.known(known), about: ada)
        for second in 1..<20 { await hear([ada], at: second, watch) }
        try await scene.log.forget(ada)
        for second in 20..<60 { await hear([ada], at: second, watch) }
        let history = try #require(try await scene.log.history(of: ada))
        #expect(history.known == known)
        #expect(history.encounters.count == 1)
    }

    @Test("a sender that invents numbers without end costs the service 300 questions, then one in two seconds")
    func inventedNumbersAreNotAllAskedAbout() async {
        let watch = scene.watch()
        var next = 1
        for second in 0..<60 {
            await hear((next..<next + 50).map { person($0) }, at: second, watch)
            for number in next..<next + 50 { await watch.note(.unknown, about: person(number)) }
            next += 50
        }
        let questions = await scene.outcome().questions.count
        #expect(questions >= ProfileLookups.lookupBurst)
        #expect(questions <= ProfileLookups.lookupBurst + 30)
    }
}
