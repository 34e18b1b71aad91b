#if os(Linux)
import Beacons
import DBus
import Radio
import TestFixtures
import Testing

@Suite(
    "Scanning through BlueZ", .heavy, .serialized,
    .enabled(if: Air.obstacle == nil, Comment(rawValue: Air.obstacle ?? "")))
struct BlueZScanTests {
    @Test("BE-16: a monitor hears a beacon without any search")
    func monitor() async throws {
        try await Air.with { air in
            var events = try air.radio().scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.listening(.monitor)))
            #expect(try await air.monitors == 3)
            try await air.sight(data: Packets.iBeacon)
            #expect(try await events.next() == .advertisement(try Packets.heard(Packets.iBeacon)))
            #expect(try await !air.isSearching)
        }
    }

    @Test("a service UUID is heard by the monitors and by a search, in a form that all methods report the same")
    func rollingService() async throws {
        let packet = Packets.bytes("1107c9325c35eb6808ae7044fa9d4498feb3")
        for method in [ScanMethod.monitor, .filteredDiscovery] {
            try await Air.with { air in
                var events = try air.radio(methods: [method]).scan().makeAsyncIterator()
                #expect(try await events.next() == .status(.listening(method)))
                // Another app's service, which no monitor wants.
                try await air.sight("D0:00:00:00:00:01", data: Packets.bytes("1107fb349b5f80000080001000000ffe0000"))
                try await air.sight(data: packet)
                #expect(try await events.next() == .advertisement(try Packets.heard(packet)))
            }
        }
    }

    @Test("BE-17: without a monitor that works, a search with a filter is used", arguments: ["none", "release"])
    func filteredDiscovery(monitor: String) async throws {
        try await Air.with(["monitor=" + monitor]) { air in
            var events = try air.radio().scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.listening(.filteredDiscovery)))
            try await air.sight(data: Packets.iBeacon)
            #expect(try await events.next() == .advertisement(try Packets.heard(Packets.iBeacon)))
        }
    }

    @Test("BE-16: a monitor that is not activated in two seconds is given up")
    func silentMonitor() async throws {
        try await Air.with(["monitor=silent"]) { air in
            let clock = ManualClock()
            let scan = try air.radio(clock: clock).scan()
            async let first = scan.first { _ in true }
            await clock.sleeper(of: .seconds(2))
            clock.advance(by: .seconds(2))
            #expect(try await first == .status(.listening(.filteredDiscovery)))
        }
    }

    @Test("BE-15: a filtered search tells of every packet, also of one that is the same")
    func everyPacket() async throws {
        try await Air.with { air in
            var events = try air.radio(methods: [.filteredDiscovery]).scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.listening(.filteredDiscovery)))
            for rssi: Int16 in [-61, -62, -62] {
                try await air.sight(rssi: rssi, data: Packets.iBeacon)
                let expected = try Packets.heard(Packets.iBeacon, rssi: Int(rssi))
                #expect(try await events.next() == .advertisement(expected))
            }
        }
    }

    @Test("BE-17: where BlueZ takes no filter, a search without one is used, deaf to changes below 8 dB")
    func plainDiscovery() async throws {
        try await Air.with(["monitor=none", "filter-error=InvalidArguments"]) { air in
            var events = try air.radio().scan().makeAsyncIterator()
            #expect(try await events.next() == .status(.listening(.plainDiscovery)))
            for rssi: Int16 in [-61, -65, -70] { try await air.sight(rssi: rssi, data: Packets.iBeacon) }
            for rssi in [-61, -70] {
                let expected = try Packets.heard(Packets.iBeacon, rssi: rssi)
                #expect(try await events.next() == .advertisement(expected))
            }
        }
    }

    @Test("BE-17: when no way works, the error has the reason of each")
    func noWay() async throws {
        try await Air.with(["monitor=release", "discovery-error=Failed"]) { air in
            let error = await #expect(throws: RadioError.self) {
                for try await _ in try air.radio().scan() {}
            }
            guard case .noWayToScan(let attempts) = error else { throw AirError.unexpected }
            #expect(attempts.map(\.method) == [.monitor, .filteredDiscovery, .plainDiscovery])
            #expect(attempts.first?.error == .notSupported(feature: "the monitor (the kernel rejected it)"))
            #expect(
                attempts.last?.error
                    == .refused(operation: "starting discovery", reason: "org.bluez.Error.Failed"))
        }
    }

    @Test("a search that BlueZ is busy with is asked for again")
    func busy() async throws {
        try await Air.with(["discovery-error=InProgress", "discovery-error-count=2"]) { air in
            let clock = ManualClock()
            let scan = try air.radio(methods: [.filteredDiscovery], clock: clock).scan()
            async let first = scan.first { _ in true }
            for _ in 1...2 {
                await clock.sleeper(of: .milliseconds(250))
                clock.advance(by: .milliseconds(250))
            }
            #expect(try await first == .status(.listening(.filteredDiscovery)))
        }
    }

    @Test("BE-15: what BlueZ remembers from before, and strengths that end with a search, are no sightings")
    func cachedDevices() async throws {
        try await Air.with { air in
            let radio = try air.radio(methods: [.filteredDiscovery])
            var first: Scan.AsyncIterator? = radio.scan().makeAsyncIterator()
            _ = try await first?.next()
            try await air.sight(data: Packets.iBeacon)
            _ = try await first?.next()
            first = nil
            // The search ends, and with it what BlueZ knows of the signal.
            try await air.until { try await !air.isSearching }
            var second = radio.scan().makeAsyncIterator()
            #expect(try await second.next() == .status(.listening(.filteredDiscovery)))
            try await air.sight("D0:00:00:00:00:02", data: Packets.altBeacon)
            let expected = try Packets.heard(Packets.altBeacon, "D0:00:00:00:00:02")
            #expect(try await second.next() == .advertisement(expected))
        }
    }

    @Test("BE-15: data that comes later than the device is heard with the device's signal")
    func lateData() async throws {
        try await Air.with(["late-data=1"]) { air in
            var events = try air.radio(methods: [.filteredDiscovery]).scan().makeAsyncIterator()
            _ = try await events.next()
            try await air.sight(data: Packets.iBeacon)
            #expect(try await events.next() == .advertisement(try Packets.heard(Packets.iBeacon)))
        }
    }

    @Test("only matching advertisements are reported, whatever other programs scan for")
    func interest() async throws {
        try await Air.with { air in
            var events = try air.radio(methods: [.filteredDiscovery]).scan(for: .iBeacons(.secretHandshake))
                .makeAsyncIterator()
            _ = try await events.next()
            try await air.sight("D0:00:00:00:00:01", data: Packets.findMy)
            try await air.sight("D0:00:00:00:00:02", data: Packets.altBeacon)
            try await air.sight(data: Packets.iBeacon)
            #expect(try await events.next() == .advertisement(try Packets.heard(Packets.iBeacon)))
        }
    }

    @Test("everything can be wanted; then there is no monitor for it")
    func everything() async throws {
        try await Air.with { air in
            var events = try air.radio().scan(for: .everything).makeAsyncIterator()
            #expect(try await events.next() == .status(.listening(.filteredDiscovery)))
            try await air.sight("D0:00:00:00:00:01", data: Packets.findMy)
            let expected = try Packets.heard(Packets.findMy, "D0:00:00:00:00:01")
            #expect(try await events.next() == .advertisement(expected))
        }
    }

    @Test("a scan stops with its iterator: no search, no monitor, no connection stays", arguments: [true, false])
    func stops(withMonitor: Bool) async throws {
        try await Air.with { air in
            let names = try await air.names()
            let radio = try air.radio(methods: [withMonitor ? .monitor : .filteredDiscovery])
            var events: Scan.AsyncIterator? = radio.scan().makeAsyncIterator()
            _ = try await events?.next()
            events = nil
            try await air.until {
                let (isSearching, monitors, left) = try await (air.isSearching, air.monitors, air.names())
                return !isSearching && monitors == 0 && left == names
            }
        }
    }

    @Test("a scan that is cancelled ends with a cancellation, and leaves nothing behind")
    func cancellation() async throws {
        try await Air.with { air in
            let names = try await air.names()
            let scan = try air.radio().scan()
            let task = Task { for try await _ in scan {} }
            try await air.until { try await air.monitors == 3 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await air.until { try await air.names() == names }
        }
    }
}
#endif
