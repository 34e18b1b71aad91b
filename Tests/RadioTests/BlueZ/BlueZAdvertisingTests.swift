#if os(Linux)
import Beacons
import DBus
import TestFixtures
import Testing

@testable import Radio

@Suite(
    "Advertising through BlueZ", .heavy, .serialized,
    .enabled(if: Air.obstacle == nil, Comment(rawValue: Air.obstacle ?? "")))
struct BlueZAdvertisingTests {
    @Test("BE-13: what is sent are the 27 bytes of the dossier, and nothing after it was cancelled")
    func iBeacon() async throws {
        try await Air.with { air in
            let sending = try Sending(air.radio(), Packets.iBeacon)
            #expect(try await sending.next() == .sending)
            #expect(try await air.onAir == [Packets.iBeacon])
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.outcome.get() }
            try await air.until { try await air.onAir.isEmpty }
        }
    }

    @Test("an Eddystone frame goes out with its service and without the flags that BlueZ refuses")
    func eddystone() async throws {
        try await Air.with { air in
            let sending = try Sending(air.radio(), Packets.eddystone)
            #expect(try await sending.next() == .sending)
            #expect(try await air.onAir == [Array(Packets.eddystone.dropFirst(3))])
        }
    }

    @Test("BE-14: a BlueZ that refuses an interval gets the advertisement without one")
    func experimental() async throws {
        try await Air.with(["experimental=0"]) { air in
            let sending = try Sending(air.radio(), Packets.iBeacon)
            #expect(try await sending.next() == .sending)
            #expect(try await air.onAir == [Packets.iBeacon])
        }
    }

    @Test(
        "BE-14: an error of the registration says what is wrong",
        arguments: [
            (["instances=0"], RadioError.noFreeInstance),
            (["advertising-error=NotPermitted"], .noFreeInstance),
            (
                ["advertising-error=InvalidLength"],
                .advertisementRejected(reason: "org.bluez.Error.InvalidLength")
            ),
            (["advertising-error=Failed"], .advertisementRejected(reason: "org.bluez.Error.Failed")),
            (["advertising-error=NotSupported"], .notSupported(feature: "advertising")),
        ])
    func errors(behaviour: [String], expected: RadioError) async throws {
        try await Air.with(behaviour) { air in
            let sending = try Sending(air.radio(), Packets.iBeacon)
            await #expect(throws: expected) { try await sending.outcome.get() }
        }
    }

    @Test("BE-14: an advertisement that the daemon drops is put up again")
    func release() async throws {
        try await Air.with { air in
            let sending = try Sending(air.radio(), Packets.iBeacon)
            #expect(try await sending.next() == .sending)
            try await air.release()
            #expect(
                try await sending.next() == .unavailable(.lost(reason: "BlueZ released the advertisement")))
            #expect(try await sending.next() == .sending)
            #expect(try await air.onAir == [Packets.iBeacon])
            #expect(try await air.registrations == 2)
        }
    }

    @Test("BE-13: sending stops with the adapter's power and starts with it")
    func power() async throws {
        try await Air.with { air in
            let sending = try Sending(air.radio(), Packets.iBeacon)
            #expect(try await sending.next() == .sending)
            try await air.power(false)
            #expect(try await sending.next() == .unavailable(.poweredOff(adapter: "hci0")))
            try await air.power(true)
            #expect(try await sending.next() == .sending)
            #expect(try await air.onAir == [Packets.iBeacon])
        }
    }

    @Test("a daemon that crashes does not lose the advertiser")
    func daemon() async throws {
        try await Air.with { air in
            let sending = try Sending(air.radio(), Packets.iBeacon)
            #expect(try await sending.next() == .sending)
            await air.stop()
            #expect(try await sending.next() == .unavailable(.noBlueZ))
            try await air.start()
            #expect(try await sending.next() == .sending)
            #expect(try await air.onAir == [Packets.iBeacon])
        }
    }

    @Test("BE-20: new data comes with a new address, and the old data is gone")
    func rotation() async throws {
        try await Air.with { air in
            let (broadcasts, announce) = AsyncThrowingStream.makeStream(of: Broadcast.self)
            let sending = Sending(try air.radio(), broadcasts)
            announce.yield(.data(try AdvertisingData(received: Packets.iBeacon)))
            try await sending.wait(for: .sending)
            let before = try await air.transmissions
            announce.yield(.data(try AdvertisingData(received: Packets.altBeacon)))
            try await air.until { try await air.onAir == [Packets.altBeacon] }
            let after = try await air.transmissions
            #expect(before.map(\.data) == [Packets.iBeacon])
            #expect(before.first?.address != after.first?.address)
            announce.yield(.silence)
            try await sending.wait(for: .silent)
            try await air.until { try await air.onAir.isEmpty }
        }
    }

    @Test("CI10: an identifier is unregistered before the next one is registered, and between them nothing is sent")
    func silence() async throws {
        try await expectSilence(of: .milliseconds(300), atLeast: 300)
    }

    @Test("CI10: with the options that users have, the silence between two identifiers is at least half a second")
    func silenceOfTheOptions() async throws {
        try await expectSilence(of: nil, atLeast: 500)
    }

    /// Expects that nothing is registered between two identifiers for so many milliseconds. Nil takes the silence of the options
    /// that users have.
    private func expectSilence(of silence: Duration?, atLeast milliseconds: UInt64) async throws {
        try await Air.with { air in
            let (broadcasts, announce) = AsyncThrowingStream.makeStream(of: Broadcast.self)
            let sending = Sending(try air.radio(silence: silence), broadcasts)
            let service = Packets.bytes("1107c9325c35eb6808ae7044fa9d4498feb3")
            announce.yield(.data(try AdvertisingData(received: service)))
            try await sending.wait(for: .sending)
            let next = Packets.bytes("1107c7c2d2acd5db318d174608b4d970c132")
            announce.yield(.data(try AdvertisingData(received: next)))
            try await air.until { try await air.onAir == [next] }
            let changes = try await air.changes
            try #require(changes.map(\.what) == ["register", "unregister", "register"])
            #expect(changes[2].time - changes[1].time >= milliseconds)
        }
    }

    @Test("CI10: the silence between two identifiers is drawn from half a second to three seconds")
    func drawnSilence() {
        let drawn = (0..<1_000).map { _ in BlueZRadio.drawnSilence() }
        #expect(drawn.allSatisfy { (.milliseconds(500) ... .seconds(3)).contains($0) })
        #expect(drawn.min().map { $0 < .seconds(1) } == true && drawn.max().map { $0 > .milliseconds(2_500) } == true)
    }

    private static func seeds() throws -> [RollingSeed] {
        try [0x00, 0x80, 0x40].map { try RollingSeed(revealed: Array($0..<($0 + 32))) }
    }

    private static func time(_ clock: ManualClock) -> Timestamp {
        Air.now.advanced(by: .seconds(450) + clock.now.offset)
    }

    /// Three circles, and a clock for their terms that stands still until it is moved.
    private func circles(_ clock: ManualClock) throws -> Broadcasts {
        Broadcasts(rolling: try Self.seeds(), time: ScanTime(now: { Self.time(clock) }, clock: clock))
    }

    /// The identifier that is sent for a seed.
    private static func identifier(of seed: RollingSeed, at time: Timestamp) throws -> AdvertisingStructure {
        let window = try RollingWindow(at: time)
        let current = time < seed.change(to: window) ? RollingWindow(number: window.number - 1) : window
        return .service(RollingUUID(seed.token(in: current)))
    }

    @Test(
        "in hours of what is sent for three circles the audit finds no link: at the same time, and in turns on one address",
        arguments: [([], 3, 8), (["extended=0"], 1, 3)])
    func audit(behaviour: [String], count: Int, terms: Int) async throws {
        try await Air.with(behaviour) { air in
            let clock = ManualClock()
            let sending = Sending(try air.radio(), try circles(clock))
            try await sending.wait(for: .sending)
            var audit = LinkabilityAudit(of: try Self.seeds().map { .init($0, isSent: true) })
            for _ in 0..<150 {
                let time = Self.time(clock)
                let valid = try Self.seeds().map { try Self.identifier(of: $0, at: time) }
                try await air.until {
                    let sent = try await air.onAir.flatMap { try AdvertisingData(received: $0).structures }
                    return (count == 1 || sent.count == count) && sent.allSatisfy(valid.contains)
                }
                for (address, data) in try await air.transmissions {
                    audit.receive(
                        Advertisement(
                            time: time, address: DeviceAddress(address), addressKind: .random, rssi: nil,
                            data: try AdvertisingData(received: data)))
                }
                let sent = try await air.onAir.count
                await clock.sleepers(max(count, sent))
                clock.advance(by: .seconds(60))
            }
            #expect(audit.report().verdict == .clean && audit.report().findings == [])
            #expect(audit.termCounts.allSatisfy { $0 >= terms }, "\(audit.termCounts)")
            sending.cancel()
        }
    }

    @Test("circles are sent at the same time, each under an address of its own")
    func scopes() async throws {
        try await Air.with { air in
            let sending = Sending(try air.radio(), try circles(ManualClock()))
            #expect(try await sending.next() == .sending)
            try await air.until { try await air.onAir.count == 3 }
            let transmissions = try await air.transmissions
            #expect(Set(transmissions.map(\.address)).count == 3 && Set(transmissions.map(\.data)).count == 3)
            sending.cancel()
            _ = await sending.outcome
            try await air.until { try await air.onAir.isEmpty }
        }
    }

    @Test(
        "CI53: with fewer advertising instances, or one address for all of them, circles take turns, and the user is told",
        arguments: [
            (["instances=2"], 2), (["instances=1"], 1), (["extended=0"], 1),
        ])
    func turns(behaviour: [String], count: Int) async throws {
        try await Air.with(behaviour) { air in
            let sending = Sending(try air.radio(), try circles(ManualClock()))
            try #require(try await sending.next() == .takingTurns(identifiers: 3, atATime: count))
            #expect(try await sending.next() == .sending)
            try await air.until { try await air.onAir.count == count }
            let transmissions = try await air.transmissions
            #expect(Set(transmissions.map(\.address)).count == count)
        }
    }

    @Test("when a registration is refused because another program was faster, circles take turns in one instance less")
    func refusedInstance() async throws {
        try await Air.with(["reported-instances=9", "instances=2"]) { air in
            let sending = Sending(try air.radio(), try circles(ManualClock()))
            var status = try await sending.next()
            while status == .sending { status = try await sending.next() }
            try #require(status == .takingTurns(identifiers: 3, atATime: 2))
            try await sending.wait(for: .sending)
            try await air.until { try await air.onAir.count == 2 }
            #expect(try await Set(air.transmissions.map(\.address)).count == 2)
        }
    }

    @Test("CI10: of several circles each is unregistered before it is registered again, and in between it is silent")
    func silenceOfEach() async throws {
        try await Air.with { air in
            let clock = ManualClock()
            let sending = Sending(try air.radio(silence: .milliseconds(300)), try circles(clock))
            try await sending.wait(for: .sending)
            try await air.until { try await air.onAir.count == 3 }
            let before = try await air.transmissions
            for _ in 0..<15 {
                await clock.sleepers(3)
                clock.advance(by: .seconds(60))
            }
            try await air.until {
                let now = try await air.transmissions
                return now.count == 3 && Set(now.map(\.data)).isDisjoint(with: before.map(\.data))
            }
            #expect(try await Set(air.transmissions.map(\.address)).isDisjoint(with: before.map(\.address)))
            let changes = try await air.changes.dropFirst(3)
            #expect(changes.count { $0.what == "unregister" } == 3 && changes.count { $0.what == "register" } == 3)
            // The n-th that comes back does so at least one silence after the n-th that went.
            let gone = changes.filter { $0.what == "unregister" }.map(\.time)
            let back = changes.filter { $0.what == "register" }.map(\.time)
            #expect(zip(gone, back).allSatisfy { $1 - $0 >= 300 })
        }
    }

    @Test("the last data is sent on when nothing new comes")
    func endOfSource() async throws {
        try await Air.with { air in
            let sending = try Sending(air.radio(), Packets.iBeacon)
            #expect(try await sending.next() == .sending)
            for _ in 1...3 { #expect(try await air.onAir == [Packets.iBeacon]) }
        }
    }

    @Test("BE-22: who only listens sends nothing, and the bus is not asked")
    func scanOnly() async throws {
        try await Air.with { air in
            let names = try await air.names()
            let broadcasts = try Broadcasts(.scanOnly, as: .iBeacon(.secretHandshake))
            try await air.radio().advertise(broadcasts) { _ in }
            #expect(try await air.names() == names)
        }
    }

    @Test("only the daemon can release an advertisement")
    func strangers() async throws {
        try await Air.with { air in
            let names = try await air.names()
            let sending = try Sending(air.radio(), Packets.iBeacon)
            #expect(try await sending.next() == .sending)
            let sender = try #require(try await air.names().first { !names.contains($0) })
            let path = try #require(try await air.paths().first)
            await #expect(throws: DBusError.self) {
                try await air.call(
                    "Release", in: "org.bluez.LEAdvertisement1", of: path, at: BusName(sender))
            }
            #expect(try await air.registrations == 1)
            #expect(try await air.onAir == [Packets.iBeacon])
        }
    }
}
#endif
