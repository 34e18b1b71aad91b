import Beacons
import Handshake
import Synchronization
import Testing

@testable import Nearby

@Suite("Floods, crowds and relays")
struct WatchAttackTests {
    private let ada = person(759)
    private let known = Person(name: "Ada Example", batch: "S1'14")
    private let scene = WatchScene()

    /// Lets a list of sightings be heard each second.
    private func hear(_ sightings: [(UserNumber, Trust, DeviceAddress?)], at second: Int, in watch: Watch) async {
        let time = 1_000_000 + Double(second)
        let list = sightings.map { person, trust, transmitter in
            Sighting(
                of: person, at: time, instant: .seconds(second), distance: 2, trust: trust,
                transmitters: transmitter.map { [$0] } ?? [])
        }
        await watch.take(SightingList(time: time, instant: .seconds(second), sightings: list))
    }

    private static let address = DeviceAddress(truncating: 0xD000_0000_02F7)

    @Test("CI51: ten thousand identifiers from as many addresses in a minute are one alert, and the list stays bounded")
    func aCrowd() async {
        let most = Mutex(0)
        let watch = scene.watch { update in
            if case .people(let people) = update { most.withLock { $0 = max($0, people.count) } }
        }
        for second in 0..<60 {
            let arrivals = (0..<167).map { index in
                let number = 1000 + second * 167 + index
                return (person(number), Trust.circle, DeviceAddress(truncating: UInt64(number)) as DeviceAddress?)
            }
            await hear(arrivals + [(ada, .paired, nil)], at: second, in: watch)
        }
        let outcome = await scene.outcome()
        #expect(outcome.alerts.map(\.person) == [ada], "a friend is announced alone")
        #expect(outcome.crowds.count == 1 && (outcome.crowds.first?.count ?? 0) > 8)
        #expect(most.withLock(\.self) <= Trust.circle.places + 1)
    }

