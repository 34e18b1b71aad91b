import Beacons
import Circles
import Foundation
import Handshake
import OAuth
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

@Suite("Waves through a circle's server", .heavy)
struct CircleWaveTests {
    @Test("CI44: when both have waved, both are told once, and the server holds nothing more")
    func mutual() async throws {
        let vault = MemoryVault()
        try await CircleWorld.with(vault: vault) { world in
            let before = try await vault.keys(of: .circle).keys.count
            let meeting = try await CircleMeeting(world)
            try await meeting.adaWaves()
            #expect(try await meeting.adas.wavesWaiting() == [CircleMeeting.zoesNumber])
            #expect(try await meeting.adas.collectWaves().isEmpty)
            try await meeting.zoeWaves()
            #expect(try await meeting.zoes.collectWaves().map(\.text) == ["Coffee?"])
            let told = try await meeting.adas.collectWaves()
            #expect(told.map(\.text) == ["Tea!"] && told.map(\.name) == ["Zoë Ångström"])
            #expect(told.map(\.person) == [CircleMeeting.zoesNumber] && told.map(\.time) == [world.now.rounded(.down)])
            for circle in [meeting.adas, meeting.zoes] {
                #expect(try await circle.collectWaves().isEmpty)
                #expect(try await circle.wavesWaiting().isEmpty)
            }
            #expect(await world.circle.waves.isEmpty)
            // What is stored are two members.
            #expect(try await vault.keys(of: .circle).keys.count == before + 2)
        }
    }

    @Test("CI43: who is waved at and does not wave sees nothing, and the wave expires after a day")
    func unanswered() async throws {
        try await CircleMeeting.with { meeting, world in
            try await meeting.adaWaves()
            let requests = meeting.zoe.transport.sent.count
            for _ in 0..<8 {
                world.time.advance(by: 10_800)
                try await meeting.zoes.synchronize()
                #expect(try await meeting.zoes.collectWaves().isEmpty)
            }
            // Nothing in what Zoë is sent is of waves: her device does not even ask.
            #expect(meeting.zoe.transport.sent.dropFirst(requests).allSatisfy { !$0.contains("waves") })
            world.time.advance(by: 1)
            try await meeting.adas.synchronize()
            #expect(try await meeting.adas.collectWaves().isEmpty)
            #expect(try await meeting.adas.wavesWaiting().isEmpty)
            #expect(await world.circle.waves.isEmpty)
        }
    }

    @Test("the one who met across the border of a window is found, and who did not meet is not")
    func windows() async throws {
        try await CircleWorld.with { world in
            // 00:05 to 00:16: the two log different windows when one hears later.
            let meeting = try await CircleMeeting(world)
            world.time.advance(by: 660)
            let later = Encounter(firstSeen: world.now - 5, lastSeen: world.now, duration: 5, trust: .circle)
            try await meeting.adaWaves()
            try await meeting.log(of: meeting.zoe).forget(CircleMeeting.adasNumber)
            _ = try await meeting.log(of: meeting.zoe).note(later, with: CircleMeeting.adasNumber, wasLogged: false)
            try await meeting.zoeWaves()
            #expect(try await meeting.adas.collectWaves().map(\.text) == ["Tea!"])
        }
        try await CircleMeeting.with { meeting, world in
            try await meeting.adaWaves()
            // Zoë claims a meeting four hours later.
            world.time.advance(by: 14_400)
            let other = Encounter(firstSeen: world.now - 60, lastSeen: world.now, duration: 60, trust: .circle)
            try await meeting.log(of: meeting.zoe).forget(CircleMeeting.adasNumber)
            _ = try await meeting.log(of: meeting.zoe).note(other, with: CircleMeeting.adasNumber, wasLogged: false)
            try await meeting.zoeWaves()
            #expect(try await meeting.adas.collectWaves().isEmpty)
            #expect(try await meeting.zoes.collectWaves().isEmpty)
        }
    }

