import Beacons
import Circles
import Foundation
import Handshake
import Radio
import Testing

@testable import Nearby

/// The vectors are those of the beacons dossier, 2.4 and 8.4: seed 00 01 … 1f.
@Suite("Whose beacon it is")
struct RecognitionTests {
    private let ada = person(759)
    private let seed: RollingSeed
    /// 2026-01-01T00:00:00Z, in window 1963584 of day 20454.
    private let newYear: Timestamp
    private static let first = (major: UInt16(46078), minor: UInt16(38980))

    init() throws {
        seed = try RollingSeed(revealed: (0..<32).map { UInt8($0) })
        newYear = try #require(Timestamp(secondsSince1970: 1_767_225_600))
    }

    private func beacon(_ major: UInt16, _ minor: UInt16, uuid: ProximityUUID = .secretHandshake) -> BeaconIdentity {
        .proximity(uuid: uuid, major: major, minor: minor)
    }

    private func friends() -> [(UserNumber, DayKey)] {
        [(ada, seed.dayKey(for: RollingDay(number: 20454)))]
    }

    @Test(
        "plain numbers: SecretHandshake's major 1, and wide ones",
        arguments: [
            (1, 36, 36), (1, 759, 759), (1, 65535, 65535), (0x8001, 0x1170, 70000), (1, 0, nil), (0x8000, 0, nil),
            (2, 36, nil), (46078, 38980, nil),
        ] as [(UInt16, UInt16, Int?)])
    func plainNumbers(major: UInt16, minor: UInt16, person: Int?) {
        var recognition = Recognition()
        #expect(recognition.person(of: beacon(major, minor), at: newYear)?.value == person)
    }

    @Test("another fleet's beacons identify no person")
    func anotherFleet() throws {
        var recognition = Recognition()
        let other = try #require(ProximityUUID("00000000-0000-0000-0000-000000000001"))
        #expect(recognition.person(of: beacon(1, 36, uuid: other), at: newYear) == nil)
        #expect(recognition.person(of: .ephemeral(36), at: newYear) == nil)
    }

    @Test("a friend is recognised by four bytes after a second window, and a stranger is not")
    func fourBytes() {
        var recognition = Recognition(friends: friends())
        #expect(recognition.person(of: beacon(Self.first.major, Self.first.minor), at: newYear) == nil)
        #expect(recognition.person(of: beacon(Self.first.major, Self.first.minor), at: newYear) == nil)
        // The next window's identifier is 32c170d9….
        let later = newYear.advanced(by: .seconds(900))
        #expect(recognition.person(of: beacon(0x32C1, 0x70D9), at: later) == ada)

        var stranger = Recognition()
        #expect(stranger.person(of: beacon(0x32C1, 0x70D9), at: later) == nil)
    }

    /// The sightings of four-byte identifiers that are heard at these seconds, one list for each second up to the last.
    ///
    /// - Parameter plain: when a stranger sends the friend's plain number.
    private func fourByteSightings(at seconds: Set<Int>, plainNumberAt plain: Int? = nil) async throws -> [SightingList]
    {
        var ranging = Ranging()
        var updates: [RangingUpdate] = []
        for second in 0...max(seconds.max() ?? 0, plain ?? 0) {
            let time = newYear.advanced(by: .seconds(second))
            func hear(_ major: UInt16, _ minor: UInt16) throws {
                let beacon = IBeacon(uuid: .secretHandshake, major: major, minor: minor, power: -59)
                ranging.receive(
                    Advertisement(
                        time: time, address: nil, rssi: RSSI(-59), data: try AdvertisingData([beacon.structure])))
            }
            if seconds.contains(second) {
                let short = try #require(seed.token(in: try RollingWindow(at: time)).short)
                try hear(short.major, short.minor)
            }
            if second == plain { try hear(1, UInt16(ada.value)) }
            updates.append(ranging.tick(at: time))
        }
        let stream = AsyncStream { [updates] continuation in
            for update in updates { continuation.yield(update) }
            continuation.finish()
        }
        var lists: [SightingList] = []
        let recognition = Recognition(friends: friends())
        for try await list in SightingLists(
            of: stream, recognition: recognition, elapsed: { [newYear] in newYear.duration(to: $0) })
        {
            lists.append(list)
        }
        return lists
    }