    @Test("a crowd leaves no trace of those who were heard once, and afterwards people are announced alone again")
    func afterACrowd() async throws {
        let watch = scene.watch()
        for second in 0..<20 {
            let once = (0..<10).map { (person(1000 + second * 10 + $0), Trust.unverified, nil as DeviceAddress?) }
            await hear(once + [(ada, .circle, nil)], at: second, in: watch)
        }
        #expect(try await scene.log.history(of: ada) != nil)
        #expect(try await scene.vault.keys(of: .encounters).keys.count < 30)
        for second in stride(from: 20, to: 100, by: 10) { await hear([], at: second, in: watch) }
        let grace = person(36)
        for second in 100..<110 { await hear([(grace, .circle, nil)], at: second, in: watch) }
        #expect(try await Set(scene.log.contents(at: 1_000_110).people.map(\.person)) == [ada, grace])
        #expect(
            await scene.outcome().alerts.map(\.person) == [ada, grace], "a number that anyone can send hides no member"
        )
    }

    @Test("eight people who arrive together are announced each, and a ninth makes them a crowd", arguments: [8, 9])
    func eightPeople(count: Int) async {
        let watch = scene.watch()
        let people = (1...count).map { (person($0), Trust.circle, nil as DeviceAddress?) }
        for second in 0..<10 { await hear(people, at: second, in: watch) }
        let outcome = await scene.outcome()
        #expect(outcome.alerts.count == (count == 8 ? 8 : 0))
        #expect(outcome.crowds == (count == 8 ? [] : [CrowdAlert(count: 9)]))
    }

    @Test("CI51: who came in a crowd is not announced one by one later, and is when a key verifies the person")
    func crowdThatStays() async {
        let watch = scene.watch()
        for second in stride(from: 0, to: 7_200, by: 20) {
            await hear((1...60).map { (person(1_000 + $0), .unverified, nil) }, at: second, in: watch)
        }
        for second in 7_200..<7_210 {
            let rest = (2...60).map { (person(1_000 + $0), Trust.unverified, nil as DeviceAddress?) }
            await hear(rest + [(person(1_001), .circle, nil)], at: second, in: watch)
        }
        let outcome = await scene.outcome()
        #expect(outcome.crowds.count == 1)
        #expect(outcome.alerts.map(\.person) == [person(1_001)])
    }

    @Test(
        "CI47: who sends a member's or a friend's number first, alone or in a crowd, does not silence the alert about the person",
        arguments: [Trust.circle, .file, .paired], [1, 12])
    func impersonated(trust: Trust, numbers: Int) async {
        let watch = scene.watch()
        let others = (1..<numbers).map { (person(1_000 + $0), Trust.unverified, nil as DeviceAddress?) }
        for second in 0..<60 {
            await hear(others + [(ada, second < 40 ? .unverified : trust, nil)], at: second, in: watch)
        }
        let alerts = await scene.outcome().alerts.filter { $0.person == ada }
        #expect(alerts.map(\.trust) == (numbers == 1 ? [.unverified, trust] : [trust]))
        #expect(alerts.allSatisfy { !$0.isUpdate })
    }

    @Test("CI56: the log has two encounters with a person whom a key verifies after minutes as a number")
    func verifiedLate() async throws {
        let left = Mutex<[Encounter]>([])
        let watch = scene.watch { update in
            if case .left(_, _, let encounter) = update { left.withLock { $0.append(encounter) } }
        }
        for second in 0..<240 { await hear([(ada, .unverified, nil)], at: second, in: watch) }
        for second in 240..<300 { await hear([(ada, .circle, nil)], at: second, in: watch) }
        for second in [400, 700] { await hear([], at: second, in: watch) }
        let encounters = try #require(try await scene.log.history(of: ada)).encounters
        #expect(encounters.map(\.trust) == [.unverified, .circle])
        #expect(encounters.map(\.firstSeen) == [1_000_000, 1_000_240])
        #expect(encounters.map(\.duration) == [239, 59])
        #expect(encounters.map(\.wasAnnounced) == [true, true])
        #expect(left.withLock(\.self).map(\.firstSeen) == [1_000_240], "the person has left once")
    }

    @Test("CI47: a friend's number that is heard for an hour after the friend has left is announced as unverified")
    func numberOfAFriend() async {
        let watch = scene.watch()
        for second in 0..<10 { await hear([(ada, .paired, nil)], at: second, in: watch) }
        for second in stride(from: 60, through: 3_900, by: 60) {
            await hear([(ada, .unverified, nil)], at: second, in: watch)
        }
        let alerts = await scene.outcome().alerts
        #expect(alerts.map(\.trust) == [.paired, .unverified])
    }

    @Test("CI46: numbers that are sent under a member's address do not silence the alert about the member")
    func numbersUnderAnAddress() async {
        let watch = scene.watch()
        let numbers = (1...5).map { (person(1_000 + $0), Trust.unverified, Self.address as DeviceAddress?) }
        for second in 0..<10 { await hear(numbers, at: second, in: watch) }
        for second in 10..<20 { await hear(numbers + [(ada, .circle, Self.address)], at: second, in: watch) }
        let outcome = await scene.outcome()
        #expect(outcome.alerts.map(\.person) == [ada] && outcome.questions == [ada])
        #expect(outcome.alerts.map(\.isRelayed) == [false], "one whom a key verifies is one")
    }

    @Test(
        "CI46: members whom one device relays, or whose identifiers are sent under one address, are announced with the remark",
        arguments: [3, 8, 9], [true, false])
    func relayedMembers(count: Int, isTogether: Bool) async throws {
        let listed = Mutex<[NearbyPerson]>([])
        let watch = scene.watch { update in
            if case .people(let people) = update { listed.withLock { $0 = people } }
        }
        let people = (1...count).map { person($0) }
        for second in 0..<10 {
            let sightings = people.enumerated().map { index, person in
                let own = DeviceAddress(truncating: UInt64(index))
                // What comes last at a tick is what the attacker sends.
                return Sighting(
                    of: person, at: 1_000_000 + Double(second), instant: .seconds(second), distance: 2, rssi: -60,
                    trust: index == 0 ? .paired : .circle,
                    transmitters: isTogether ? [Self.address] : [own, Self.address])
            }
            await watch.take(
                SightingList(time: 1_000_000 + Double(second), instant: .seconds(second), sightings: sightings))
        }
        let outcome = await scene.outcome()
        let near = listed.withLock(\.self)
        #expect(near.count == count && near.allSatisfy { $0.isRelayed && $0.distance == nil && $0.rssi == nil })
        // Of nine, one of them a friend, eight are members: one too many to be announced one by one, unless each has an address.
        #expect(near.count { $0.isSuspect } == (isTogether && count == 9 ? 8 : 0))
        #expect(Set(outcome.alerts.map(\.person)) == (isTogether && count == 9 ? [people[0]] : Set(people)))
        #expect(outcome.alerts.allSatisfy { $0.isRelayed && $0.proximity == .unknown })
        #expect(outcome.crowds.isEmpty)
    }

    @Test("CI47: what ranging leaves out is told, with how much it was, once a minute")
    func rangingIsFull() async {
        let told = Mutex<[NearbyUpdate]>([])
        let watch = scene.watch { update in
            if case .full = update { told.withLock { $0.append(update) } }
        }
        for second in 0..<61 {
            let list = SightingList(
                time: 1_000_000 + Double(second), instant: .seconds(second), sightings: [], leftOut: [.unverified: 2])
            await watch.take(list)
        }
        #expect(
            told.withLock(\.self) == [
                .full(.unverified, places: 512, leftOut: 2), .full(.unverified, places: 512, leftOut: 120),
            ])
    }

    @Test("crowds that come and go are told once in ten minutes")
    func manyCrowds() async {
        let watch = scene.watch()
        for second in 0..<1_300 {
            let isCrowd = second % 100 < 20
            let people =
                isCrowd ? (0..<10).map { (person(1000 + second * 10 + $0), Trust.circle, nil as DeviceAddress?) } : []
            await hear(people, at: second, in: watch)
        }
        #expect(await scene.outcome().crowds.count == 3)
    }

    @Test(
        "CI46: 206 valid identifiers from one address raise no alert and no look-up, are listed as suspect, and a friend is announced"
    )
    func oneTransmitter() async throws {
        let notes = Mutex(0)
        let listed = Mutex<[NearbyPerson]>([])
        let watch = scene.watch { update in
            if case .oneTransmitter = update { notes.withLock { $0 += 1 } }
            if case .people(let people) = update { listed.withLock { $0 = people } }
        }
        let crowd = (1...206).map { (person($0), Trust.circle, Self.address as DeviceAddress?) }
        for second in 0..<10 { await hear(crowd + [(ada, .paired, Self.address)], at: second, in: watch) }
        let outcome = await scene.outcome()
        #expect(outcome.alerts.map(\.person) == [ada] && outcome.crowds.isEmpty)
        #expect(outcome.questions == [ada])
        #expect(listed.withLock { $0.count { $0.isSuspect } } == 206)
        #expect(notes.withLock(\.self) == 1)
    }

    @Test(
        "CI47: ten invented numbers a second for an hour do not keep a member from the list, nor from being looked up")
    func aFlood() async {
        let listed = Mutex<Set<UserNumber>>([])
        let watch = scene.watch { update in
            if case .people(let people) = update { listed.withLock { $0 = Set(people.map(\.person)) } }
        }
        for second in 0..<3_600 {
            let invented = (0..<10).map { (person(1000 + second * 10 + $0), Trust.unverified, nil as DeviceAddress?) }
            await hear(invented, at: second, in: watch)
        }
        let grace = person(36)
        for second in 3_600..<3_605 {
            await hear([(ada, .circle, nil), (grace, .unverified, nil)], at: second, in: watch)
        }
        #expect(listed.withLock { $0.isSuperset(of: [ada, grace]) })
        let outcome = await scene.outcome()
        #expect(outcome.questions.contains(ada))
        #expect(outcome.alerts.map(\.person) == [ada], "and is announced, in spite of the crowd of inventions")
    }

    @Test("CI47: of members without a distance the strongest are taken and listed first, whatever their numbers")
    func strongestFirst() async {
        let listed = Mutex<[NearbyPerson]>([])
        let displaced = Mutex(0)
        let watch = scene.watch { update in
            if case .people(let people) = update { listed.withLock { $0 = people } }
            if case .left = update { displaced.withLock { $0 += 1 } }
        }
        let count = Trust.circle.places + 20
        let list = (1...count).map { number in
            Sighting(
                of: person(number), at: 1_000_000, instant: .zero, proximity: .far,
                rssi: -99 + 60 * Double(number) / Double(count), trust: .circle)
        }
        await watch.take(SightingList(time: 1_000_000, instant: .zero, sightings: list))
        let people = listed.withLock(\.self)
        #expect(people.map(\.person) == (21...count).reversed().map { person($0) })
        #expect(people.allSatisfy { $0.isRough && $0.distance == nil })
        #expect(displaced.withLock(\.self) == 0, "no person is taken and gives way again")
    }

    @Test(
        "when all places of a kind are taken by people who are heard, it is said how many were left out, once a minute")
    func full() async {
        let told = Mutex<[NearbyUpdate]>([])
        let watch = scene.watch { update in
            if case .full = update { told.withLock { $0.append(update) } }
        }
        let crowd = (0..<552).map { (person(1000 + $0), Trust.unverified, nil as DeviceAddress?) }
        for second in 0..<62 { await hear(crowd, at: second, in: watch) }
        #expect(told.withLock(\.self).first == .full(.unverified, places: 512, leftOut: 1))
        #expect(told.withLock(\.self).count == 2)
    }

    @Test(
        "the own identifier from another device is told, and neither listed nor announced, and a plain number of one's own is not"
    )
    func repeatedSignal() async {
        let told = Mutex(0)
        let watch = scene.watch(ignoring: ada) { update in
            if case .repeatedSignal = update { told.withLock { $0 += 1 } }
        }
        for second in 0..<10 { await hear([(ada, .unverified, nil)], at: second, in: watch) }
        #expect(told.withLock(\.self) == 0)
        for second in 10..<20 { await hear([(ada, .paired, Self.address)], at: second, in: watch) }
        #expect(told.withLock(\.self) == 1)
        let outcome = await scene.outcome()
        #expect(outcome.alerts.isEmpty && outcome.questions.isEmpty)
    }

    @Test("CI48: the alert about a person who is heard from two devices says so")
    func relayedAlert() async {
        let alert = Alert(person: ada, known: known, trust: .circle, isRelayed: true)
        #expect(alert.body == "S1'14, may be relayed by another device")
    }
}
