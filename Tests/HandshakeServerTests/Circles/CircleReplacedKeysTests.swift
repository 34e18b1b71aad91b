import Beacons
import TestFixtures
import Testing

@testable import HandshakeServer
@testable import Nearby

@Suite("Waves about keys that were replaced since", .heavy)
struct CircleReplacedKeysTests {
    /// Ada has a new seed from now on, or a new identity too.
    private func renew(_ meeting: CircleMeeting, by action: String) async throws {
        switch action {
        case "hide": try await meeting.adas.hide(UserNumber(70_000))
        case "resume":
            try await meeting.adas.pause()
            try await meeting.adas.resume()
        default: try await meeting.adas.rotate()
        }
    }

    /// Zoë waves back, and both are told.
    private func expectZoesAnswerToBeTold(_ meeting: CircleMeeting) async throws {
        try await meeting.zoeWaves()
        #expect(try await meeting.zoes.collectWaves().map(\.text) == ["Coffee?"])
        #expect(try await meeting.adas.collectWaves().map(\.text) == ["Tea!"])
    }

    @Test(
        "CI44: who had waved before a new seed or identity is told the answer of a member who does not know it",
        arguments: ["hide", "resume", "rotate"])
    func wavedBefore(action: String) async throws {
        try await CircleMeeting.with { meeting, _ in
            try await meeting.adaWaves()
            try await renew(meeting, by: action)
            try await expectZoesAnswerToBeTold(meeting)
        }
    }

    @Test("CI44: who fetches new keys of a member can still answer what was sent with those before, of the same day")
    func answeredAfterwards() async throws {
        try await CircleMeeting.with { meeting, _ in
            try await meeting.adaWaves()
            try await renew(meeting, by: "hide")
            try await meeting.zoes.synchronize()
            try await expectZoesAnswerToBeTold(meeting)
        }
    }

    @Test(
        "CI44: who waves after a new seed or identity is matched with a wave at the one before, and told to both",
        arguments: ["hide", "resume", "rotate"])
    func wavedAfterwards(action: String) async throws {
        try await CircleMeeting.with { meeting, world in
            try await meeting.zoeWaves()
            try await renew(meeting, by: action)
            try await meeting.adaWaves()
            #expect(try await meeting.adas.collectWaves().map(\.text) == ["Tea!"])
            // What Zoë cannot open yet stays until her device has the new keys.
            #expect(try await meeting.zoes.collectWaves().isEmpty)
            try await meeting.zoes.synchronize()
            #expect(try await meeting.zoes.collectWaves().map(\.text) == ["Coffee?"])
            #expect(await world.circle.waves.isEmpty)
        }
    }

    @Test("CI44: the answer of a member who has paused since is told")
    func paused() async throws {
        try await CircleMeeting.with { meeting, _ in
            try await meeting.adaWaves()
            try await meeting.zoeWaves()
            try await meeting.zoes.pause()
            try await meeting.adas.synchronize()
            #expect(try await meeting.adas.dayKeys().isEmpty)
            #expect(try await meeting.adas.collectWaves().map(\.text) == ["Tea!"])
        }
    }

    @Test("CI49: replaced keys recognise no member, and are deleted when no wave about them can arrive any more")
    func forgotten() async throws {
        try await CircleMeeting.with { meeting, world in
            let old = try #require(try await meeting.ada.seed())
            // No member has keys of seeds that were never published.
            for _ in 0..<5 { try await meeting.adas.renewSeed() }
            for circle in [meeting.adas, meeting.zoes] { try await circle.synchronize() }
            try await renew(meeting, by: "hide")
            try await meeting.zoes.synchronize()
            #expect(try await meeting.zoe.recognizes(old, meeting.zoes) == nil)
            #expect(try await meeting.adas.state().formerKeys?.count == 2)
            #expect(try await meeting.zoes.records.table().rows[759]?.formerKeys?.count == 2)
            for (device, circle) in [(meeting.ada, meeting.adas), (meeting.zoe, meeting.zoes)] {
                let stored = StoredPeople(in: device.vault, community: "recurse-center")
                _ = try await stored.expire(at: world.now + CircleWorld.day)
                let isAdas = device.transport === meeting.ada.transport
                #expect(try await circle.state().formerKeys?.count == (isAdas ? 2 : nil))
                #expect(try await circle.records.table().rows[759]?.formerKeys?.count == (isAdas ? nil : 2))
                _ = try await stored.expire(at: world.now + 3 * CircleWorld.day)
                #expect(try await circle.state().formerKeys?.isEmpty ?? true)
                #expect(try await circle.records.table().rows.values.allSatisfy { $0.formerKeys == nil })
            }
        }
    }
}