    @Test("CI44: two who met around midnight are told, though the keys of the day before were replaced meanwhile")
    func midnight() async throws {
        try await CircleWorld.with { world in
            // From 00:05 to 23:50.
            world.time.advance(by: 85_500)
            let meeting = try await CircleMeeting(world)
            world.time.advance(by: 300)
            // 23:55, and Ada has not heard more yet.
            try await meeting.adaWaves()
            world.time.advance(by: 900)
            // 00:10. Both have published keys that begin today, and Zoë's device has heard Ada on both sides of midnight.
            for circle in [meeting.adas, meeting.zoes] {
                try await circle.records.changeState { $0.publishedUntil = 0 }
            }
            for circle in [meeting.adas, meeting.zoes, meeting.adas] { try await circle.synchronize() }
            try await meeting.log(of: meeting.zoe).forget(CircleMeeting.adasNumber)
            let later = Encounter(firstSeen: world.now - 1_200, lastSeen: world.now, duration: 1_200, trust: .circle)
            _ = try await meeting.log(of: meeting.zoe).note(later, with: CircleMeeting.adasNumber, wasLogged: false)
            try await meeting.zoeWaves()
            #expect(try await meeting.adas.collectWaves().map(\.text) == ["Tea!"])
            #expect(try await meeting.zoes.collectWaves().map(\.text) == ["Coffee?"])
            // What was answered is not sent again, and the rest of the meeting is.
            world.time.advance(by: 900)
            let whole = Encounter(firstSeen: world.now - 2_100, lastSeen: world.now, duration: 2_100, trust: .circle)
            try await meeting.log(of: meeting.ada).forget(CircleMeeting.zoesNumber)
            _ = try await meeting.log(of: meeting.ada).note(whole, with: CircleMeeting.zoesNumber, wasLogged: false)
            try await meeting.adaWaves("Again?")
        }
    }

