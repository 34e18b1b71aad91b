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

@Suite("Waves whose requests or answers are lost", .heavy)
struct CircleLostWaveTests {
    /// What the network does to a request about waves.
    private enum Loss: Hashable {
        case request, answer
    }

    /// A request about waves, by its place among those of a device.
    private struct Place: Hashable {
        let isAdas: Bool
        let index: Int
    }

    private static let places = [true, false].flatMap { isAdas in (0..<4).map { Place(isAdas: isAdas, index: $0) } }

    /// No loss, one loss anywhere, and two lost answers anywhere.
    private static let losses: [[Place: Loss]] = {
        var all: [[Place: Loss]] = [[:]]
        for place in places { all += [[place: .request], [place: .answer]] }
        for (index, place) in places.enumerated() {
            all += places.dropFirst(index + 1).map { [place: .answer, $0: .answer] }
        }
        return all
    }()

    /// Loses what a test says.
    private func lose(_ losses: [Place: Loss], ofAda isAdas: Bool, _ transport: Redirecting) {
        let count = Mutex(0)
        transport.intercept { line, pass in
            guard line.contains("/v1/waves") else { return try await pass() }
            let index = count.withLock { count in
                defer { count += 1 }
                return count
            }
            let loss = losses[Place(isAdas: isAdas, index: index)]
            if loss == .request { throw TransportError.unreachable(host: "circle.example", reason: "no network") }
            let answer = try await pass()
            if loss == .answer { throw TransportError.timedOut(host: "circle.example") }
            return answer
        }
    }

    /// Fetches until nothing more can come.
    private func collect(_ circle: JoinedCircle) async throws -> [String] {
        do {
            return try await circle.collectWaves().map(\.text)
        } catch NearbyError.circle(.network) {
            return []
        }
    }