    @Test(
        "CI14, BE-20: an hour of four-byte identifiers at one a second is one encounter of an hour, told in the second window"
    )
    func anHourOfFourBytes() async throws {
        var tracker = EncounterTracker()
        var begun: [Double] = []
        for list in try await fourByteSightings(at: Set(0..<3600)) {
            #expect(tracker.advance(to: list.instant).isEmpty)
            for sighting in list.sightings where tracker.note(sighting).began { begun.append(list.time) }
        }
        #expect(begun == [newYear.secondsSince1970 + 900], "not by the first window, which can match by chance")
        let encounter = try #require(tracker.encounter(with: ada))
        #expect(encounter.duration == 3599 && encounter.firstSeen == newYear.secondsSince1970)
    }

    @Test(
        "CI14: what four bytes matched before a long silence is not part of the encounter that the second window confirms"
    )
    func aSilenceBeforeTheSecondWindow() async throws {
        let lists = try await fourByteSightings(at: [0, 500, 700, 950, 951])
        let sightings = lists.flatMap(\.sightings)
        #expect(sightings.map(\.unconfirmed) == [.seconds(450), .zero])
        let others = try await fourByteSightings(at: [0, 500, 950]).flatMap(\.sightings)
        #expect(others.map(\.unconfirmed) == [.zero])
    }

    @Test("a plain number that anyone can send does not make an encounter of unconfirmed bytes")
    func plainNumberBeforeTheSecondWindow() async throws {
        let lists = try await fourByteSightings(at: [0, 100], plainNumberAt: 200)
        #expect(lists.flatMap(\.sightings).map(\.unconfirmed) == [.zero])
    }

    @Test("a friend is recognised by sixteen bytes immediately, as Eddystone carries them")
    func sixteenBytes() throws {
        var recognition = Recognition(friends: friends())
        // b3fe98449dfab4702e0868eb355c32c9
        let token = RollingToken(high: 0xB3FE_9844_9DFA_B470, low: 0x2E08_68EB_355C_32C9)
        let uid = EddystoneUID(carrying: token)
        #expect(uid.namespace == .init(high: 0xB3FE_9844_9DFA_B470, low: 0x2E08))
        #expect(uid.instance == 0x68EB_355C_32C9)
        #expect(RollingToken(uid) == token)
        #expect(recognition.person(of: .eddystone(uid), at: newYear) == ada)
        #expect(recognition.person(of: .rolling(token), at: newYear) == ada)
        #expect(recognition.person(of: .eddystone(uid), at: newYear.advanced(by: .seconds(3600))) == nil)
    }

    @Test("a copy of a friend's keys in a circle does not hide the friend, and keys of two members recognise neither")
    func copiedKeys() throws {
        let token = seed.token(in: try RollingWindow(at: newYear))
        let key = seed.dayKey(for: RollingDay(number: 20454))
        let grace = person(36)
        for trust in [Trust.circle, .unverified] {
            var recognition = Recognition(friends: friends())
            recognition.add([(grace, key)], trust: trust)
            #expect(recognition.recognize(.rolling(token), at: newYear) == .init(person: ada, trust: .paired))
        }
        var circle = Recognition()
        circle.add([(ada, key), (grace, key)], trust: .circle)
        #expect(circle.person(of: .rolling(token), at: newYear) == nil)
    }

    @Test("with a clock before 1970 no person is recognised by a rolling identifier, and nothing breaks")
    func aClockBefore1970() throws {
        var recognition = Recognition(friends: friends())
        let early = try #require(Timestamp(secondsSince1970: -1))
        #expect(recognition.person(of: beacon(1, 36), at: early)?.value == 36)
        #expect(recognition.person(of: .rolling(RollingToken(high: 0, low: 0)), at: early) == nil)
    }

    @Test("a beacon counts as heard at a tick only when a packet came since the last")
    func heardAtATick() async throws {
        func time(_ second: Double) throws -> Timestamp {
            try #require(Timestamp(secondsSince1970: 1000 + second))
        }
        // Dossier 2.2.
        let data = try AdvertisingData([
            IBeacon(uuid: .secretHandshake, major: 1, minor: 759, power: -59).structure
        ])
        var ranging = Ranging()
        var updates: [RangingUpdate] = []
        for (tick, heard) in [(1.0, 0.5), (2, nil), (3, 2.75)] as [(Double, Double?)] {
            if let heard {
                ranging.receive(Advertisement(time: try time(heard), address: nil, rssi: RSSI(-59), data: data))
            }
            updates.append(ranging.tick(at: try time(tick)))
        }
        let stream = AsyncStream { [updates] continuation in
            for update in updates { continuation.yield(update) }
            continuation.finish()
        }
        var lists: [SightingList] = []
        let sightings = SightingLists(of: stream, recognition: Recognition()) { .seconds($0.secondsSince1970 - 1000) }
        for try await list in sightings { lists.append(list) }
        #expect(lists.map(\.sightings.count) == [1, 0, 1])
        let last = try #require(lists.last?.sightings.first)
        #expect(last.person == ada && last.time == 1002.75 && last.instant == .seconds(2.75))
        #expect(last.distance == 1 && last.proximity == .near)
    }
}

