import Beacons
import Testing

@testable import Nearby

@Suite("Who is near, as a value")
struct EncounterTrackerTests {
    private let ada = person(759)

    private func sighting(
        _ second: Double, isVerified: Bool = false, from transmitter: DeviceAddress? = nil,
        of person: UserNumber? = nil, distance: Double? = nil, clock: Double? = nil
    ) -> Sighting {
        Sighting(
            of: person ?? ada, at: clock ?? 1_000_000 + second, instant: .seconds(second), distance: distance,
            isVerified: isVerified, transmitter: transmitter)
    }

    @Test("6.1, scenario 6: of sightings after 0, 3600 and 3601 seconds the first and the last are announced")
    func announcementsAreStrictlyMoreThanAnHourApart() {
        var tracker = EncounterTracker(rules: EncounterRules(absence: 10_000))
        var announced: [Double] = []
        for second in [0.0, 1, 1800, 3600, 3601, 3602] {
            guard tracker.note(sighting(second)).shouldAnnounce else { continue }
            announced.append(second)
            tracker.announced(ada, at: 1_000_000 + second)
        }
        #expect(announced == [0, 3601])
    }

    @Test("sightings inside the hour do not put the next announcement off")
    func sightingsDoNotExtendTheInterval() {
        var tracker = EncounterTracker()
        var announced: [Int] = []
        for second in 0...7300 where tracker.note(sighting(Double(second))).shouldAnnounce {
            announced.append(second)
            tracker.announced(ada, at: 1_000_000 + Double(second))
        }
        #expect(announced == [0, 3601, 7202])
    }

    @Test("while an announcement is being decided, no second one is asked for")
    func oneQuestionAtATime() {
        var tracker = EncounterTracker()
        #expect(tracker.note(sighting(0)).shouldAnnounce)
        #expect(!tracker.note(sighting(1)).shouldAnnounce)
        tracker.announced(ada, at: nil)
        #expect(tracker.note(sighting(2)).shouldAnnounce)
    }

