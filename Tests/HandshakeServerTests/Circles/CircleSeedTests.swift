import Beacons
import Circles
import Foundation
import Handshake
import OAuth
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

@Suite("Each circle's own seed", .heavy)
struct CircleSeedTests {
    private let other = [UInt8](1...32)

    /// Puts the device into another circle too, and gives keys to a friend.
    private func addScopes(to device: CircleDevice) async throws {
        let scope = CircleScope(circleAt: "https://other.example")
        let seed = Data(other)
        try await CircleRecords(in: device.vault, community: "recurse-center", scope: scope).change { state in
            var new = CircleRecords.State(
                address: "https://other.example", circle: "Other", service: "service", number: 759, name: "Ada",
                batch: "", bearer: "", expires: 0, keys: Data())
            new.seed = seed
            state = new
        }
        _ = try await keys(of: device).share(try UserNumber(759), days: 31, from: device.world.timestamp)
    }

    private func keys(of device: CircleDevice) -> RollingKeys {
        RollingKeys(in: device.vault, community: "recurse-center")
    }

    /// The seed of the circle itself, and those of the other circle and of the friends.
    private func seeds(
        of device: CircleDevice, _ circle: JoinedCircle
    ) async throws -> (own: [UInt8]?, others: [[UInt8]]) {
        let all = try await OwnScopes(in: device.vault, community: "recurse-center", at: device.world.timestamp).seeds
        let own = try await circle.records.state()?.ownSeed?.reveal()
        return (own, all.map { $0.reveal() }.filter { $0 != own })
    }