    @Test("who was waved at is forgotten after the next day, and when the person is")
    func wavedDays() async throws {
        try await CircleMeeting.with { meeting, world in
            let records = try #require(
                try await CircleRecords.all(in: meeting.ada.vault, community: "recurse-center").first)
            try await meeting.adaWaves()
            world.time.advance(by: CircleWorld.day)
            _ = try await meeting.adas.collectWaves()
            #expect(try await records.state()?.waved.count == 1)
            world.time.advance(by: CircleWorld.day)
            _ = try await meeting.adas.collectWaves()
            #expect(try await records.state()?.waved.isEmpty == true)
            try await records.changeState { $0.waved[65_535] = 1 }
            _ = try await StoredPeople(in: meeting.ada.vault, community: "recurse-center").expire(at: world.now)
            #expect(try await records.state()?.waved.isEmpty == true)
            // Of a person who has no row.
            try await records.changeState { $0.waved[36] = 30_000 }
            _ = try await StoredPeople(in: meeting.ada.vault, community: "recurse-center").forget(UserNumber(36))
            #expect(try await records.state()?.waved.isEmpty == true)
        }
    }

    @Test("waving needs a meeting and a text that fits, and is limited to once a person and day")
    func conditions() async throws {
        try await CircleMeeting.with { meeting, _ in
            func problem(_ body: () async throws -> Void) async -> String? {
                do {
                    try await body()
                    return nil
                } catch NearbyError.circle(.wave(let problem)) {
                    return problem
                } catch {
                    return "\(error)"
                }
            }
            #expect(await problem { try await meeting.adaWaves("a\nb") }?.contains("at most 80 bytes") == true)
            #expect(
                await problem { try await meeting.adaWaves(String(repeating: "x", count: 81)) }?
                    .contains("at most 80 bytes") == true)
            #expect(await problem { try await meeting.adaWaves() } == nil)
            #expect(await problem { try await meeting.adaWaves() } == "you have waved at Zoë Ångström today")
            #expect(
                await problem {
                    try await meeting.adas.wave(at: try UserNumber(36), text: "", log: meeting.log(of: meeting.ada))
                } == "number 36 is no member of Recurse Center")
            try await meeting.log(of: meeting.zoe).forgetEveryone()
            #expect(
                await problem { try await meeting.zoeWaves() }
                    == "you have not met Ada Example in the last hours")
        }
    }

    @Test("who waves at a forgotten member is told so, and can wave once that is undone and the two meet")
    func forgottenMember() async throws {
        try await CircleMeeting.with { meeting, _ in
            let zoe = CircleMeeting.zoesNumber
            _ = try await StoredPeople(in: meeting.ada.vault, community: "recurse-center").forget(zoe)
            let forgotten = NearbyError.circle(.forgottenMember(zoe, circle: "Recurse Center"))
            await #expect(throws: forgotten) { try await meeting.adaWaves() }
            try await meeting.adas.unhide(zoe)
            try await meeting.adas.synchronize()
            try await meeting.meetAgain()
            let isTold = try await meeting.adaWaves()
            #expect(isTold)
        }
    }

    @Test(
        "CI44: a member of whom only a number was heard that any device can send was not met, and cannot be waved at",
        arguments: [nil, .unverified, .circle, .paired] as [Trust?])
    func unverifiedMeeting(trust: Trust?) async throws {
        try await CircleMeeting.with { meeting, world in
            let log = meeting.log(of: meeting.ada)
            try await log.forgetEveryone()
            let heard = Encounter(firstSeen: world.now - 60, lastSeen: world.now, duration: 60, trust: trust)
            _ = try await log.note(heard, with: CircleMeeting.zoesNumber, wasLogged: false)
            do {
                try await meeting.adaWaves()
                #expect(trust ?? .unverified >= .circle)
            } catch NearbyError.circle(.wave(let problem)) {
                #expect(trust ?? .unverified == .unverified)
                #expect(
                    problem.hasPrefix("you have not met Zoë Ångström in the last hours: what was heard is unverified"))
            }
            #expect(await world.circle.waves.isEmpty == (trust ?? .unverified == .unverified))
        }
    }

    @Test("CI45: a wave that was answered cannot be sent again, and a repetition by the server reveals nothing")
    func repeated() async throws {
        try await CircleMeeting.with { meeting, world in
            try await meeting.adaWaves()
            let wave = try #require(await world.circle.waves.values.first)
            try await meeting.zoeWaves()
            #expect(try await meeting.adas.collectWaves().count == 1)
            #expect(try await meeting.zoes.collectWaves().count == 1)
            // The box again, from the member or from an attacker who has stolen it.
            for sender: UInt32 in [759, 65_535, 36] {
                await #expect(throws: RequestRefusal.self) {
                    _ = try await world.circle.wave(from: sender, meetings: wave.meetings, box: wave.box)
                }
            }
            // A server that repeats a matched wave: the device has forgotten its identifier.
            try await world.circle.store(
                CircleWave(
                    id: wave.id, sender: 759, meetings: wave.meetings, box: wave.box, expires: world.now + 100,
                    matched: (wave.meetings[0], wave.box)))
            #expect(try await meeting.adas.collectWaves().isEmpty)
        }
    }

    @Test("a box that the other member did not seal is dropped")
    func forgedBox() async throws {
        try await CircleMeeting.with { meeting, world in
            try await meeting.adaWaves()
            var wave = try #require(await world.circle.waves.values.first)
            // A server that answers in Zoë's name, with Ada's own box and with an invented one.
            for box in [wave.box, [UInt8](repeating: 7, count: wave.box.count)] {
                wave.matched = (wave.meetings[0], box)
                try await world.circle.store(wave)
                #expect(try await meeting.adas.collectWaves().isEmpty)
            }
        }
    }

    @Test("CI45: the eleventh wave of a day is refused with 429")
    func rate() async throws {
        try await CircleWorld.with { world in
            let device = CircleDevice(world)
            _ = try await device.join()
            let bearer = try await world.circle.newBearer(for: 759).bearer
            var statuses: [Int] = []
            for round in 0..<11 {
                let meetings = (0..<8).map { Base64URL.encode([UInt8](repeating: UInt8(round * 8 + $0), count: 16)) }
                let body = JSONValue.object([
                    "meet": .array(meetings.map { .string($0) }),
                    "box": .string(Base64URL.encode([UInt8](repeating: 1, count: 128))),
                ]).json
                let answer = try await world.wire.send(
                    "POST", "/rc/v1/waves",
                    headers: ["Authorization": "Bearer \(bearer)", "Content-Type": "application/json"], body: body)
                statuses.append(answer.status)
                if answer.status == 429 { #expect(answer["Retry-After"] == "8640") }
            }
            #expect(statuses == Array(repeating: 201, count: 10) + [429])
        }
    }

    @Test("waves of another shape are refused, and one that is withdrawn is never matched")
    func shapes() async throws {
        try await CircleMeeting.with { meeting, world in
            let value = { (byte: UInt8) in [UInt8](repeating: byte, count: 16) }
            let values = (1...8).map { value($0) }
            let box = [UInt8](repeating: 1, count: WaveSecret.boxLength)
            for (meetings, box) in [
                ([], box), (Array(values.dropLast()), box), (values + [value(9)], box),
                (Array(repeating: value(1), count: 8), box), (values.map { Array($0.dropLast()) }, box),
                (values, Array(box.dropLast())),
            ] {
                await #expect(throws: RequestRefusal.self) {
                    _ = try await world.circle.wave(from: 759, meetings: meetings, box: box)
                }
            }
            try await meeting.adaWaves()
            let id = try #require(await world.circle.waves.keys.first)
            try await world.circle.withdraw(id, of: 65_535)
            #expect(await world.circle.waves.count == 1, "another member's wave stays")
            try await world.circle.withdraw(id, of: 759)
            try await meeting.zoeWaves()
            #expect(try await meeting.zoes.collectWaves().isEmpty)
        }
    }
}