@Suite("Keys of rolling identifiers")
struct RollingKeysTests {
    private let ada = person(759)
    private let newYear: Timestamp

    private static let zeros = String(repeating: "00", count: 32)

    init() throws {
        newYear = try #require(Timestamp(secondsSince1970: 1_767_225_600))
    }

    /// What a user shared, as text that a test changes.
    private func text(of shared: RollingKeys.Shared) throws -> String {
        String(decoding: try JSONEncoder().encode(shared), as: UTF8.self)
    }

    private func shared(_ text: String) throws -> RollingKeys.Shared {
        try JSONDecoder().decode(RollingKeys.Shared.self, from: Data(text.utf8))
    }

    @Test("a key file whose person, day or signature was changed is refused, and nothing is stored")
    func changed() async throws {
        let mine = RollingKeys(in: MemoryVault(), community: "c")
        let theirs = RollingKeys(in: MemoryVault(), community: "c")
        let text = try text(of: try await mine.share(ada, days: 1, from: newYear))
        let changes = [
            text.replacing("759", with: "36"), text.replacing("20454", with: "20455"),
            text.replacing(#""signature":""#, with: #""signature":"00"#),
            text.replacing("signature", with: "comment"), text.replacing("identity", with: "comment"),
        ]
        for change in changes {
            let keys = try shared(change)
            await #expect(throws: NearbyError.self) { try await theirs.addFriend(keys, at: newYear) }
        }
        let unsigned = try shared(text.replacing("signature", with: "comment"))
        await #expect(throws: NearbyError.sharedKeys("they are not signed")) {
            try await theirs.addFriend(unsigned, at: newYear)
        }
        let other = RollingKeys(in: MemoryVault(), community: "d")
        let keys = try shared(text)
        await #expect(throws: NearbyError.self, "signed for another community") {
            try await other.addFriend(keys, at: newYear)
        }
        #expect(try await theirs.friends().keys.isEmpty)
        try await theirs.addFriend(keys, at: newYear)
        #expect(try await theirs.friends().keys.map(\.0) == [ada])
    }

    @Test("keys that another identity signed are refused while the friend's are stored, also after a new seed")
    func pinned() async throws {
        let mine = RollingKeys(in: MemoryVault(), community: "c")
        let stranger = RollingKeys(in: MemoryVault(), community: "c")
        let theirs = RollingKeys(in: MemoryVault(), community: "c")
        try await theirs.addFriend(try await mine.share(ada, days: 1, from: newYear), at: newYear)
        let forged = try await stranger.share(ada, days: 2, from: newYear)
        await #expect(throws: NearbyError.otherIdentity(ada)) { try await theirs.addFriend(forged, at: newYear) }
        #expect(try await theirs.friends().keys.count == 1)
        try await mine.forgetSeed()
        try await theirs.addFriend(try await mine.share(ada, days: 3, from: newYear), at: newYear)
        #expect(try await theirs.friends().keys.count == 3)
        try await theirs.removeFriend(ada)
        try await theirs.addFriend(forged, at: newYear)
    }

    @Test("a friend's keys under another number, and one's own, are refused: neither person could be recognised")
    func knownKeys() async throws {
        let vault = MemoryVault()
        let mine = RollingKeys(in: vault, community: "c")
        let theirs = RollingKeys(in: MemoryVault(), community: "c")
        let keys = try await mine.share(ada, days: 1, from: newYear)
        let again = try await mine.share(person(36), days: 1, from: newYear)
        try await theirs.addFriend(keys, at: newYear)
        await #expect(throws: NearbyError.sharedKeys("they are the keys of person 759")) {
            try await theirs.addFriend(again, at: newYear)
        }
        await #expect(throws: NearbyError.sharedKeys("they are your own")) {
            try await mine.addFriend(keys, at: newYear)
        }
        #expect(try await theirs.friends().keys.map(\.0) == [ada])
    }

    /// A card as another device sends it.
    private func card(_ device: RollingKeys, _ number: UserNumber?, _ name: String) async throws -> PairingCard {
        try await device.pairingCard(
            in: CircleScope(circleAt: "https://circle.example"), number: number, name: name, at: newYear)
    }

    /// Puts a circle into a vault: the user is number 5, and there is one other member.
    private func join(
        _ member: UserNumber, _ name: String, keys: Data? = nil, at address: String = "https://circle.example",
        in vault: any Vault
    ) async throws {
        let records = CircleRecords(in: vault, community: "c", scope: CircleScope(circleAt: address))
        try await records.change { state in
            state = .init(
                address: address, circle: "Circle", service: "service", number: 5, name: "Me",
                batch: "",
                bearer: "", expires: 0, keys: Data())
        }
        var table = CircleTable()
        table.rows[UInt32(member.value)] = .init(name: name, batch: "", identity: Data(), keys: keys)
        try await records.replaceTable(table)
        let photos = PhotoPack([UInt32(member.value): Array(name.utf8)])
        try await records.replacePack(PhotoPack.index(of: UInt32(member.value)), tag: "", photos)
    }

    @Test("CI54: who is recognised by a circle's keys has the name and the photo that this circle has of the number")
    func circlesOfOneNumber() async throws {
        let vault = MemoryVault()
        let environment = CircleEnvironment(
            vault: vault, community: "c",
            time: TimeSource(now: { [newYear] in newYear.secondsSince1970 }, clock: ContinuousClock()))
        let circles = [
            (address: "https://circle.example", name: "Ada Example"), ("https://other.example", "Mallory"),
        ]
        var heard: [(CircleScope, String, RollingToken)] = []
        for (address, name) in circles {
            let device = RollingKeys(in: MemoryVault(), community: "c")
            let keys = Data(try await card(device, ada, name).keys.bytes)
            try await join(ada, name, keys: keys, at: address, in: vault)
            let token = try await device.seed().token(in: try RollingWindow(at: newYear))
            heard.append((CircleScope(circleAt: address), name, token))
        }
        let known = try await KnownPeople(in: environment)
        var recognition = known.recognition
        for (scope, name, token) in heard {
            let found = recognition.recognize(.rolling(token), at: newYear)
            #expect(found == Recognition.Found(person: ada, trust: .circle, circle: scope))
            #expect(known.introduce(ada, in: scope)?.name == name)
            #expect(await known.photo(of: ada, in: scope) == Array(name.utf8))
        }
    }

    @Test("CI54: a friend has the name that was given when pairing, whatever a circle's server says later")
    func nameOfAFriend() async throws {
        let vault = MemoryVault()
        let friend = RollingKeys(in: MemoryVault(), community: "c")
        let mine = RollingKeys(in: vault, community: "c")
        _ = try await mine.addPaired(try await card(friend, ada, "Ada Example"), at: newYear)
        try await join(ada, "Mallory", in: vault)
        let known = try await KnownPeople(in: CircleEnvironment(vault: vault, community: "c"))
        #expect(known.introduce(ada)?.name == "Ada Example")
        let circle = CircleScope(circleAt: "https://circle.example")
        #expect(known.introduce(ada, in: circle)?.name == "Mallory", "by the circle's keys")
    }

    @Test("who pairs under the number of another member or friend, or of the user, is refused, and nothing is replaced")
    func pairedUnderAnotherNumber() async throws {
        let vault = MemoryVault()
        let mine = RollingKeys(in: vault, community: "c")
        let (stranger, friend) = (
            RollingKeys(in: MemoryVault(), community: "c"), RollingKeys(in: MemoryVault(), community: "c")
        )
        let grace = person(36)
        try await join(ada, "Ada Example", in: vault)
        #expect(try await mine.addPaired(try await card(friend, grace, "Grace"), at: newYear) == grace)
        let before = try await mine.friends().keys.map { $0.1.reveal() }
        for number in [ada, grace, person(5)] {
            let forged = try await card(stranger, number, "Mallory")
            await #expect(throws: NearbyError.self, "\(number)") { try await mine.addPaired(forged, at: newYear) }
        }
        #expect(try await mine.friends().keys.map { $0.1.reveal() } == before)
        #expect(try await mine.pairedNames() == [grace: "Grace"])
        // The member herself, the friend with a new device, and a stranger without a number.
        let member = RollingKeys(in: MemoryVault(), community: "c")
        #expect(try await mine.addPaired(try await card(member, ada, "Ada Example"), at: newYear) == ada)
        let renewed = RollingKeys(in: MemoryVault(), community: "c")
        #expect(try await mine.addPaired(try await card(renewed, grace, "Grace"), at: newYear) == grace)
        #expect(try await mine.addPaired(try await card(stranger, nil, "Mallory"), at: newYear).value >= 0x4000_0000)
    }

    @Test("who pairs in place of a friend whose keys came in a file is refused where the log has another name")
    func pairedInPlaceOfAFile() async throws {
        let vault = MemoryVault()
        let mine = RollingKeys(in: vault, community: "c")
        let friend = RollingKeys(in: MemoryVault(), community: "c")
        try await mine.addFriend(try await friend.share(ada, days: 1, from: newYear), at: newYear)
        let log = EncounterLog(in: vault, community: "c")
        _ = try await log.announce(ada, at: newYear.secondsSince1970)
        try await log.introduce(ada, as: Person(name: "Ada Example"))
        let stranger = RollingKeys(in: MemoryVault(), community: "c")
        let forged = try await card(stranger, ada, "Mallory")
        await #expect(throws: NearbyError.self) { try await mine.addPaired(forged, at: newYear) }
        #expect(try await mine.friends().keys.count == 1)
        #expect(try await mine.addPaired(try await card(friend, ada, "Ada Example"), at: newYear) == ada)
        #expect(try await mine.friends().keys.count == RollingKeys.maximumDays)
    }

    @Test("keys that a circle has as another member's are refused, on a card and in a file")
    func keysOfAMember() async throws {
        let vault = MemoryVault()
        let mine = RollingKeys(in: vault, community: "c")
        let member = RollingKeys(in: MemoryVault(), community: "c")
        let copied = try await card(member, nil, "Mallory")
        try await join(ada, "Ada Example", keys: Data(copied.keys.bytes), in: vault)
        let refusal = NearbyError.sharedKeys("they are the keys of person 759")
        await #expect(throws: refusal) { try await mine.addPaired(copied, at: newYear) }
        let file = try await member.share(person(36), days: 1, from: newYear)
        await #expect(throws: refusal) { try await mine.addFriend(file, at: newYear) }
        #expect(try await mine.addPaired(try await card(member, ada, "Ada Example"), at: newYear) == ada)
    }

    @Test("CI20: keys of the own number or of a member's, which anyone can make and sign, are refused in a file")
    func madeByAnother() async throws {
        let vault = MemoryVault()
        let mine = RollingKeys(in: vault, community: "c")
        let stranger = RollingKeys(in: MemoryVault(), community: "c")
        try await join(ada, "Ada Example", in: vault)
        try await OwnNumber(in: vault, community: "c", account: "a").remember(person(7))
        for (number, refusal): (UserNumber, NearbyError) in [
            (ada, .keysOfMember(ada)), (person(5), .sharedKeys("number 5 is your own")),
            (person(7), .sharedKeys("number 7 is your own")),
        ] {
            let file = try await stranger.share(number, days: 1, from: newYear)
            await #expect(throws: refusal) { try await mine.addFriend(file, at: newYear) }
        }
        #expect(try await mine.friends().keys.isEmpty)
        try await mine.addFriend(try await stranger.share(person(36), days: 1, from: newYear), at: newYear)
        #expect(try await mine.friends().keys.count == 1)
    }

    @Test(
        "CI20: keys from a file are unverified once a circle says who has their number, and keys of a pairing are not")
    func fileBeforeTheCircle() async throws {
        let vault = MemoryVault()
        let mine = RollingKeys(in: vault, community: "c")
        let (stranger, friend) = (
            RollingKeys(in: MemoryVault(), community: "c"), RollingKeys(in: MemoryVault(), community: "c")
        )
        let environment = CircleEnvironment(
            vault: vault, community: "c",
            time: TimeSource(now: { [newYear] in newYear.secondsSince1970 }, clock: ContinuousClock()))
        func trust(of device: RollingKeys) async throws -> Trust? {
            var recognition = try await KnownPeople(in: environment, own: person(5)).recognition
            let token = try await device.seed().token(in: try RollingWindow(at: newYear))
            return recognition.recognize(.rolling(token), at: newYear)?.trust
        }
        try await mine.addFriend(try await stranger.share(ada, days: 1, from: newYear), at: newYear)
        #expect(try await trust(of: stranger) == .file)
        try await join(ada, "Ada Example", in: vault)
        #expect(try await trust(of: stranger) == .unverified)
        _ = try await mine.addPaired(try await card(friend, ada, "Ada Example"), at: newYear)
        #expect(try await trust(of: friend) == .paired)
        #expect(try await trust(of: stranger) == nil)
    }

    @Test("CI20: keys that another identity signed for the same number have another fingerprint")
    func fingerprints() async throws {
        let (friend, stranger) = (
            RollingKeys(in: MemoryVault(), community: "c"), RollingKeys(in: MemoryVault(), community: "c")
        )
        let file = try await friend.share(ada, days: 1, from: newYear)
        let fingerprint = try #require(file.fingerprint)
        #expect(fingerprint.wholeMatch(of: /[0-9a-f]{4}( [0-9a-f]{4}){7}/) != nil)
        let received = try JSONDecoder().decode(RollingKeys.Shared.self, from: try JSONEncoder().encode(file))
        #expect(received.fingerprint == fingerprint)
        try await friend.forgetSeed()
        #expect(try await friend.share(ada, days: 2, from: newYear).fingerprint == fingerprint, "the identity stays")
        #expect(try await stranger.share(ada, days: 1, from: newYear).fingerprint != fingerprint)
    }

    @Test("CI58: keys from a file under a member's number are looked for after those of friends")
    func expectedOfAFile() async throws {
        let vault = MemoryVault()
        let mine = RollingKeys(in: vault, community: "c")
        let (stranger, friend) = (
            RollingKeys(in: MemoryVault(), community: "c"), RollingKeys(in: MemoryVault(), community: "c")
        )
        try await mine.addFriend(try await stranger.share(ada, days: 1, from: newYear), at: newYear)
        try await join(ada, "Ada Example", in: vault)
        _ = try await mine.addPaired(try await card(friend, person(36), "Grace"), at: newYear)
        let moment = newYear.secondsSince1970 - 60
        _ = try await EncounterLog(in: vault, community: "c").note(
            Encounter(firstSeen: moment, lastSeen: moment, duration: 0, trust: .circle), with: ada, wasLogged: false)
        let environment = CircleEnvironment(
            vault: vault, community: "c",
            time: TimeSource(now: { [newYear] in newYear.secondsSince1970 }, clock: ContinuousClock()))
        let list = try await KnownPeople(in: environment, own: person(5)).expected(at: newYear).uuids
        func place(of device: RollingKeys) async throws -> Int {
            let token = try await device.seed().token(in: try RollingWindow(at: newYear))
            return try #require(list.firstIndex(of: RollingUUID(token)))
        }
        #expect(try await place(of: friend) < (try await place(of: stranger)))
    }

    @Test("CI20: keys from a file stay unverified, and are refused, while a circle remembers the member who has left")
    func fileAfterTheMember() async throws {
        let vault = MemoryVault()
        let mine = RollingKeys(in: vault, community: "c")
        let stranger = RollingKeys(in: MemoryVault(), community: "c")
        let environment = CircleEnvironment(
            vault: vault, community: "c",
            time: TimeSource(now: { [newYear] in newYear.secondsSince1970 }, clock: ContinuousClock()))
        func trust() async throws -> Trust? {
            var recognition = try await KnownPeople(in: environment, own: person(5)).recognition
            let token = try await stranger.seed().token(in: try RollingWindow(at: newYear))
            return recognition.recognize(.rolling(token), at: newYear)?.trust
        }
        let file = try await stranger.share(ada, days: 1, from: newYear)
        try await mine.addFriend(file, at: newYear)
        try await join(ada, "Ada Example", in: vault)
        let records = try #require(try await CircleRecords.all(in: vault, community: "c").first)
        var table = try await records.table()
        table.depart(UInt32(ada.value), at: UInt64(newYear.secondsSince1970))
        try await records.replaceTable(table)
        #expect(try await trust() == .unverified)
        await #expect(throws: NearbyError.keysOfMember(ada)) { try await mine.addFriend(file, at: newYear) }
        table.forget(UInt32(ada.value))
        try await records.replaceTable(table)
        #expect(try await trust() == .file)
        try await mine.addFriend(file, at: newYear)
    }

    @Test("CI20: while a circle's table cannot be read, keys from a file are unverified, and new ones are refused")
    func fileBesideUnreadableTable() async throws {
        let vault = MemoryVault()
        let mine = RollingKeys(in: vault, community: "c")
        let friend = RollingKeys(in: MemoryVault(), community: "c")
        let environment = CircleEnvironment(
            vault: vault, community: "c",
            time: TimeSource(now: { [newYear] in newYear.secondsSince1970 }, clock: ContinuousClock()))
        func trust() async throws -> Trust? {
            var recognition = try await KnownPeople(in: environment, own: person(5)).recognition
            let token = try await friend.seed().token(in: try RollingWindow(at: newYear))
            return recognition.recognize(.rolling(token), at: newYear)?.trust
        }
        let file = try await friend.share(person(36), days: 1, from: newYear)
        try await join(ada, "Ada Example", in: vault)
        try await mine.addFriend(file, at: newYear)
        #expect(try await trust() == .file)
        let records = try #require(try await CircleRecords.all(in: vault, community: "c").first)
        try await vault.replace(records.key("table"), with: Array("{}".utf8))
        #expect(try await trust() == .unverified, "the table may have the number")
        let problem = NearbyError.circle(.tableNeeded(circle: "Circle"))
        await #expect(throws: problem) { try await mine.addFriend(file, at: newYear) }
    }

    @Test("CI22: while a circle's table cannot be read, pairing does not begin: it could not be stored at its end")
    func pairingBesideUnreadableTable() async throws {
        let vault = MemoryVault()
        let mine = RollingKeys(in: vault, community: "c")
        let attempts = PairingAttempts(in: vault, community: "c")
        try await join(ada, "Ada Example", in: vault)
        try await attempts.begin(at: newYear.secondsSince1970)
        let records = try #require(try await CircleRecords.all(in: vault, community: "c").first)
        try await vault.replace(records.key("table"), with: Array("{}".utf8))
        let problem = NearbyError.circle(.tableNeeded(circle: "Circle"))
        await #expect(throws: problem) { try await attempts.begin(at: newYear.secondsSince1970) }
        // The table was damaged while the two compared digits.
        let friend = RollingKeys(in: MemoryVault(), community: "c")
        let received = try await card(friend, person(36), "Grace")
        await #expect(throws: problem) { try await mine.addPaired(received, at: newYear) }
        #expect(try await mine.friends().keys.isEmpty && problem.description.contains("Nothing was stored. "))
    }

    @Test("CI19: keys of past days only are refused")
    func expired() async throws {
        let mine = RollingKeys(in: MemoryVault(), community: "c")
        let theirs = RollingKeys(in: MemoryVault(), community: "c")
        let keys = try await mine.share(ada, days: 2, from: newYear)
        let later = newYear.advanced(by: .seconds(2 * 86_400))
        await #expect(throws: NearbyError.sharedKeys("they have expired")) {
            try await theirs.addFriend(keys, at: later)
        }
        try await theirs.addFriend(keys, at: newYear.advanced(by: .seconds(86_400)))
    }

    @Test("what one shares lets a friend recognise one on these days, and only these")
    func sharing() async throws {
        let mine = RollingKeys(in: MemoryVault(), community: "recurse-center")
        let theirs = RollingKeys(in: MemoryVault(), community: "recurse-center")
        let text = try JSONEncoder().encode(try await mine.share(ada, days: 2, from: newYear))
        try await theirs.addFriend(try JSONDecoder().decode(RollingKeys.Shared.self, from: text), at: newYear)
        let friends = try await theirs.friends()
        #expect(friends.damaged.isEmpty)
        #expect(friends.keys.map(\.1.day.number) == [20454, 20455])

        let seed = try await mine.seed()
        for (days, known) in [(0, true), (1, true), (2, false)] {
            var recognition = Recognition(friends: friends.keys)
            let time = newYear.advanced(by: .seconds(86_400 * Double(days) + 7_200))
            let token = seed.token(in: try RollingWindow(at: time))
            #expect((recognition.person(of: .rolling(token), at: time) == ada) == known, "after \(days) days")
        }
    }

    @Test("the seed is created once, also for concurrent callers, and is another after it was forgotten")
    func oneSeed() async throws {
        let keys = RollingKeys(in: MemoryVault(), community: "recurse-center")
        let seeds = try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { try await keys.seed().reveal() } }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(seeds.count == 1)
        #expect(try await keys.forgetSeed())
        #expect(try await !seeds.contains(keys.seed().reveal()))
    }

    @Test("new keys of a friend join the old, and those of past days go")
    func addFriendAgain() async throws {
        let mine = RollingKeys(in: MemoryVault(), community: "c")
        let theirs = RollingKeys(in: MemoryVault(), community: "c")
        for start in [0, 1, 10] {
            let time = newYear.advanced(by: .seconds(Double(start) * 86_400))
            try await theirs.addFriend(try await mine.share(ada, days: 1, from: time), at: time)
        }
        #expect(try await theirs.friends().keys.map(\.1.day.number) == [20464])
        #expect(try await theirs.removeFriend(ada))
        #expect(try await theirs.friends().keys.isEmpty)
    }

    @Test("a friend who gives a month's keys every day is recognised every day")
    func aMonthOfKeysEveryDay() async throws {
        let mine = RollingKeys(in: MemoryVault(), community: "c")
        let theirs = RollingKeys(in: MemoryVault(), community: "c")
        for day in 0..<40 {
            let time = newYear.advanced(by: .seconds(Double(day) * 86_400))
            try await theirs.addFriend(try await mine.share(ada, days: RollingKeys.maximumDays, from: time), at: time)
            let friends = try await theirs.friends()
            #expect(friends.damaged.isEmpty)
            #expect(friends.keys.last?.1.day.number == UInt32(20454 + day + RollingKeys.maximumDays - 1))
        }
    }

    @Test("keys of days that are far off do not pile up, and do not push out those of the next days")
    func keysFarOff() async throws {
        let mine = RollingKeys(in: MemoryVault(), community: "c")
        let theirs = RollingKeys(in: MemoryVault(), community: "c")
        for month in [0, 50, 40, 30, 20, 10] {
            let time = newYear.advanced(by: .seconds(Double(month * RollingKeys.maximumDays) * 86_400))
            try await theirs.addFriend(
                try await mine.share(ada, days: RollingKeys.maximumDays, from: time), at: newYear)
        }
        let days = try await theirs.friends().keys.map(\.1.day.number)
        #expect(days.prefix(RollingKeys.maximumDays) == Array(20454..<20454 + UInt32(RollingKeys.maximumDays))[...])
        #expect(days.count == 2 * RollingKeys.maximumDays)
    }

    @Test(
        "CI19: what is no keys is refused with a reason",
        arguments: [
            #"{"person":759,"keys":{"20454":"00"}}"#, #"{"person":759,"keys":{"x":"00"}}"#,
            #"{"person":759,"keys":{"20454":"zz"}}"#, #"{"person":759,"keys":{"-1":"00"}}"#,
            #"{"person":759,"keys":{}}"#,
            #"{"person":759,"keys":{"1":"\#(RollingKeysTests.zeros)","2":"\#(RollingKeysTests.zeros)"}}"#,
        ])
    func noKeys(text: String) throws {
        let shared = try JSONDecoder().decode(RollingKeys.Shared.self, from: Data(text.utf8))
        #expect(throws: NearbyError.self) { try shared.dayKeys() }
    }

    @Test("shared keys do not print")
    func secrets() async throws {
        let shared = try await RollingKeys(in: MemoryVault(), community: "c").share(ada, days: 1, from: newYear)
        let digits = String(decoding: try JSONEncoder().encode(shared), as: UTF8.self).split(separator: "\"")
        // The day key and the identity.
        let keys = digits.filter { $0.count == 64 }
        #expect(keys.count == 2)
        var dumped = ""
        dump(shared, to: &dumped)
        for text in ["\(shared)", String(reflecting: shared), dumped] {
            for key in keys { #expect(!text.contains(key)) }
        }
    }
}