    @Test("CI44: whichever requests and answers are lost, after enough fetches both are told, each once")
    func everyStep() async throws {
        try await CircleMeeting.with { meeting, world in
            for losses in Self.losses {
                // Bearers last for 30 days, and ten waves a day are taken.
                world.time.advance(by: CircleWorld.day / 2)
                for circle in [meeting.adas, meeting.zoes, meeting.adas] {
                    try await circle.synchronize()
                    try await circle.records.changeState { $0.waved = [:] }
                }
                try await meeting.meetAgain()
                lose(losses, ofAda: true, meeting.ada.transport)
                lose(losses, ofAda: false, meeting.zoe.transport)
                try await meeting.adaWaves()
                try await meeting.zoeWaves()
                var told: [[String]] = [[], []]
                for _ in 0..<5 {
                    told[0] += try await collect(meeting.adas)
                    told[1] += try await collect(meeting.zoes)
                }
                #expect(told == [["Tea!"], ["Coffee?"]], "\(losses)")
                #expect(await world.circle.waves.isEmpty, "\(losses)")
                for device in [meeting.ada, meeting.zoe] { device.transport.intercept(with: nil) }
                for circle in [meeting.adas, meeting.zoes] { #expect(try await circle.wavesWaiting().isEmpty) }
            }
        }
    }

    @Test("CI44: a wave that never arrives is matched with nothing, and neither is told", arguments: [true, false])
    func neverArrives(isAdas: Bool) async throws {
        try await CircleMeeting.with { meeting, world in
            (isAdas ? meeting.ada : meeting.zoe).transport.intercept { line, pass in
                guard line != "POST /rc/v1/waves" else { throw TransportError.timedOut(host: "circle.example") }
                return try await pass()
            }
            let (adas, zoes) = try await (meeting.adaWaves(), meeting.zoeWaves())
            #expect(adas == !isAdas && zoes == isAdas)
            for _ in 0..<3 {
                for circle in [meeting.adas, meeting.zoes] { #expect(try await circle.collectWaves().isEmpty) }
                world.time.advance(by: CircleWorld.day)
            }
            for circle in [meeting.adas, meeting.zoes] { #expect(try await circle.state().waves.isEmpty) }
            #expect(await world.circle.waves.isEmpty)
        }
    }

    @Test("CI44: an answer in the last minute of a wave's day is told to both")
    func lastMinute() async throws {
        try await CircleWorld.with { world in
            // From 00:05 to 23:50, so that the meeting is in the windows of both.
            world.time.advance(by: 85_500)
            let meeting = try await CircleMeeting(world)
            try await meeting.adaWaves()
            world.time.advance(by: CircleWorld.day - 60)
            for circle in [meeting.zoes, meeting.adas] { try await circle.synchronize() }
            try await meeting.zoeWaves()
            world.time.advance(by: 120)
            #expect(try await meeting.adas.collectWaves().map(\.text) == ["Tea!"])
            #expect(try await meeting.zoes.collectWaves().map(\.text) == ["Coffee?"])
        }
    }

    @Test("CI44: an answer that comes while the table cannot be read is told after the next synchronisation")
    func unreadableTable() async throws {
        try await CircleMeeting.with { meeting, _ in
            try await meeting.adaWaves()
            try await meeting.zoeWaves()
            try await meeting.ada.vault.replace(meeting.adas.records.key("table"), with: Array("{}".utf8))
            #expect(try await meeting.adas.collectWaves().isEmpty)
            let lost = NearbyError.circle(.pinsLost(circle: "Recurse Center"))
            await #expect(throws: lost) { try await meeting.adas.synchronize() }
            #expect(try await meeting.adas.collectWaves().map(\.text) == ["Tea!"])
        }
    }

    @Test("a wave that is sent again is the same one, and no other member's")
    func idempotent() async throws {
        try await CircleWorld.with { world in
            let circle = world.circle
            let value = { (byte: UInt8) in [UInt8](repeating: byte, count: 16) }
            let (mine, other) = ((1...8).map(value), (8...15).map(value))
            let box = [UInt8](repeating: 1, count: WaveSecret.boxLength)
            let answer = [UInt8](repeating: 2, count: WaveSecret.boxLength)
            let (id, second) = (Base64URL.encode(value(100)), Base64URL.encode(value(101)))
            for rest in [86_400.0, 85_800] {
                let answer = try await circle.wave(from: 1, id: id, meetings: mine, box: box)
                #expect(answer.id == id && answer.expiresIn == rest)
                world.time.advance(by: 600)
            }
            #expect(await circle.waves.count == 1)
            for (sender, meetings, box): (UInt32, [[UInt8]], [UInt8]) in [
                (2, mine, box), (1, other, box), (1, mine, answer),
            ] {
                let refusal = await #expect(throws: RequestRefusal.self) {
                    _ = try await circle.wave(from: sender, id: id, meetings: meetings, box: box)
                }
                #expect(refusal?.status == .conflict)
            }
            for bad in ["", "../state", id + "A", String(repeating: "!", count: 22)] {
                let refusal = await #expect(throws: RequestRefusal.self) {
                    _ = try await circle.wave(from: 3, id: bad, meetings: other, box: box)
                }
                #expect(refusal?.status == .unprocessableContent)
            }
            // The server stops between the two writes of a match.
            let waiting = try #require(await circle.waves[id])
            for isRepeated in [true, false] {
                _ = try await circle.wave(from: 2, id: second, meetings: other, box: answer)
                try await circle.store(waiting)
                if isRepeated {
                    _ = try await circle.wave(from: 2, id: second, meetings: other, box: answer)
                } else {
                    #expect(try await circle.waves(of: 2).matched.map(\.box) == [box])
                }
                #expect(try await circle.waves(of: 1).matched.map(\.box) == [answer])
            }
            // Both may ask until they say that they have it.
            for _ in 0..<2 { #expect(try await circle.waves(of: 2).matched.map(\.box) == [box]) }
            try await circle.withdraw(second, of: 2)
            #expect(try await circle.waves(of: 2).matched.isEmpty)
            #expect(try await circle.waves(of: 1).matched.count == 1)
        }
    }

    @Test("CI45: after a start the server knows the values of matches that are not fetched yet")
    func restart() async throws {
        let vault = MemoryVault()
        try await CircleWorld.with(vault: vault) { world in
            let meetings = (1...8).map { [UInt8](repeating: $0, count: 16) }
            let box = [UInt8](repeating: 1, count: WaveSecret.boxLength)
            for sender: UInt32 in [1, 2] {
                _ = try await world.circle.wave(from: sender, meetings: meetings, box: box.map { $0 + UInt8(sender) })
            }
            let next = try await MemberCircle(
                named: "Recurse Center", at: world.circle.address, in: vault, time: world.time.serverSource)
            await #expect(throws: RequestRefusal.self) {
                _ = try await next.wave(from: 3, meetings: meetings, box: box)
            }
        }
    }

    @Test("CI44: a wave that a command sends while a watch fetches is not taken for one that has expired")
    func sentMeanwhile() async throws {
        try await CircleMeeting.with { meeting, world in
            let other = CircleDevice(world, vault: meeting.ada.vault)
            let others = try #require(try await JoinedCircle.all(in: other.environment).first)
            meeting.ada.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            #expect(try await !meeting.adaWaves())
            meeting.ada.transport.fail(nil)
            let hasBegun = Mutex(false)
            meeting.ada.transport.intercept { line, pass in
                let answer = try await pass()
                let isFirst = hasBegun.withLock { hasBegun in
                    defer { hasBegun = true }
                    return !hasBegun
                }
                if isFirst { #expect(try await others.collectWaves().isEmpty) }
                return answer
            }
            #expect(try await meeting.adas.collectWaves().isEmpty)
            #expect(await world.circle.waves.count == 1)
            try await meeting.zoeWaves()
            #expect(try await meeting.adas.collectWaves().map(\.text) == ["Tea!"])
        }
    }

    @Test("a refusal of an earlier day's wave leaves what is known of a later one")
    func lateRefusal() async throws {
        try await CircleWorld.with { world in
            // From 00:05 to 23:50.
            world.time.advance(by: 85_500)
            let meeting = try await CircleMeeting(world)
            meeting.ada.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            try await meeting.adaWaves()
            let first = try #require(try await meeting.adas.state().waves.first)
            world.time.advance(by: 1_800)
            try await meeting.meetAgain()
            try await meeting.adaWaves("Again?")
            let day = try #require(try await meeting.adas.state().waved[65_535])
            #expect(day == first.day + 1)
            // Two others have the values already, so that the server refuses the first wave.
            let values = try #require(first.content).meetings.map { Array($0) }
            for sender: UInt32 in [1, 2] {
                _ = try await world.circle.wave(
                    from: sender, meetings: values, box: [UInt8](repeating: UInt8(sender), count: WaveSecret.boxLength))
            }
            meeting.ada.transport.fail(nil)
            _ = try await meeting.adas.collectWaves()
            let state = try await meeting.adas.state()
            #expect(state.waves.map(\.day) == [day] && state.waved[65_535] == day)
        }
    }

    /// Something happens the first time that an encounter is read.
    private struct InterruptedVault: Vault {
        let base: any Vault
        let event: @Sendable () async throws -> Void

        func record(_ key: VaultKey) async throws -> [UInt8]? {
            if key.kind == .encounters { try await event() }
            return try await base.record(key)
        }

        func keys(of kind: VaultKey.Kind) async throws -> VaultListing { try await base.keys(of: kind) }

        func update<Result: Sendable>(
            _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
        ) async throws -> Result {
            try await base.update(key, body)
        }
    }

    @Test(
        "CI49: a person who is forgotten or hidden while a wave is made gets none, and nothing of it stays",
        arguments: [true, false])
    func forgottenMeanwhile(isHidden: Bool) async throws {
        try await CircleMeeting.with { meeting, world in
            let vault = InterruptedVault(base: meeting.ada.vault) { [meeting] in
                if isHidden {
                    try await meeting.adas.hide(CircleMeeting.zoesNumber)
                } else {
                    _ = try await meeting.adas.records.forget(CircleMeeting.zoesNumber)
                }
            }
            let log = EncounterLog(in: vault, community: "recurse-center")
            await #expect {
                try await meeting.adas.wave(at: CircleMeeting.zoesNumber, text: "Coffee?", log: log)
            } throws: {
                "\($0)".contains("no member")
            }
            let state = try await meeting.adas.state()
            #expect(state.waves.isEmpty)
            #expect(await world.circle.waves.isEmpty)
        }
    }

    @Test("CI49: a wave at a person who is forgotten is withdrawn from the server")
    func withdrawn() async throws {
        try await CircleMeeting.with { meeting, world in
            try await meeting.adaWaves()
            _ = try await meeting.adas.records.forget(CircleMeeting.zoesNumber)
            #expect(await world.circle.waves.count == 1)
            #expect(try await meeting.adas.collectWaves().isEmpty)
            #expect(await world.circle.waves.isEmpty)
            #expect(try await meeting.adas.wavesWaiting().isEmpty)
        }
    }

    @Test(
        "CI31: two who are hidden from each other are not matched, and what the server answers does not tell",
        arguments: [true, false])
    func hidden(isFirst: Bool) async throws {
        try await CircleMeeting.with { meeting, world in
            try await world.circle.hide(isFirst ? 65_535 : 759, from: isFirst ? 759 : 65_535, true)
            #expect(try await meeting.adaWaves())
            #expect(try await meeting.zoeWaves())
            for circle in [meeting.adas, meeting.zoes] {
                #expect(try await circle.collectWaves().isEmpty)
                #expect(try await circle.wavesWaiting().count == 1)
            }
        }
    }

    @Test("CI45: two processes that fetch at the same time tell an answer once, and an old answer is never told again")
    func twoProcesses() async throws {
        try await CircleMeeting.with { meeting, world in
            try await meeting.adaWaves()
            try await meeting.zoeWaves()
            let other = CircleDevice(world, vault: meeting.ada.vault)
            let others = try #require(try await JoinedCircle.all(in: other.environment).first)
            let both = Mutex<[MutualWave]>([])
            let hasBegun = Mutex(false)
            // The second process fetches while the first one has its answer, and does not know it yet.
            meeting.ada.transport.intercept { line, pass in
                let answer = try await pass()
                let isFirst = hasBegun.withLock { hasBegun in
                    defer { hasBegun = true }
                    return !hasBegun
                }
                if isFirst {
                    let told = try await others.collectWaves()
                    both.withLock { $0 += told }
                }
                return answer
            }
            let told = try await meeting.adas.collectWaves()
            #expect((both.withLock(\.self) + told).map(\.text) == ["Tea!"])
            meeting.ada.transport.intercept(with: nil)
            // The server answers the next wave with the old box.
            let old = try #require(await world.circle.waves.values.first { $0.sender == 65_535 }?.box)
            world.time.advance(by: CircleWorld.day + 3_600)
            for circle in [meeting.adas, meeting.zoes, meeting.adas] { try await circle.synchronize() }
            try await meeting.meetAgain()
            try await meeting.adaWaves("Again?")
            var wave = try #require(await world.circle.waves.values.first { $0.sender == 759 })
            wave.matched = (wave.meetings[0], old)
            try await world.circle.store(wave)
            #expect(try await meeting.adas.collectWaves().isEmpty)
        }
    }
}
