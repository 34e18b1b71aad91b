import Beacons
import Circles
import Foundation
import Handshake
import OAuth
import Synchronization
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

@Suite("Replacing an identity whose device is lost", .heavy)
struct CircleReplacementTests {
    @Test("a fresh proof of membership replaces it: other devices are signed out, and who knew the user must ask")
    func lostDevice() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            let identity = try #require(await world.circle.members[759]?.identity)
            let second = CircleDevice(world)
            await #expect(throws: NearbyError.self) { _ = try await second.join() }
            let seconds = try await second.join(replacing: true)
            #expect(try await seconds.members().map(\.name) == ["Zoë Ångström"])
            let replaced = try #require(await world.circle.members[759]?.identity)
            #expect(replaced.identity != identity.identity && replaced.generation == 1)
            await #expect(throws: NearbyError.circle(.signedOut)) { try await adas.synchronize() }
            try await zoes.synchronize()
            let found = try #require(try await zoe.recognizes(second, zoes))
            #expect(found.person.value == 759 && found.trust == .unverified)
            #expect(try await zoe.recognizes(ada, zoes) == nil)
            #expect(try await zoes.members().map(\.trust) == [.unverified])
        }
    }

    @Test("on the device that has the identity, it and the seed are new; whom the user hides from stays hidden")
    func sameDevice() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            try await adas.hide(try UserNumber(65_535))
            let window = try RollingWindow(at: world.timestamp)
            let before = try #require(try await adas.state().ownSeed).token(in: window)
            let again = try await ada.join(replacing: true)
            let after = try #require(try await again.state().ownSeed).token(in: window)
            #expect(after != before)
            #expect(try await again.members().isEmpty)
            #expect(await world.circle.members[759]?.hidden == [65_535])
            #expect(await world.circle.members[759]?.bearers.count == 1)
            try await zoes.synchronize()
            #expect(try await zoe.recognizes(ada, zoes) == nil)
        }
    }

    @Test(
        "CI57: a device that joins learns from the server from whom the user hides, and what members see",
        arguments: [false, true])
    func decidedBefore(isLost: Bool) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let zoe = try UserNumber(65_535)
            try await adas.hide(zoe)
            #expect(try await adas.change(.init(photo: false)) == .delivered)
            if !isLost {
                let stored = StoredPeople(in: ada.vault, community: "recurse-center")
                _ = try await stored.forgetEveryone()
                await stored.deliverFarewells(over: ada.transport, at: world.now)
            }
            let again = try await (isLost ? CircleDevice(world) : ada).join(replacing: isLost)
            #expect(try await again.refreshVisibility())
            let visibility = try await again.visibility()
            #expect(visibility.hidden == [zoe] && visibility.photo == false && visibility.isTold)
            #expect(try await again.unhide(zoe) == .delivered)
            try await again.synchronize()
            #expect(try await again.members().map(\.name) == ["Zoë Ångström"])
            #expect(try await again.visibility().hidden.isEmpty)
        }
    }

    @Test(
        "CI57: hides that a device fetches do not undo what the user decides meanwhile, and enter no other membership",
        arguments: ["unhidden", "unhidden before", "replaced"])
    func decidedMeanwhile(decision: String) async throws {
        try await CircleWorld.with { world in
            let (_, adas, _, _) = try await world.pair()
            let zoe = try UserNumber(65_535)
            try await adas.hide(zoe)
            let device = CircleDevice(world)
            let process = CircleDevice(world, vault: device.vault)
            device.transport.intercept { line, pass in
                let answer = try await pass()
                guard let other = try await JoinedCircle.all(in: process.environment).first else { return answer }
                switch (line, decision) {
                case ("GET /rc/v1/me/hidden", "unhidden"):
                    let delivery = try await other.unhide(zoe)
                    #expect(delivery == .delivered)
                case ("GET /rc/v1/me/hidden", "unhidden before"): throw TransportError.timedOut(host: "circle.example")
                case ("GET /rc/v1/me/hidden", "replaced"):
                    let bearer = try await world.circle.newBearer(for: 759).bearer
                    try await other.records.changeState { $0.bearer = bearer }
                default: break
                }
                return answer
            }
            let again = try await device.join(replacing: true)
            device.transport.intercept(with: nil)
            if decision == "unhidden before" {
                let other = try #require(try await JoinedCircle.all(in: process.environment).first)
                process.transport.fail(.timedOut(host: "circle.example"))
                #expect(try await other.unhide(zoe) == .pending)
                try await again.fetchHidden()
            }
            #expect(try await again.visibility().hidden.isEmpty)
            try await again.synchronize()
            let isHidden = decision == "replaced"
            #expect(try await again.visibility().hidden.contains(zoe) == isHidden)
            #expect(await world.circle.members[759]?.hidden.contains(65_535) == isHidden)
        }
    }

    @Test(
        "CI57: a person from whom the user hides is no friend on a device that learns of it, and the seed is a new one")
    func learnedHide() async throws {
        try await CircleWorld.with { world in
            let (_, adas, _, _) = try await world.pair()
            let zoe = try UserNumber(65_535)
            try await adas.hide(zoe)
            let device = CircleDevice(world)
            let friends = RollingKeys(in: device.vault, community: "recurse-center")
            let theirs = RollingKeys(in: MemoryVault(), community: "recurse-center")
            let card = try await theirs.pairingCard(
                in: CircleScope(circleAt: "https://pair.example"), number: zoe, name: "Zoë Ångström",
                at: world.timestamp)
            #expect(try await friends.addPaired(card, at: world.timestamp) == zoe)
            let (photo, other) = (
                VaultKey(.photo, ["recurse-center", "65535"]), VaultKey(.photo, ["recurse-center", "36"])
            )
            for key in [photo, other] { try await device.vault.replace(key, with: [1]) }
            let notices = ShownNotices(in: device.vault, community: "recurse-center")
            try await notices.note(1, of: "desktop", about: zoe)
            let earlierSeed = Mutex<Data?>(nil)
            device.transport.intercept { line, pass in
                if line == "GET /rc/v1/me/hidden" {
                    let joined = try #require(try await JoinedCircle.all(in: device.environment).first)
                    try await joined.records.changeState { $0.waved[65_535] = 1 }
                    let seed = try await joined.state().seed
                    earlierSeed.withLock { $0 = seed }
                }
                return try await pass()
            }
            let joined = try await device.join(replacing: true)
            let state = try await joined.state()
            let before = earlierSeed.withLock { $0 }
            #expect(state.hidden == [65_535] && state.waved.isEmpty)
            #expect(before != nil && state.seed != before)
            #expect(try !joined.mustPublish(state), "the keys of the new seed are published")
            #expect(try await friends.friends().keys.isEmpty)
            #expect(try await device.vault.keys(of: .photo).keys == [other])
            #expect(try await notices.people(before: .infinity).isEmpty)
        }
    }

    @Test(
        "CI57: a device takes no longer list of hidden people than a server does, and only numbers that people can have"
    )
    func listedByServer() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            try await adas.hide(try UserNumber(36))
            try await adas.records.changeState { $0.hasFetchedHidden = nil }
            let numbers = [0, 0x8000_0000, 0xFFFF_FFFF] + Array(100_001...120_100)
            let listed = numbers.map { "\($0)" }.joined(separator: ",")
            ada.transport.replace(with: #"{"hidden":[\#(listed)]}"#) { $0 == "GET /rc/v1/me/hidden" }
            try await adas.synchronize()
            let state = try await adas.state()
            #expect(state.hidden.count == MemberCircle.maximumMembers && state.hidden.contains(36))
            #expect(try await adas.visibility().hidden.count == state.hidden.count)
        }
    }

    @Test(
        "CI59: a replacement that fails late is finished by the next synchronisation, takes no decision back, and can be left",
        arguments: ["nothing", "answered", "hidden", "forgotten", "paused", "left", "left afterwards"])
    func replacedInVain(decision: String) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            func mark() async throws -> [UInt8]? {
                try await ChangeMark.current(in: ada.vault, community: "recurse-center")
            }
            let before = try await adas.state()
            let firstMark = try await mark()
            ada.transport.intercept { line, pass in
                guard line == "PUT /rc/v1/me/member" else { return try await pass() }
                switch decision {
                case "answered": _ = try await pass()
                // The server has no identity that could publish the new keys.
                case "hidden": _ = try? await adas.hide(try UserNumber(65_535))
                case "forgotten": _ = try await adas.records.forget(try UserNumber(65_535))
                case "paused": _ = try await adas.pause()
                case "left": _ = try await adas.leave()
                default: break
                }
                throw TransportError.timedOut(host: "circle.example")
            }
            await #expect(throws: NearbyError.self) { _ = try await ada.join(replacing: true) }
            ada.transport.intercept(with: nil)
            let lastMark = try await mark()
            #expect(lastMark != firstMark, "a watch that runs begins again")
            #expect(!ada.transport.sent.contains("DELETE /rc/v1/me/token"), "no other bearer is valid")
            if decision == "left afterwards" { #expect(try await adas.leave() == .delivered) }
            let stored = try await adas.records.state()
            guard !decision.hasPrefix("left") else {
                #expect(stored == nil)
                #expect(await world.circle.members[759]?.gone != nil)
                return
            }
            let after = try #require(stored)
            let hidden: Set<UInt32> = decision == "hidden" ? [65_535] : []
            #expect(after.hidden == hidden && after.isPaused == (decision == "paused"))
            #expect(!after.identity.isEmpty && after.identity != before.identity && after.seed != before.seed)
            let summary = try await adas.summary()
            #expect(!summary.mustJoinAgain && summary.keysEnd == nil)
            let scopes = try await OwnScopes(in: ada.vault, community: "recurse-center", at: world.timestamp)
            #expect(scopes.sent.isEmpty)
            try await adas.synchronize()
            let published = try #require(await world.circle.members[759])
            #expect(published.identity.map { Data($0.bytes) } == after.identity)
            #expect(published.hidden == hidden && published.hasKeys == (decision != "paused"))
        }
    }

    @Test("CI59: a membership whose sign-in has ended is there again after another member's attempt has failed")
    func anotherMemberInVain() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            let before = try await adas.state()
            world.time.advance(by: 31 * CircleWorld.day)
            ada.transport.intercept { line, pass in
                if line == "PUT /rc/v1/me/member" { throw TransportError.timedOut(host: "circle.example") }
                return try await pass()
            }
            await #expect(throws: NearbyError.self) { _ = try await ada.join(as: CircleDevice.zoe) }
            let after = try await adas.state()
            #expect(after.number == 759 && after.identity == before.identity && after.bearer == before.bearer)
            #expect(await world.circle.members[65_535]?.bearers.isEmpty == true)
        }
    }

    @Test("another member who agrees in the browser does not replace the membership on the device")
    func anotherMember() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            await #expect(throws: NearbyError.circle(.alreadyJoined)) {
                _ = try await ada.join(as: CircleDevice.zoe, replacing: true)
            }
            #expect(try await adas.state().number == 759)
            try await adas.synchronize()
            #expect(await world.circle.members[65_535]?.bearers.isEmpty == true)
        }
    }

    @Test("a bearer that ended while the content of its request arrived publishes nothing")
    func endedBearer() async throws {
        try await CircleWorld.with { world in
            let old = try await CircleDevice(world).join().state().bearer
            _ = try await world.circle.admit(CircleApplicant(number: 759, name: "Ada"), replacingIdentity: true)
            let record = try MemberRecord(
                signedBy: MemberKeys(), in: world.circle.scope, number: 759, at: UInt64(world.now))
            await #expect(throws: MemberCircle.unknownBearer) {
                _ = try await world.circle.publish(record.bytes, ofIdentity: 759, by: old)
            }
            #expect(await world.circle.members[759]?.identity == nil)
        }
    }

    private func writes(_ count: Int, _ bearer: String, in world: CircleWorld) async throws -> [Int] {
        var statuses: [Int] = []
        for _ in 0..<count {
            let answer = try await world.wire.send(
                "PUT", "/rc/v1/me/settings",
                headers: ["Authorization": "Bearer \(bearer)", "Content-Type": "application/json"],
                body: #"{"batch":true}"#)
            statuses.append(answer.status)
        }
        return statuses
    }

    @Test("CI35: what a stolen device has written costs the member's other devices nothing, and neither does a flood")
    func writesOfStolenDevice() async throws {
        try await CircleWorld.with { world in
            _ = try await world.circle.admit(CircleApplicant(number: 759, name: "Ada"))
            let stolen = try await world.circle.newBearer(for: 759).bearer
            #expect(
                try await writes(60, stolen, in: world)
                    == Array(repeating: 200, count: 10) + Array(repeating: 429, count: 50))
            let own = try await CircleDevice(world).join(replacing: true).state().bearer
            // Two writes have published the identity and the keys.
            #expect(try await writes(8, own, in: world) == Array(repeating: 200, count: 8))
        }
    }

    @Test("CI35: all devices of a member together have four times what one has")
    func writesOfManyDevices() async throws {
        try await CircleWorld.with { world in
            _ = try await world.circle.admit(CircleApplicant(number: 759, name: "Ada"))
            _ = try await world.circle.admit(CircleApplicant(number: 65_535, name: "Zoë"))
            var statuses: [Int] = []
            for _ in 0..<5 {
                statuses += try await writes(10, try await world.circle.newBearer(for: 759).bearer, in: world)
            }
            #expect(statuses == Array(repeating: 200, count: 40) + Array(repeating: 429, count: 10))
            let other = try await world.circle.newBearer(for: 65_535).bearer
            #expect(try await writes(1, other, in: world) == [200])
        }
    }

    @Test("the page says what a replacement does before the user agrees, and nothing is replaced without consent")
    func consent() async throws {
        try await CircleWorld.with { world in
            let (_, adas, _, _) = try await world.pair()
            let identity = try #require(await world.circle.members[759]?.identity)
            let second = CircleDevice(world)
            let joining = try await CircleJoining.begin(
                at: CircleWorld.address, in: second.environment, replacingIdentity: true)
            let target = String(joining.page.dropFirst("https://circle.example".count))
            let asked = try await CircleBrowser(world).approve(target, as: "ada@example.test")
            #expect(asked.text.contains("Your other devices are signed out of the circle"))
            await #expect(throws: NearbyError.circle(.notAMember)) {
                _ = try await second.join(answer: "no", replacing: true)
            }
            #expect(await world.circle.members[759]?.identity == identity)
            #expect(try await adas.synchronize() == 1)
        }
    }

    @Test("a wave that the lost device has sent ends with its identity")
    func waves() async throws {
        try await CircleWorld.with { world in
            let (ada, _, _, _) = try await world.pair()
            let records = try #require(try await CircleRecords.all(in: ada.vault, community: "recurse-center").first)
            let bearer = try #require(try await records.state()?.bearer)
            let meetings = (0..<8).map { "\"\(Base64URL.encode(Array(repeating: UInt8($0), count: 16)))\"" }
            let box = Base64URL.encode(Array(repeating: 1, count: 128))
            let sent = try await world.wire.send(
                "POST", "/rc/v1/waves",
                headers: ["Authorization": "Bearer \(bearer)", "Content-Type": "application/json"],
                body: #"{"meet":[\#(meetings.joined(separator: ","))],"box":"\#(box)"}"#)
            #expect(sent.status == 201)
            #expect(await world.circle.waves.count == 1)
            _ = try await CircleDevice(world).join(replacing: true)
            #expect(await world.circle.waves.isEmpty)
        }
    }
}