@Suite("The user's own number")
struct OwnNumberTests {
    private struct Unreachable: Error {}
    private let ada = person(759)
    private let vault = MemoryVault()

    private var memory: OwnNumber { OwnNumber(in: vault, community: "recurse-center", account: "ada") }

    private func current(_ answer: Result<UserNumber, any Error>) async throws -> UserNumber {
        try await memory.current { try answer.get() }
    }

    @Test("RC-20: without an answer of the service the stored number is used, and without both the error is thrown")
    func stored() async throws {
        await #expect(throws: Unreachable.self) { try await current(.failure(Unreachable())) }
        #expect(try await current(.success(ada)) == ada)
        #expect(try await current(.failure(Unreachable())) == ada)
        await #expect(throws: CancellationError.self) { try await current(.failure(CancellationError())) }
        await #expect(throws: BeaconsError.self) { try await current(Result { try UserNumber(0) }) }
        #expect(try await current(.success(person(36))) == person(36))
        #expect(try await memory.known() == person(36))
    }

    @Test("a damaged own number is replaced by what the service states")
    func damaged() async throws {
        try await vault.update(VaultKey(.ownNumber, ["recurse-center", "ada"])) {
            try await $0.replace(with: Array("x".utf8))
        }
        await #expect(throws: Unreachable.self) { try await current(.failure(Unreachable())) }
        #expect(try await current(.success(ada)) == ada)
        #expect(try await memory.known() == ada)
    }
}
