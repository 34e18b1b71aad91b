import Beacons
import Testing

@testable import Nearby

@Suite("Who is near, as a value")
struct EncounterTrackerTests {
    private let ada = person(759)

    private func sighting(
        _ second: Double, trust: Trust = .unverified, from transmitter: DeviceAddress? = nil,
        of person: UserNumber? = nil, distance: Double? = nil, clock: Double? = nil, isRelayed: Bool = false
    ) -> Sighting {
        Sighting(
            of: person ?? ada, at: clock ?? 1_000_000 + second, instant: .seconds(second), distance: distance,
            trust: trust, isRelayed: isRelayed, transmitters: transmitter.map { [$0] } ?? [])
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
                == Encounter(
                    firstSeen: 1_000_000, lastSeen: 1_000_030, duration: 30, closest: 2, trust: .unverified))
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
        _ = tracker.note(sighting(0, trust: .paired, of: friend))
        for second in 0..<900 {
            let time = Double(second)
            // Ada stays, and Bob comes when the tracker is full.
            _ = tracker.note(sighting(time))
            if second >= 600 { _ = tracker.note(sighting(time, of: bob)) }
            for number in 0..<10 { _ = tracker.note(sighting(time, of: person(1000 + second * 10 + number))) }
            #expect(tracker.people.count <= EncounterTracker.capacity)
        }
        #expect(tracker.people.count == Trust.unverified.places + 1)
        #expect(tracker.encounter(with: ada)?.duration == 899)
        #expect(tracker.encounter(with: bob)?.duration == 299)
        #expect(tracker.encounter(with: friend) != nil, "a person whom a key verifies does not give way")
    }

    @Test(
        "CI46: a transmitter that is three people is suspect with all of them, until one is heard from elsewhere; paired people never"
    )
    func oneTransmitter() throws {
        var tracker = EncounterTracker()
        let address = try #require(DeviceAddress("D0:00:00:00:02:F7"))
        let other = try #require(DeviceAddress("D0:00:00:00:02:F8"))
        for number in 1...2 { _ = tracker.note(sighting(0, from: address, of: person(number))) }
        #expect(!tracker.isSuspect(person(1)) && !tracker.isSuspect(person(2)))
        _ = tracker.note(sighting(0, trust: .circle, from: address, of: person(3)))
        _ = tracker.note(sighting(0, trust: .paired, from: address, of: person(4)))
        #expect((1...4).map { tracker.isSuspect(person($0)) } == [true, true, false, false])
        #expect(!tracker.isRelayed(person(3)) && !tracker.isRelayed(person(4)), "two whom a key verifies are no third")
        for number in 5...10 { _ = tracker.note(sighting(0, trust: .circle, from: address, of: person(number))) }
        #expect((3...10).allSatisfy { !tracker.isSuspect(person($0)) && tracker.isRelayed(person($0)) }, "eight")
        _ = tracker.note(sighting(0, trust: .circle, from: address, of: person(11)))
        #expect((3...11).map { tracker.isSuspect(person($0)) } == [true, false] + Array(repeating: true, count: 7))
        #expect(tracker.people.count == 11, "they are listed")
        #expect(tracker.arrivals(since: .zero) == 0, "and no crowd")
        _ = tracker.note(sighting(1, from: other, of: person(2)))
        #expect(!tracker.isSuspect(person(2)) && tracker.isSuspect(person(1)))
        // Without an address, as an iPhone's ranging tells none, there is nothing to suspect.
        _ = tracker.note(sighting(1, of: person(12)))
        #expect(!tracker.isSuspect(person(12)))
        // A term later the transmitter is forgotten.
        _ = tracker.advance(to: .seconds(1_300))
        _ = tracker.note(sighting(1_300, from: address, of: person(1)))
        #expect(!tracker.isSuspect(person(1)))
    }

    @Test(
        "CI47, CI51: the places of one kind are never another's, and within a kind the suspect, the silent and the weak give way"
    )
    func places() throws {
        var tracker = EncounterTracker()
        let address = try #require(DeviceAddress("D0:00:00:00:02:F7"))
        let crowd = (0..<Trust.unverified.places).map { person(1000 + $0) }
        for person in crowd { _ = tracker.note(sighting(0, of: person, distance: 5)) }
        #expect(tracker.note(sighting(1, of: ada, distance: 6)).full == .unverified, "all are heard and nearer")
        #expect(tracker.note(sighting(1, trust: .circle, of: ada, distance: 6)).began, "a member has other places")
        #expect(tracker.note(sighting(1, trust: .paired, of: person(7))).began, "and a friend too")
        let near = tracker.note(sighting(1, of: person(8), distance: 4))
        #expect(near.began && near.displaced != nil, "the farthest gives way")
        for number in 10...12 { _ = tracker.note(sighting(1, from: address, of: person(number), distance: 0.1)) }
        let next = tracker.note(sighting(1, of: person(9), distance: 100))
        #expect(next.displaced.map { (10...12).contains($0.person.value) } == true, "the suspect give way first")
        let late = tracker.note(sighting(7, of: person(20), distance: 100))
        #expect(late.began && late.displaced != nil, "then who is silent")
        #expect(tracker.people.count <= Trust.unverified.places + 2)
        #expect(tracker.note(sighting(7, trust: .file, of: person(21))).began, "and a friend by keys from a file")
        #expect(EncounterTracker.capacity == 2_304)
    }

    @Test("CI47: where no distance is known, the stronger signal is near, and the weakest person gives way to it")
    func strength() throws {
        func sighting(_ number: Int, _ rssi: Double?, trust: Trust = .circle) -> Sighting {
            Sighting(of: person(number), at: 1_000_000, instant: .zero, rssi: rssi, trust: trust)
        }
        var tracker = EncounterTracker()
        for number in 0..<Trust.circle.places { _ = tracker.note(sighting(1000 + number, number == 77 ? -95 : -80)) }
        #expect(tracker.note(sighting(7, -96)).full == .circle, "weaker than all")
        #expect(tracker.note(sighting(7, nil)).full == .circle, "not measured")
        #expect(tracker.note(sighting(8, -70)).displaced?.person == person(1077), "the weakest")
        #expect(tracker.note(sighting(9, -70)).displaced?.person == person(1000), "of the equally weak one")
        #expect(tracker.note(sighting(10, -80)).full == .circle)
        #expect(tracker.lastHeard(person(8))?.rssi == -70)
    }

    @Test("CI47: after a refusal, who is as far as all who have places is refused for a second without a search")
    func refusal() {
        var tracker = EncounterTracker()
        for number in 0..<Trust.unverified.places {
            _ = tracker.note(sighting(0, of: person(1000 + number), distance: number == 77 ? 5 : 4))
        }
        #expect(tracker.note(sighting(1, distance: 10)).full == .unverified)
        // One moves away: a search would find this one.
        _ = tracker.note(sighting(1, of: person(1000), distance: 20))
        #expect(tracker.note(sighting(1.5, distance: 5)).full == .unverified, "nearer than who was left out before")
        var other = tracker
        #expect(other.note(sighting(1.5, distance: 4.5)).displaced?.person == person(1000), "nearer than the farthest")
        #expect(tracker.note(sighting(2, distance: 5)).displaced?.person == person(1000), "a second later")
    }

    @Test("a person whom a key verifies later takes a place of the better kind")
    func upgraded() {
        var tracker = EncounterTracker()
        _ = tracker.note(sighting(0))
        #expect(tracker.trust(ada) == .unverified)
        _ = tracker.note(sighting(1, trust: .paired))
        _ = tracker.note(sighting(2))
        #expect(tracker.trust(ada) == .paired)
        for number in 0..<Trust.unverified.places { _ = tracker.note(sighting(3, of: person(1000 + number))) }
        #expect(tracker.people.count == Trust.unverified.places + 1)
    }

    @Test(
        "CI46: numbers that any device can send do not make a member suspect under whose address they are sent, however many"
    )
    func numbersUnderAnAddress() throws {
        var tracker = EncounterTracker()
        let address = try #require(DeviceAddress("D0:00:00:00:02:F7"))
        for number in 1...5 { _ = tracker.note(sighting(0, from: address, of: person(number))) }
        _ = tracker.note(sighting(0, trust: .circle, from: address))
        #expect(!tracker.isSuspect(ada) && !tracker.isRelayed(ada))
        #expect((1...5).allSatisfy { tracker.isSuspect(person($0)) }, "the numbers are")
        #expect(tracker.arrivals(since: .zero) == 1)
        // A member whose plain number came first counts once, as what the keys say.
        let other = try #require(DeviceAddress("D0:00:00:00:02:F8"))
        for trust in [Trust.unverified, .circle] { _ = tracker.note(sighting(1, trust: trust, from: other)) }
        for number in 6...7 { _ = tracker.note(sighting(1, from: other, of: person(number))) }
        #expect(!tracker.isSuspect(ada) && tracker.isSuspect(person(6)))
    }

    @Test("CI46: who is sent under another address too is neither suspect nor counted against that address")
    func sentUnderOtherAddresses() {
        var tracker = EncounterTracker()
        func hear(_ number: Int, from addresses: [UInt64]) {
            let transmitters = addresses.map { DeviceAddress(truncating: $0) }
            _ = tracker.note(
                Sighting(
                    of: person(number), at: 1_000_000, instant: .zero, distance: 2, trust: .circle,
                    transmitters: transmitters))
        }
        hear(1, from: [1])
        for number in 2...20 { hear(number, from: [UInt64(number), 1]) }
        #expect(!tracker.isSuspect(person(1)) && !tracker.isRelayed(person(1)))
        #expect(tracker.lastHeard(person(1))?.distance == 2)
        #expect((2...20).allSatisfy { !tracker.isSuspect(person($0)) && tracker.isRelayed(person($0)) })
        // Two devices that are a crowd each, and the person's own address among too many to remember.
        for number in 101...109 { hear(number, from: [1_001]) }
        for number in 201...209 { hear(number, from: [1_002]) }
        hear(300, from: [1_001, 1_002])
        #expect(tracker.isSuspect(person(101)) && tracker.isSuspect(person(209)))
        #expect(!tracker.isSuspect(person(300)) && tracker.isRelayed(person(300)))
    }

    @Test("CI46: what one device sends of several members says nothing of how near they were, in the log either")
    func sharedDistance() {
        var tracker = EncounterTracker()
        for (second, distance) in [(0.0, 2.0), (1, 0.5)] {
            for number in 1...3 {
                let transmitter = DeviceAddress(truncating: 1)
                _ = tracker.note(
                    sighting(second, trust: .circle, from: transmitter, of: person(number), distance: distance))
            }
        }
        let closest = (1...3).map { tracker.encounter(with: person($0))?.closest }
        #expect(closest == [2, 2, nil], "two are not several, and the third one shows that it is one device")
    }

    @Test(
        "CI47: who is verified after a number that any device can send is announced again, with each higher trust once")
    func risen() {
        var tracker = EncounterTracker()
        var announced: [Trust] = []
        for (second, trust) in [Trust.unverified, .unverified, .circle, .unverified, .circle, .paired, .circle]
            .enumerated()
        where tracker.note(sighting(Double(second), trust: trust)).shouldAnnounce {
            announced.append(trust)
            tracker.announced(ada, at: 1_000_000 + Double(second))
        }
        #expect(announced == [.unverified, .circle, .paired])
        #expect(tracker.encounter(with: ada)?.trust == .paired)
        // Not yet told of the first: the second asks all the same, and one of a crowd is asked about no more.
        let grace = person(36)
        #expect(tracker.note(sighting(10, of: grace)).shouldAnnounce)
        tracker.countAsCrowd(grace)
        #expect(!tracker.note(sighting(11, of: grace)).shouldAnnounce)
        #expect(tracker.note(sighting(12, trust: .circle, of: grace)).shouldAnnounce)
        #expect(tracker.arrivals(since: .seconds(12), of: .circle) == 1, "an arrival")
    }

    @Test("CI56: who is heard as a number first is verified from the first packet that a key verifies, and no earlier")
    func verifiedFrom() {
        var tracker = EncounterTracker()
        for second in stride(from: 0.0, through: 250, by: 50) { _ = tracker.note(sighting(second, distance: 1)) }
        let response = tracker.note(sighting(300, trust: .circle, distance: 3))
        let number = Encounter(firstSeen: 1_000_000, lastSeen: 1_000_250, duration: 250, closest: 1, trust: .unverified)
        #expect(response.unverified == number && !response.began)
        _ = tracker.note(sighting(310, trust: .circle, distance: 4))
        let member = Encounter(firstSeen: 1_000_300, lastSeen: 1_000_310, duration: 10, closest: 3, trust: .circle)
        #expect(tracker.encounter(with: ada) == member)
        #expect(tracker.encountersToSave(at: .seconds(310)).map(\.encounter) == [member], "it is to be written now")
        // A friend whom a circle has verified before was verified all the time.
        let friend = tracker.note(sighting(320, trust: .paired))
        #expect(friend.unverified == nil)
        #expect(tracker.encounter(with: ada)?.firstSeen == 1_000_300 && tracker.encounter(with: ada)?.duration == 20)
    }

    @Test("CI47: a member for whom no place is left stays what any device can be, and no list grows beyond its places")
    func noPlaceToRise() {
        var tracker = EncounterTracker()
        for number in 0..<Trust.circle.places {
            _ = tracker.note(sighting(0, trust: .circle, of: person(1_000 + number), distance: 1))
        }
        let first = tracker.note(sighting(1, distance: 2))
        let second = tracker.note(sighting(2, trust: .circle, distance: 2))
        #expect(first.began && !second.began && second.full == nil && second.displaced == nil)
        #expect(tracker.trust(ada) == .unverified)
        #expect(tracker.note(sighting(3, trust: .circle, distance: 0.5)).displaced != nil, "the nearer one is taken")
        #expect(tracker.trust(ada) == .circle && tracker.people.count == Trust.circle.places)
    }

    @Test("CI47: a number that any device can send neither prolongs nor moves a person whom a key verified")
    func kept() {
        var tracker = EncounterTracker()
        _ = tracker.note(sighting(0, trust: .paired, distance: 2))
        tracker.announced(ada, at: 1_000_000)
        for second in stride(from: 60.0, through: 3_660, by: 60) {
            let response = tracker.note(sighting(second, distance: 0.1))
            #expect(!response.began && !response.shouldAnnounce)
            #expect(tracker.lastHeard(ada)?.distance == 2 && tracker.lastHeard(ada)?.instant == .zero)
        }
        let left = tracker.advance(to: .seconds(3_660)).map(\.encounter)
        let paired = Encounter(firstSeen: 1_000_000, lastSeen: 1_000_000, duration: 0, closest: 2, trust: .paired)
        #expect(left == [paired])
        // The number is another encounter, of what any device can send.
        #expect(tracker.note(sighting(3_661)).began)
        #expect(tracker.trust(ada) == .unverified)
    }

    @Test("CI47: a member who was one of a crowd is announced on the return, though the number was heard all the time")
    func returned() {
        var tracker = EncounterTracker()
        _ = tracker.note(sighting(0, trust: .circle))
        tracker.countAsCrowd(ada)
        for second in stride(from: 60.0, to: 36_000, by: 60) {
            _ = tracker.advance(to: .seconds(second))
            _ = tracker.note(sighting(second))
        }
        _ = tracker.advance(to: .seconds(36_000))
        let response = tracker.note(sighting(36_000, trust: .circle))
        #expect(response.shouldAnnounce)
        #expect(tracker.trust(ada) == .circle)
    }

    @Test("CI48: who is heard from two devices at the same moment has the remark and no distance")
    func relayed() {
        var tracker = EncounterTracker()
        _ = tracker.note(sighting(0, distance: 2))
        #expect(!tracker.isRelayed(ada) && tracker.lastHeard(ada)?.distance == 2)
        _ = tracker.note(sighting(1, distance: 2, isRelayed: true))
        #expect(tracker.isRelayed(ada) && tracker.lastHeard(ada)?.distance == nil)
        #expect(tracker.lastHeard(ada)?.proximity == .unknown)
        _ = tracker.note(Sighting(of: ada, at: 1_000_001, instant: .seconds(1), rssi: -40, isRelayed: true))
        #expect(tracker.lastHeard(ada)?.rssi == nil, "nor a strength, which would be the relay's")
        _ = tracker.note(sighting(2, distance: 2))
        #expect(!tracker.isRelayed(ada))
    }

    @Test("transmitters without end take no more memory than there is")
    func manyTransmitters() {
        var transmitters = Transmitters()
        for number in 0..<100_000 as Range<UInt64> {
            transmitters.note(
                ada, trust: .circle, from: DeviceAddress(truncating: number), at: .milliseconds(Int64(number)))
        }
        #expect(
            Mirror(reflecting: transmitters).children.allSatisfy {
                (($0.value as? any Collection)?.count ?? 0) <= 4_096
            })
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
