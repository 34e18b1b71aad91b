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
        try await Air.with { air in
            let (broadcasts, announce) = AsyncThrowingStream.makeStream(of: Broadcast.self)
            let sending = Sending(try air.radio(silence: .milliseconds(300)), broadcasts)
            let service = Packets.bytes("1107c9325c35eb6808ae7044fa9d4498feb3")
            announce.yield(.data(try AdvertisingData(received: service)))
            try await sending.wait(for: .sending)
            let next = Packets.bytes("1107c7c2d2acd5db318d174608b4d970c132")
            announce.yield(.data(try AdvertisingData(received: next)))
            try await air.until { try await air.onAir == [next] }
            let changes = try await air.changes
            #expect(changes.map(\.what) == ["register", "unregister", "register"])
            #expect(changes[2].time - changes[1].time >= 300)
        }
    }

    @Test("CI10: the silence between two identifiers is drawn from half a second to three seconds")
    func drawnSilence() {
        let drawn = (0..<1_000).map { _ in BlueZAdvertising.drawnSilence() }
        #expect(drawn.allSatisfy { (.milliseconds(500) ... .seconds(3)).contains($0) })
        #expect(drawn.min().map { $0 < .seconds(1) } == true && drawn.max().map { $0 > .milliseconds(2_500) } == true)
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
