#if os(Linux)
import Beacons
import DBus
import Radio
import TestFixtures
import Testing

@Suite(
    "BlueZ that goes away and comes back", .heavy, .serialized,
    .enabled(if: Air.obstacle == nil, Comment(rawValue: Air.obstacle ?? "")))
struct BlueZInterruptionTests {
    @Test(
        "an adapter that is switched off mid-scan is waited for", arguments: [ScanMethod.monitor, .filteredDiscovery])
    func power(method: ScanMethod) async throws {
        try await Air.with { air in
            var events = try air.radio(methods: [method]).scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.listening(method)))
            try await air.power(false)
            #expect(try await events.next() == .status(.unavailable(.poweredOff(adapter: "hci0"))))
            try await air.power(true)
            #expect(try await events.next() == .status(.listening(method)))
            try await air.sight(data: Packets.iBeacon)
            #expect(try await events.next() == .advertisement(try Packets.heard(Packets.iBeacon)))
        }
    }

    @Test("an adapter that is taken out mid-scan is waited for")
    func unplugged() async throws {
        try await Air.with { air in
            var events = try air.radio().scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.listening(.monitor)))
            try await air.plug(false)
            #expect(try await events.next() == .status(.unavailable(.noAdapter(named: nil))))
            try await air.plug(true)
            #expect(try await events.next() == .status(.listening(.monitor)))
            try await air.sight(data: Packets.iBeacon)
            #expect(try await events.next() == .advertisement(try Packets.heard(Packets.iBeacon)))
        }
    }

    @Test("a daemon that crashes mid-scan is waited for, and its successor is used")
    func daemon() async throws {
        try await Air.with { air in
            var events = try air.radio().scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.listening(.monitor)))
            await air.stop()
            #expect(try await events.next() == .status(.unavailable(.noBlueZ)))
            try await air.start()
            #expect(try await events.next() == .status(.listening(.monitor)))
            try await air.sight(data: Packets.iBeacon)
            #expect(try await events.next() == .advertisement(try Packets.heard(Packets.iBeacon)))
        }
    }

    @Test("a daemon that is not there at the start is waited for")
    func noDaemon() async throws {
        try await Air.with(nil) { air in
            var events = try air.radio().scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.unavailable(.noBlueZ)))
            try await air.start()
            #expect(try await events.next() == .status(.listening(.monitor)))
        }
    }

    @Test("a monitor that the daemon releases is registered again")
    func release() async throws {
        try await Air.with { air in
            var events = try air.radio().scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.listening(.monitor)))
            try await air.release()
            #expect(
                try await events.next() == .status(.unavailable(.lost(reason: "BlueZ released the monitor"))))
            #expect(try await events.next() == .status(.listening(.monitor)))
        }
    }

    @Test("BE-30: a bus that is not there is told of, by the address of the environment")
    func noBus() async throws {
        try await Air.with { air in
            let radio = try air.radio()
            await air.stop()
            await air.stopBus()
            guard case .status(.unavailable(.noBus(let reason))) = try await radio.scan().first(where: { _ in true })
            else { throw AirError.unexpected }
            #expect(reason.contains(air.address.split(separator: ",")[0]))
        }
    }

    @Test("an adapter that is off is switched on only when that was asked for", arguments: [true, false])
    func switchesOn(isAsked: Bool) async throws {
        try await Air.with(["powered=0"]) { air in
            var events = try air.radio(switchesOn: isAsked).scan().makeAsyncIterator()
            let expected: RadioStatus =
                isAsked ? .listening(.monitor) : .unavailable(.poweredOff(adapter: "hci0"))
            #expect(try await events.next() == .status(expected))
        }
    }

    @Test("BE-17: an adapter that cannot be switched on yet is told of, and switched on later")
    func busy() async throws {
        try await Air.with(["powered=0", "busy-count=3"]) { air in
            var events = try air.radio(switchesOn: true).scan().makeAsyncIterator()
            // That another connection is switching it on at this moment is no fault of the adapter.
            #expect(try await events.next() == .status(.unavailable(.poweredOff(adapter: "hci0"))))
            #expect(try await events.next() == .status(.listening(.monitor)))
        }
    }

    @Test("an adapter that rfkill keeps off says so")
    func blocked() async throws {
        try await Air.with(["powered=0", "blocked=1"]) { air in
            var events = try air.radio(switchesOn: true).scan().makeAsyncIterator()
            let expected = RadioStatus.unavailable(.blocked(adapter: "hci0", bySwitch: false))
            #expect(try await events.next() == .status(expected))
        }
    }

    @Test("an adapter that was named and is not there is not replaced by another one")
    func named() async throws {
        try await Air.with { air in
            var events = try air.radio(adapter: "hci7").scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.unavailable(.noAdapter(named: "hci7"))))
            var others = try air.radio(adapter: "00:1a:7d:00:00:01").scan().makeAsyncIterator()
            #expect(try await others.next() == .status(.listening(.monitor)))
        }
    }
}
#endif