    @Test("an encounter holds first and last time, duration and closest distance")
    func anEncounterIsMeasured() {
        var tracker = EncounterTracker()
        #expect(tracker.note(sighting(0, distance: 4)).began)
        for (second, distance) in [(10.0, 2.0), (20, nil), (30, 3)] as [(Double, Double?)] {
            #expect(!tracker.note(sighting(second, distance: distance)).began)
        }
        #expect(
            tracker.encounter(with: ada)
                == Encounter(firstSeen: 1_000_000, lastSeen: 1_000_030, duration: 30, closest: 2))
    }

    @Test(
        "a silence as long as the absence keeps the encounter, a longer one ends it",
        arguments: [(300.0, 0), (300.1, 1)])
    func silenceEndsAnEncounter(silence: Double, ended: Int) {
        var tracker = EncounterTracker()
        _ = tracker.note(sighting(0))
        let over = tracker.advance(to: .seconds(silence))
        #expect(over.count == ended)
        #expect(tracker.people.count == 1 - ended)
    }

    @Test(
        "a calendar clock that jumps neither ends nor lengthens an encounter",
        arguments: [86_400.0, -86_400.0, -2_000_000.0])
    func theCalendarMayJump(jump: Double) {
        var tracker = EncounterTracker()
        _ = tracker.note(sighting(0))
        _ = tracker.note(sighting(10, clock: 1_000_010 + jump))
        let over = tracker.advance(to: .seconds(11))
        let encounter = tracker.encounter(with: ada)
        #expect(over.isEmpty)
        #expect(encounter?.duration == 10)
        #expect((encounter?.lastSeen ?? 0) >= (encounter?.firstSeen ?? 1))
    }

    @Test("a clock that is set back while a person stays near puts the next announcement off by one interval at most")
    func aClockSetBackAnnouncesWithinAnHour() {
        var tracker = EncounterTracker(rules: EncounterRules(absence: 1e9))
        #expect(tracker.note(sighting(0)).shouldAnnounce)
        tracker.announced(ada, at: 1_000_000)
        let back = -86_400.0
        var announced: [Int] = []
        for second in 1...7300 {
            let time = 1_000_000 + back + Double(second)
            guard tracker.note(sighting(Double(second), clock: time)).shouldAnnounce else { continue }
            announced.append(second)
            tracker.announced(ada, at: time)
        }
        #expect(announced == [3602, 7203])
    }

    @Test("sightings out of order never shorten an encounter")
    func outOfOrder() {
        var tracker = EncounterTracker()
        for second in [0.0, 20, 10, 30] { _ = tracker.note(sighting(second)) }
        #expect(tracker.encounter(with: ada)?.duration == 30)
        #expect(tracker.encounter(with: ada)?.lastSeen == 1_000_030)
    }

    @Test("two hundred people in one room are kept apart")
    func aFullRoom() {
        var tracker = EncounterTracker()
        let people = (1...200).compactMap { try? UserNumber($0) }
        #expect(people.count == 200)
        for second in 0..<5 {
            for person in people {
                #expect(tracker.note(sighting(Double(second), of: person)).shouldAnnounce == (second == 0))
                if second == 0 { tracker.announced(person, at: 1_000_000) }
            }
        }
        #expect(tracker.people == people)
        #expect(people.allSatisfy { tracker.encounter(with: $0)?.duration == 4 })
    }

    @Test("a sender that invents numbers costs bounded memory, and displaces no person")
    func inventedNumbers() {
        var tracker = EncounterTracker()
        let bob = person(36)
        let friend = person(7)
        _ = tracker.note(sighting(0, isVerified: true, of: friend))
        for second in 0..<900 {
            let time = Double(second)
            // Ada stays, and Bob comes when the tracker is full.
            _ = tracker.note(sighting(time))
            if second >= 600 { _ = tracker.note(sighting(time, of: bob)) }
            for number in 0..<10 { _ = tracker.note(sighting(time, of: person(1000 + second * 10 + number))) }
            #expect(tracker.people.count <= EncounterTracker.capacity)
        }
        #expect(tracker.people.count == EncounterTracker.capacity)
        #expect(tracker.encounter(with: ada)?.duration == 899)
        #expect(tracker.encounter(with: bob)?.duration == 299)
        #expect(tracker.encounter(with: friend) != nil, "a person whom a key verifies does not give way")
    }

    @Test("of one transmitter three people are tracked, and any number whom keys verify; the rest is told")
    func oneTransmitter() throws {
        var tracker = EncounterTracker()
        let address = try #require(DeviceAddress("D0:00:00:00:02:F7"))
        let answers = (1...5).map { tracker.note(sighting(0, from: address, of: person($0))) }
        #expect(answers.map(\.leftOut) == [nil, nil, nil, .oneTransmitter, .oneTransmitter])
        #expect(tracker.people == (1...3).map { person($0) })
        #expect(tracker.note(sighting(1, isVerified: true, from: address, of: person(6))).leftOut == nil)
        #expect(tracker.note(sighting(1, of: person(7))).leftOut == nil)
        // When they have left, others may come.
        _ = tracker.advance(to: .seconds(400))
        #expect(tracker.note(sighting(401, from: address, of: person(4))).leftOut == nil)
    }

    @Test("when every tracked person is being heard, none gives way, and an update says so")
    func everybodyHeard() {
        var tracker = EncounterTracker()
        for number in 0..<EncounterTracker.capacity { _ = tracker.note(sighting(0, of: person(1000 + number))) }
        let answer = tracker.note(sighting(1))
        #expect(answer.leftOut == .tooMany && !answer.began)
        #expect(tracker.note(sighting(1, isVerified: true, of: person(7))).began, "a friend is let in")
        #expect(tracker.people.count == EncounterTracker.capacity)
        let later = tracker.note(sighting(6))
        #expect(later.began && later.displaced != nil)
    }

    @Test("running encounters are returned for saving immediately, then every interval, and at the end")
    func savingIsPaced() {
        var tracker = EncounterTracker()
        var saved: [Int] = []
        for second in 0..<40 {
            _ = tracker.note(sighting(Double(second)))
            if !tracker.encountersToSave(at: .seconds(second)).isEmpty { saved.append(second) }
        }
        #expect(saved == [0, 15, 30])
        #expect(tracker.encountersToSave(at: .seconds(40), all: true).map(\.encounter.duration) == [39])
        #expect(tracker.encountersToSave(at: .seconds(41), all: true).isEmpty)
    }

    @Test("a forgotten person who is still near starts another encounter, and is not announced again immediately")
    func forgettingSomeoneNear() {
        var tracker = EncounterTracker()
        _ = tracker.note(sighting(0, distance: 1))
        tracker.announced(ada, at: 1_000_000)
        tracker.forget(ada)
        #expect(tracker.encountersToSave(at: .seconds(100), all: true).isEmpty)
        #expect(!tracker.note(sighting(200, distance: 5)).shouldAnnounce)
        #expect(tracker.encounter(with: ada)?.firstSeen == 1_000_000)
        #expect(tracker.encounter(with: ada)?.closest == 5)
    }

    @Test("numbers that no beacon carries are rejected", arguments: [0, -1, 1 << 31, Int.max])
    func invalidNumbers(number: Int) {
        #expect(throws: BeaconsError.self) { try UserNumber(number) }
    }

    @Test("a distance that is no distance counts as unknown", arguments: [Double.nan, -1, .infinity, -.infinity])
    func impossibleDistances(distance: Double) {
        #expect(sighting(0, distance: distance).distance == nil)
    }
}