    @Test(
        "CI52: hiding, a pause, a rotation, a removal and leaving renew the circle's seed, and no other",
        arguments: ["hide", "resume", "rotate", "remove", "leave"])
    func renewal(action: String) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            try await addScopes(to: ada)
            let before = try await seeds(of: ada, adas)
            let old = try #require(try await ada.seed())
            #expect(before.own != nil && before.others.count == 2 && before.others.contains(other))
            #expect(try await zoe.recognizes(old, zoes)?.person.value == 759)
            switch action {
            case "hide": try await adas.hide(try UserNumber(65_535))
            case "resume":
                try await adas.pause()
                try await adas.resume()
            case "rotate": try await adas.rotate()
            case "remove":
                try await world.circle.remove(65_535)
                try await adas.synchronize()
            default: _ = try await adas.leave()
            }
            let after = try await seeds(of: ada, adas)
            #expect(after.own != before.own)
            #expect((after.own == nil) == (action == "leave"))
            #expect(Set(after.others) == Set(before.others))
            let sent = try await OwnScopes(in: ada.vault, community: "recurse-center", at: world.timestamp).sent
            #expect(!sent.contains { $0.reveal() == old.reveal() })
        }
    }

    @Test(
        "CI52: the seed for friends outlasts a circle in which nothing was published, and one that is joined with a new identity",
        arguments: ["removals", "leave", "hide", "replace"])
    func friends(action: String) async throws {
        try await CircleWorld.with { world in
            for user in [CircleDevice.zoe, CircleDevice.quentin] { _ = try await CircleDevice(world).join(as: user) }
            // With a clock that is off nothing is published.
            let ada = CircleDevice(world, clockError: action == "replace" ? 0 : 200)
            let seed = try await keys(of: ada).seed().reveal()
            let adas = try await ada.join(replacing: action == "replace")
            #expect(try await (adas.state().ownSeed == nil) == (action != "replace"))
            switch action {
            case "removals":
                for number: UInt32 in [65_535, 70_000] {
                    try await world.circle.remove(number)
                    await #expect(throws: NearbyError.circle(.clock(seconds: 200))) { try await adas.synchronize() }
                    world.time.advance(by: 21_600)
                }
                #expect(try await adas.state().epoch == 3)
            case "leave": _ = try await adas.leave()
            case "hide": _ = try await adas.hide(try UserNumber(65_535))
            default: break
            }
            #expect(try await keys(of: ada).existingSeed()?.reveal() == seed)
        }
    }

    /// Leaves a circle as an earlier version did: one seed for friends and members.
    private func shareSeed(of device: CircleDevice, _ circle: JoinedCircle) async throws -> RollingSeed {
        let seed = try #require(try await device.seed())
        try await device.vault.replace(VaultKey(.beaconSeed, ["recurse-center"]), with: seed.reveal())
        try await circle.records.changeState { $0.seed = nil }
        return seed
    }

    @Test("a circle of an earlier version, joined with a new identity, ends the seed that its members have keys of")
    func upgradedReplacement() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            _ = try await shareSeed(of: ada, adas)
            _ = try await ada.join(replacing: true)
            #expect(try await keys(of: ada).existingSeed() == nil)
        }
    }

    @Test("CI52: who is hidden while such a circle's replacement fails recognises nothing that is sent afterwards")
    func upgradedReplacementInVain() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            let old = try await shareSeed(of: ada, adas)
            _ = try await keys(of: ada).share(try UserNumber(759), days: 31, from: world.timestamp)
            ada.transport.intercept { line, pass in
                guard line == "PUT /rc/v1/me/member" else { return try await pass() }
                _ = try? await adas.hide(try UserNumber(65_535))
                throw TransportError.timedOut(host: "circle.example")
            }
            await #expect(throws: NearbyError.self) { _ = try await ada.join(replacing: true) }
            #expect(try await zoe.recognizes(old, zoes)?.person.value == 759, "Zoë still has the table")
            #expect(try await keys(of: ada).existingSeed() == nil)
            #expect(try await OwnScopes(in: ada.vault, community: "recurse-center", at: world.timestamp).sent.isEmpty)
        }
    }

    @Test("a circle of an earlier version publishes keys of a seed of its own next, and friends keep theirs")
    func upgrade() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            let old = try await shareSeed(of: ada, adas)
            #expect(try await zoe.recognizes(old, zoes)?.person.value == 759)
            let before = try #require(await world.circle.members[759]?.keys)
            let log = EncounterLog(in: ada.vault, community: "recurse-center")
            let met = Encounter(firstSeen: world.now - 60, lastSeen: world.now, duration: 60, trust: .circle)
            _ = try await log.note(met, with: try UserNumber(65_535), wasLogged: false)
            try await adas.wave(at: try UserNumber(65_535), text: "", log: log)
            try await adas.synchronize()
            let after = try #require(await world.circle.members[759]?.keys)
            #expect(after.terms.sequence > before.terms.sequence)
            #expect(Set(after.dayKeys.map(\.key)).isDisjoint(with: before.dayKeys.map(\.key)))
            #expect(try await keys(of: ada).existingSeed()?.reveal() == old.reveal())
            try await zoes.synchronize()
            #expect(try await zoe.recognizes(old, zoes) == nil)
            #expect(try await zoe.recognizes(ada, zoes)?.person.value == 759)
            #expect(try await zoe.recognizes(try #require(try await ada.seed()), zoes)?.person.value == 759)
        }
    }

    @Test("in a circle of an earlier version, what renews its seed ends the one that its members have keys of")
    func upgradedPause() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            let old = try await shareSeed(of: ada, adas)
            try await adas.hide(try UserNumber(65_535))
            #expect(try await keys(of: ada).existingSeed() == nil)
            #expect(try await ada.seed()?.reveal() != old.reveal())
        }
    }

    @Test("a watch is told of a circle's first seed, also when the answer to its publication is lost")
    func firstSeed() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            try await adas.records.changeState { state in
                state.seed = nil
                state.nextPublish = 0
            }
            let before = try await ChangeMark.current(in: ada.vault, community: "recurse-center")
            ada.transport.replace(with: "{}") { $0.hasPrefix("PUT ") }
            await #expect(throws: NearbyError.self) { try await adas.synchronize() }
            #expect(try await ada.seed() != nil)
            #expect(try await ChangeMark.current(in: ada.vault, community: "recurse-center") != before)
        }
    }

    @Test("keys for friends recognise no member of a circle, and keys of a circle no friend")
    func separate() async throws {
        try await CircleWorld.with { world in
            let (ada, _, zoe, zoes) = try await world.pair()
            try await addScopes(to: ada)
            let (circle, pairing) = (try #require(try await ada.seed()), try await keys(of: ada).seed())
            #expect(try await zoe.recognizes(circle, zoes)?.person.value == 759)
            #expect(try await zoe.recognizes(pairing, zoes) == nil)
            let card = try await keys(of: ada).pairingCard(
                in: CircleScope(circleAt: "https://pair.example"), number: try UserNumber(759), name: "Ada Example",
                at: world.timestamp)
            _ = try await keys(of: zoe).addPaired(card, at: world.timestamp)
            var friends = Recognition(friends: try await keys(of: zoe).friends().keys)
            let window = try RollingWindow(at: world.timestamp)
            func person(_ seed: RollingSeed) -> UserNumber? {
                friends.person(of: .rollingService(RollingUUID(seed.token(in: window))), at: world.timestamp)
            }
            #expect(person(pairing)?.value == 759 && person(circle) == nil)
        }
    }

    @Test(
        "CI54: a friend who publishes all keys for friends in the circle first does not stop the person, and is not taken for the person"
    )
    func stolenKeys() async throws {
        try await CircleWorld.with { world in
            let (ada, zoe, quentin) = (CircleDevice(world), CircleDevice(world), CircleDevice(world))
            try await addScopes(to: ada)
            let zoes = try await zoe.join(as: CircleDevice.zoe)
            let stolen = try await keys(of: ada).seed()
            // Zoë has Ada's keys as a friend, and publishes them as her own before Ada joins.
            let state = try await zoes.state()
            let published = try #require(await world.circle.members[state.number]?.keys)
            let terms = KeyRecord.Terms(
                scope: published.terms.scope, number: state.number, generation: state.generation,
                sequence: published.terms.sequence + 1, epoch: published.terms.epoch,
                firstDay: published.terms.firstDay, issued: UInt64(world.now))
            let record = try KeyRecord(
                signedBy: JoinedCircle.keys(state), terms,
                dayKeys: published.dayKeys.map { stolen.dayKey(for: RollingDay(number: $0.day)).reveal() })
            _ = try await world.circle.publish(record.bytes, ofKeys: state.number, by: nil)
            let adas = try await ada.join()
            #expect(try await adas.summary().trouble == nil)
            #expect(await world.circle.members[759]?.keys?.dayKeys.count == 4, "Ada's keys are taken")
            let quentins = try await quentin.join(as: CircleDevice.quentin)
            #expect(try await quentin.recognizes(ada, quentins)?.person.value == 759)
            #expect(try await quentin.recognizes(stolen, quentins)?.person.value == 65_535, "and never 759")
            // To Ada the keys are her own, also when another member publishes them.
            var recognition = Recognition(
                friends: try await OwnScopes(in: ada.vault, community: "recurse-center", at: world.timestamp)
                    .dayKeys(around: world.timestamp).map { (try UserNumber(759), $0) })
            for (trust, keys) in try await adas.dayKeys() { recognition.add(keys, trust: trust) }
            let window = try RollingWindow(at: world.timestamp)
            let heard = RollingUUID(stolen.token(in: window))
            #expect(recognition.person(of: .rollingService(heard), at: world.timestamp)?.value == 759)
        }
    }
}
