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

@Suite("Epochs of a circle, and how often they are the reason for something", .heavy)
struct CircleEpochTests {
    /// Lets a server say another epoch in its description than it has.
    private static func say(_ epoch: @escaping @Sendable () -> UInt32, to device: CircleDevice, keys: Int? = nil) {
        device.transport.intercept { line, pass in
            var response = try await pass()
            if line == "GET /rc/v1" {
                let text = String(decoding: response.content, as: UTF8.self)
                response.content = Array(text.replacing(/"epoch":[0-9]+/, with: "\"epoch\":\(epoch())").utf8)
            }
            if let keys, line == "PUT /rc/v1/me/keys" { response.head.status = .init(code: keys) }
            return response
        }
    }

    @Test("CI33: a server that says another epoch each time causes one new seed an hour, and none is left out")
    func rising() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let epochs = Epochs()
            Self.say({ epochs.next() }, to: ada, keys: 500)
            var seeds = [try await ada.seed()?.reveal()]
            var marks: Set<[UInt8]?> = []
            let begin = world.now
            for _ in 0..<5 {
                await #expect(throws: NearbyError.self) { try await adas.synchronize() }
                marks.insert(try await ChangeMark.current(in: ada.vault, community: "recurse-center"))
                let seed = try await ada.seed()?.reveal()
                if seed != seeds.last { seeds.append(seed) }
                world.time.advance(by: 10)
            }
            #expect(seeds.count == 2, "the removal that may be behind the first one counts")
            #expect(marks.count == 1, "a watch restarts once")
            #expect(try await adas.state().nextSync == begin + 3_600, "asked again as soon as one may come")
            world.time.advance(by: 3_600)
            _ = try? await adas.synchronize()
            #expect(try await ada.seed()?.reveal() != seeds.last)
        }
    }

    @Test("CI33: after an epoch that no circle reaches, or a server that was restored, a removal renews the seed")
    func lower() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, zoe, zoes) = try await world.pair()
            Self.say({ .max }, to: ada)
            _ = try? await adas.synchronize()
            #expect(try await adas.state().epoch == .max)
            ada.transport.intercept(with: nil)
            world.time.advance(by: 3_600)
            try await adas.synchronize()
            try await zoes.synchronize()
            #expect(try await zoe.recognizes(ada, zoes)?.person.value == 759)
            world.time.advance(by: 3_600)
            try await world.circle.remove(65_535)
            try await adas.synchronize()
            #expect(try await adas.state().epoch == 2)
            #expect(try await zoe.recognizes(ada, zoes) == nil)
        }
    }

    @Test("CI33: of two members who are removed one after the other neither recognises anyone after twelve hours")
    func second() async throws {
        try await CircleWorld.with { world in
            let (ada, adas, _, _) = try await world.pair()
            let quentin = CircleDevice(world)
            let quentins = try await quentin.join(as: CircleDevice.quentin)
            try await world.circle.remove(65_535)
            try await adas.synchronize()
            try await quentins.synchronize()
            #expect(try await quentin.recognizes(ada, quentins)?.person.value == 759)
            world.time.advance(by: 3_600)
            try await world.circle.remove(70_000)
            try await adas.synchronize()
            #expect(try await adas.state().epoch == 2, "keys of two epochs ago are refused, so it does not rise twice")
            // Also a server that starts again meanwhile knows of it.
            let address = try PublicAddress(CircleWorld.address)
            let started = try await MemberCircle(
                named: "Recurse Center", at: address, in: world.vault, time: world.time.serverSource)
            #expect(await started.state.isEpochDue)
            world.time.advance(by: 18_000)
            // The device's own first request hears of it.
            try await adas.synchronize()
            #expect(try await adas.state().epoch == 3)
            #expect(try await quentin.recognizes(ada, quentins) == nil)
            world.time.advance(by: 21_600)
            try await adas.synchronize()
            #expect(try await adas.state().epoch == 3, "it is made up once")
        }
    }

    @Test("CI33: a removal that a failure cuts off, wherever, is whole when it is repeated", arguments: 0..<5)
    func cut(after updates: Int) async throws {
        let (vault, time) = (FailingVault(), SharedTime())
        let address = try PublicAddress(CircleWorld.address)
        func open() async throws -> MemberCircle {
            try await MemberCircle(named: "Recurse Center", at: address, in: vault, time: time.serverSource)
        }
        let circle = try await open()
        for number: UInt32 in [759, 65_535] {
            _ = try await circle.admit(CircleApplicant(number: number, name: "Member"), replacingIdentity: false)
        }
        vault.fail(after: updates)
        try? await circle.remove(65_535)
        vault.recover()
        // The process has ended in between.
        let again = try await open()
        try await again.remove(65_535)
        #expect(await again.count == 1)
        #expect(await again.state.epoch == 2)
    }

    /// Why a watch does not finish a synchronisation.
    enum Failure: CaseIterable, Sendable {
        case refused, interrupted, unreachable
        /// How long a watch that restarts waits, in seconds.
        var pause: Double { self == .refused ? 900 : 60 }
    }

    @Test(
        "CI47: whatever restarts a watch, a server that fails is not asked again within a minute, so that alerts are shown",
        arguments: Failure.allCases)
    func restarts(failure: Failure) async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            let clock = EndingClock()
            let environment = CircleEnvironment(
                vault: ada.vault, community: "recurse-center", transport: ada.transport,
                time: TimeSource(now: { world.now }, clock: clock), random: { $0.lowerBound })
            let watch = JoinedCircle(adas.records, environment)
            /// Until it sleeps first.
            func run() async -> Int {
                let before = ada.transport.sent.count
                await #expect(throws: CancellationError.self) { try await watch.keepSynchronized { _ in } }
                return ada.transport.sent.count - before
            }
            try await adas.records.changeState { $0.nextPublish = 0 }
            switch failure {
            case .refused: CircleEpochTests.say({ 1 }, to: ada, keys: 500)
            case .interrupted:
                ada.transport.intercept { line, pass in
                    if line == "PUT /rc/v1/me/keys" { throw CancellationError() }
                    return try await pass()
                }
            case .unreachable: ada.transport.fail(.unreachable(host: "circle.example", reason: "no network"))
            }
            #expect(await run() > 0)
            for rest in [failure.pause, failure.pause - 20] {
                for _ in 0..<3 { #expect(await run() == 0) }
                #expect(clock.pause == .seconds(rest))
                world.time.advance(by: 20)
            }
            ada.transport.intercept(with: nil)
            ada.transport.fail(nil)
            world.time.advance(by: failure.pause)
            #expect(await run() > 0)
            let state = try await adas.state()
            #expect(state.retryFrom == nil && state.trouble == nil)
            // What comes next does not wait.
            try await adas.records.changeState { $0.nextPublish = 0 }
            #expect(await run() > 0)
        }
    }

    @Test("CI22: a watch fetches a table that cannot be read without a pause, and reports what is lost")
    func unreadableTable() async throws {
        try await CircleWorld.with { world in
            let ada = CircleDevice(world)
            let adas = try await ada.join()
            let environment = CircleEnvironment(
                vault: ada.vault, community: "recurse-center", transport: ada.transport,
                time: TimeSource(now: { world.now }, clock: EndingClock()), random: { $0.lowerBound })
            let watch = JoinedCircle(adas.records, environment)
            let reports = Mutex<[NearbyError?]>([])
            /// Until it sleeps first.
            func run() async {
                await #expect(throws: CancellationError.self) {
                    try await watch.keepSynchronized { error in reports.withLock { $0.append(error) } }
                }
            }
            await run()
            #expect(reports.withLock(\.self).isEmpty, "nothing is due")
            try await ada.vault.replace(adas.records.key("table"), with: Array("{}".utf8))
            await run()
            #expect(reports.withLock(\.self) == [.circle(.pinsLost(circle: "Recurse Center"))])
            #expect(try await adas.state().retryFrom == nil, "what comes next does not wait")
        }
    }
}

/// Epochs that rise each time.
private final class Epochs: Sendable {
    private let last = Mutex<UInt32>(1)

    func next() -> UInt32 {
        last.withLock { last in
            last += 1
            return last
        }
    }
}

/// A clock on which the first pause ends the task.
private final class EndingClock: Clock {
    typealias Instant = TestInstant
    private let last = Mutex(Duration.zero)

    var pause: Duration { last.withLock(\.self) }
    var now: Instant { HurriedClock().now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        last.withLock { $0 = now.duration(to: deadline) }
        throw CancellationError()
    }
}
