import Beacons
import Circles
import Foundation
import Handshake
import Nearby
import OAuth
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

@Suite("Keys that a member publishes", .heavy)
struct CirclePublishingTests {
    @Test(
        "CI23: with a clock that is ten minutes off nothing is published, the reason is told, and others are recognised"
    )
    func clock() async throws {
        try await CircleWorld.with { world in
            let (ada, _, _, _) = try await world.pair()
            let records = try #require(try await CircleRecords.all(in: ada.vault, community: "recurse-center").first)
            let late = CircleEnvironment(
                vault: ada.vault, community: "recurse-center", transport: ada.transport,
                time: TimeSource(now: { world.now + 3 * CircleWorld.day + 600 }, clock: HurriedClock()),
                random: { $0.lowerBound })
            world.time.advance(by: 3 * CircleWorld.day)
            let before = ada.transport.sent.count
            await #expect(throws: NearbyError.circle(.clock(seconds: 259_800))) {
                try await JoinedCircle(records, late).synchronize()
            }
            #expect(!ada.transport.sent.dropFirst(before).contains { $0.hasPrefix("PUT") })
            #expect(try await records.state()?.trouble?.contains("ahead of") == true)
        }
    }

    @Test(
        "CI23: with a clock that is an hour or a day off nothing is published and nothing is lost: once it is right, others are recognised",
        arguments: [-86_400.0, -3_600, 3_600, 86_400])
    func wrongClock(error: Double) async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            let records = adas.records
            let off = CircleEnvironment(
                vault: ada.vault, community: "recurse-center", transport: ada.transport,
                time: TimeSource(now: { world.now + error }, clock: HurriedClock()), random: { $0.lowerBound })
            // What Zoë publishes meanwhile looks as if it were from the future, or old.
            try await zoes.hide(UserNumber(70_000))
            world.time.advance(by: 60)
            let before = ada.transport.sent.count
            for _ in 0..<2 {
                await #expect(throws: NearbyError.circle(.clock(seconds: Int64(error)))) {
                    try await JoinedCircle(records, off).synchronize()
                }
            }
            #expect(!ada.transport.sent.dropFirst(before).contains { $0.hasPrefix("PUT") })
            #expect(try await records.state()?.nextSync == 0, "it is tried again soon, since a clock may be put right")
            let trouble = try #require(try await adas.summary().trouble)
            #expect(trouble.contains(error < 0 ? "behind the circle's" : "ahead of the circle's"))
            // A command that began with that clock has deleted what looked past.
            _ = try await StoredPeople(in: ada.vault, community: "recurse-center").expire(
                at: world.now + (error > 0 ? 5 * error : error))
            try await adas.synchronize()
            #expect(try await adas.summary().trouble == nil)
            #expect(try await ada.recognizes(zoe, adas)?.person.value == 65_535)
            #expect(try await zoe.recognizes(ada, zoes)?.person.value == 759)
            // Everything is fetched once.
            let fetches = { ada.transport.sent.count { $0 == "GET /rc/v1/keys?limit=1000" } }
            let whole = fetches()
            try await adas.synchronize()
            #expect(fetches() == whole)
        }
    }

    @Test("a circle that cannot be read is reported and tried again: it ends nothing else")
    func unreadable() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            _ = try await adas.leave()
            let (reports, report) = AsyncStream<NearbyError?>.makeStream()
            let keeping = Task {
                defer { report.finish() }
                try await adas.keepSynchronized { report.yield($0) }
            }
            var all = reports.makeAsyncIterator()
            for _ in 0..<2 { #expect(await all.next() == .circle(.notJoined)) }
            keeping.cancel()
            await #expect(throws: CancellationError.self) { try await keeping.value }
        }
    }

    @Test(
        "a server's time that no clock has is no answer of a circle",
        arguments: ["-9223372036854775808", "9223372036854775807", "-1"])
    func impossibleTime(time: String) async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            world.time.advance(by: 4 * CircleWorld.day)
            ada.transport.replace(with: #"{"name":"Circle","epoch":1,"time":\#(time),"versions":[1]}"#) {
                $0 == "GET /rc/v1"
            }
            await #expect(throws: NearbyError.circle(.malformed("its description"))) { try await adas.synchronize() }
        }
    }

    @Test(
        "keys are published for four days, again in the first half of the last one, and never more than three days ahead"
    )
    func publishing() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world, draw: { $0.upperBound })
            let adas = try await ada.join()
            let records = try #require(try await CircleRecords.all(in: ada.vault, community: "recurse-center").first)
            for _ in 0..<40 {
                let state = try #require(try await records.state())
                let today = UInt32(world.now / CircleWorld.day)
                let keys = try #require(await world.circle.members[759]?.keys)
                #expect(keys.dayKeys.contains { $0.day == today }, "today's key is published")
                #expect(keys.dayKeys.allSatisfy { $0.day <= today + 3 })
                #expect(state.nextSync - world.now <= 21_600)
                world.time.advance(by: 21_600)
                try await adas.synchronize()
            }
            let published = ada.transport.sent.count { $0.hasPrefix("PUT /rc/v1/me/keys") }
            #expect((3...5).contains(published), "\(published) in ten days")
        }
    }

    @Test(
        "a seed that was renewed for another reason is published with the next synchronisation, and not before it is due"
    )
    func renewedSeed() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            let puts = { ada.transport.sent.count { $0 == "PUT /rc/v1/me/keys" } }
            try await adas.synchronize()
            let before = puts()
            try await adas.renewSeed()
            #expect(try await zoe.recognizes(ada, zoes) == nil)
            try await adas.synchronize()
            try await zoes.synchronize()
            #expect(try await zoe.recognizes(ada, zoes) != nil)
            #expect(puts() == before + 1)
        }
    }

    private func sent(by device: CircleDevice) async throws -> [[UInt8]] {
        let time = device.world.timestamp
        return try await OwnScopes(in: device.vault, community: "recurse-center", at: time).sent.map { $0.reveal() }
    }

    @Test("CI59: when a sign-in has ended, and its keys too, nothing is sent until the user signs in again")
    func endedSignIn() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            let seed = try #require(try await ada.seed()).reveal()
            #expect(try await sent(by: ada) == [seed])
            let before = try await adas.summary()
            #expect(!before.isSilent && !before.mustJoinAgain)
            world.time.advance(by: 35 * CircleWorld.day)
            await #expect(throws: NearbyError.circle(.signedOut)) { try await adas.synchronize() }
            #expect(try await sent(by: ada).isEmpty)
            let ended = try await adas.summary()
            #expect(ended.isSilent && ended.mustJoinAgain && ended.keysEnd == 1_767_225_600 + 4 * CircleWorld.day)
            let again = try await ada.join()
            let after = try await again.summary()
            #expect(!after.isSilent && !after.mustJoinAgain)
            let present = try #require(try await ada.seed()).reveal()
            #expect(try await sent(by: ada) == [present])
        }
    }

    @Test("CI59: a watch is told of keys that are published after the last ones had ended, and of no others")
    func publishedAgain() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            func mark() async throws -> [UInt8]? {
                try await ChangeMark.current(in: ada.vault, community: "recurse-center")
            }
            let first = try await mark()
            world.time.advance(by: 3.5 * CircleWorld.day)
            try await adas.synchronize()
            let second = try await mark()
            #expect(second == first)
            ada.transport.fail(.timedOut(host: "circle.example"))
            world.time.advance(by: 5 * CircleWorld.day)
            await #expect(throws: NearbyError.self) { try await adas.synchronize() }
            #expect(try await sent(by: ada).isEmpty)
            ada.transport.fail(nil)
            try await adas.synchronize()
            let third = try await mark()
            #expect(third != second)
            #expect(try await sent(by: ada).count == 1)
        }
    }

    @Test("CI59: a new seed is not sent before its keys are published, also where those of the old one arrive later")
    func unpublishedSeed() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            #expect(try await sent(by: ada).count == 1)
            ada.transport.fail(.timedOut(host: "circle.example"))
            let hiding = try await adas.hide(try UserNumber(65_535))
            #expect(hiding.delivery == .pending)
            let hidden = try await adas.summary()
            #expect(hidden.isSilent && hidden.keysEnd == nil)
            #expect(try await sent(by: ada).isEmpty)
            ada.transport.fail(nil)
            // The seed is renewed again while its keys are on their way.
            ada.transport.intercept { line, pass in
                if line == "PUT /rc/v1/me/keys" { try await adas.renewSeed() }
                return try await pass()
            }
            try await adas.synchronize()
            #expect(try await sent(by: ada).isEmpty)
            ada.transport.intercept(with: nil)
            try await adas.synchronize()
            #expect(try await sent(by: ada).count == 1)
        }
    }

    @Test("another member's keys are refused: with them, their owner would no longer be recognised")
    func copiedKeys() async throws {
        try await CircleWorld.with { world in
            let (ada, _, zoe, zoes) = try await world.pair()
            let records = try #require(try await CircleRecords.all(in: zoe.vault, community: "recurse-center").first)
            let state = try #require(try await records.state())
            let copied = try #require(await world.circle.members[759]?.keys)
            let own = try #require(await world.circle.members[state.number]?.keys)
            let restarted = try await MemberCircle(
                named: "Recurse Center", at: world.circle.address, in: world.vault, time: world.time.serverSource)
            for (keys, circle, isAccepted) in [
                (copied, world.circle, false), (copied, restarted, false), (own, world.circle, true),
            ] {
                let terms = KeyRecord.Terms(
                    scope: own.terms.scope, number: state.number, generation: state.generation,
                    sequence: own.terms.sequence + 1, epoch: own.terms.epoch, firstDay: own.terms.firstDay,
                    issued: UInt64(world.now))
                let record = try KeyRecord(
                    signedBy: JoinedCircle.keys(state), terms, dayKeys: keys.dayKeys.map(\.key))
                do {
                    _ = try await circle.publish(record.bytes, ofKeys: state.number, by: nil)
                    #expect(isAccepted)
                } catch let error as RequestRefusal {
                    #expect(!isAccepted && error.status == .unprocessableContent)
                    #expect(error.message.contains("Another member"))
                }
            }
            try await zoes.synchronize()
            #expect(try await zoe.recognizes(ada, zoes)?.person.value == 759)
        }
    }
}
