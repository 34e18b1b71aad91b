import Beacons
import Testing

@Suite("Ranging")
struct RangingTests {
    private let ours = Ranging.Settings([.proximity(uuid: .secretHandshake)])

    @Test("BE-10: each tick lists what is in range, the nearest first, and an empty list is told as well")
    func list() throws {
        var ranging = Ranging(ours)
        #expect(ranging.tick(at: try at(0)).beacons.isEmpty)
        ranging.receive(try packet(36, rssi: -80, at: 0.1))
        ranging.receive(try packet(759, rssi: -65, at: 0.2))
        ranging.receive(try packet(7, rssi: -40, at: 0.3, power: 0))
        let update = ranging.tick(at: try at(1))
        #expect(update.time == (try at(1)))
        let first = try #require(update.beacons.first)
        #expect(first.identity == .proximity(uuid: .secretHandshake, major: 1, minor: 759))
        #expect(first.rssi == -65 && first.proximity == .near && first.packets == 1)
        #expect(abs(try #require(first.metres) - 1.738) < 0.001)
        #expect(update.beacons.map(\.proximity) == [.near, .far, .unknown])
        #expect(update.beacons[2].metres == nil)
        #expect(update.beacons[2].rssi == -40)
    }

    @Test("BE-10: a beacon stays for five seconds after its last packet and is dropped then")
    func retention() throws {
        var ranging = Ranging(ours)
        ranging.receive(try packet(36, at: 0))
        for second in 1...5 { #expect(ranging.tick(at: try at(Double(second))).beacons.count == 1) }
        #expect(ranging.tick(at: try at(5.1)).beacons.isEmpty)
    }

    @Test("BE-09: a rolling identifier, which states no power, has a rough proximity with hysteresis, and no distance")
    func rough() throws {
        let uuid = try #require(RollingUUID("b3fe9844-9dfa-4470-ae08-68eb355c32c9"))
        var settings = Ranging.Settings([.rollingService])
        settings.filter = .autoregressive(AutoregressiveAverage(coefficient: 1))
        var ranging = Ranging(settings)
        // −71 dBm are 3.0 m from −59 dBm at 1 m: near ends there.
        let heard: [(Int, Proximity)] = [
            (-60, .near), (-71, .near), (-72, .near), (-75, .near), (-75, .far), (-70, .far), (-45, .far),
            (-45, .immediate),
        ]
        for (second, (rssi, expected)) in heard.enumerated() {
            ranging.receive(.rollingService(uuid), rssi: RSSI(rssi), at: try at(Double(second)))
            let beacon = try #require(ranging.tick(at: try at(Double(second))).beacons.first)
            #expect(beacon.proximity == expected, "\(second)")
            #expect(beacon.metres == nil && beacon.rssi == Double(rssi))
        }
    }

    @Test("BE-10: a packet whose strength was not measured keeps a beacon in range without a distance of its own")
    func unmeasured() throws {
        var ranging = Ranging(ours)
        ranging.receive(try packet(36, rssi: 127, at: 0))
        var beacon = try #require(ranging.tick(at: try at(1)).beacons.first)
        #expect(beacon.rssi == nil && beacon.metres == nil && beacon.proximity == .unknown)
        ranging.receive(try packet(36, rssi: -59, at: 1.5))
        ranging.receive(try packet(36, rssi: 0, at: 1.6))
        beacon = try #require(ranging.tick(at: try at(2)).beacons.first)
        #expect(beacon.rssi == -59 && beacon.lastRSSI == nil && beacon.packets == 3)
    }

    @Test("BE-10: other fleets, other formats and noise are passed over")
    func conditions() throws {
        var ranging = Ranging(ours)
        let stranger = IBeacon(uuid: ProximityUUID(high: 1, low: 1), major: 1, minor: 36)
        let url = try EddystoneURL("https://a.com")
        for structures in [[stranger.structure], url.structures(power: -18), []] {
            ranging.receive(
                Advertisement(time: try at(0), address: nil, rssi: RSSI(-50), data: try AdvertisingData(structures)))
        }
        #expect(ranging.tick(at: try at(1)).beacons.isEmpty)
        let uid = EddystoneUID(namespace: .init(high: 1, low: 2), truncatingInstance: 3)
        for (condition, isFound) in [
            (BeaconCondition.any, true), (.eddystone(namespace: nil), true),
            (.eddystone(namespace: uid.namespace), true),
            (.eddystone(namespace: nil, instance: 4), false), (.proximity(uuid: nil), false),
        ] {
            var ranging = Ranging(Ranging.Settings([condition]))
            ranging.receive(.eddystone(.uid(uid, power: -18)), rssi: RSSI(-60), at: try at(0))
            #expect(ranging.tick(at: try at(1)).beacons.isEmpty != isFound, "\(condition)")
        }
    }

    @Test("BE-10: a flood of invented beacons takes no more room than there is and leaves those that keep on sending")
    func flood() throws {
        var settings = ours
        settings.capacity = 64
        var ranging = Ranging(settings)
        for minor in 1...8 as ClosedRange<UInt16> {
            for time in [0, 0.1] { ranging.receive(try packet(minor, at: time)) }
        }
        for minor in 1_000..<6_000 as Range<UInt16> { ranging.receive(try packet(minor, at: 0.5)) }
        let update = ranging.tick(at: try at(1))
        #expect(update.beacons.count <= 64)
        let minors = Set(
            update.beacons.compactMap { beacon in
                if case .proximity(_, _, let minor) = beacon.identity { minor } else { nil }
            })
        #expect(minors.isSuperset(of: 1...8))
    }

    @Test("BE-10: where all keep on sending, newcomers are left out and counted until there is room")
    func full() throws {
        var settings = ours
        settings.capacity = 4
        var ranging = Ranging(settings)
        for minor in [1, 1, 2, 2, 3, 3, 4, 4] as [UInt16] { ranging.receive(try packet(minor, at: 0)) }
        ranging.receive(try packet(5, at: 0.1))
        let update = ranging.tick(at: try at(1))
        #expect(update.beacons.count == 4)
        #expect(update.leftOut == 1)
        #expect(ranging.tick(at: try at(6)).beacons.isEmpty)
        ranging.receive(try packet(5, at: 6.1))
        #expect(ranging.tick(at: try at(7)).beacons.count == 1)
    }

    @Test(
        "CI47: kinds of beacons have places of their own, and what is not admitted has none, whatever keeps on sending")
    func kinds() throws {
        var settings = ours
        settings.capacity = 4
        var ranging = Ranging(
            settings,
            admitting: RangingAdmission { identity, _ in
                guard case .proximity(_, _, let minor) = identity, minor < 3_000 else { return nil }
                return minor < 2_000 ? 0 : 1
            })
        for second in 0..<3 {
            for minor in [3_000..<3_020, 1_000..<1_020, 2_000..<2_002] as [Range<UInt16>] {
                // Heard more than once, so that none gives way.
                for minor in minor {
                    for _ in 0..<2 { ranging.receive(try packet(minor, at: Double(second))) }
                }
            }
            let update = ranging.tick(at: try at(Double(second) + 0.5))
            let minors = update.beacons.compactMap { beacon -> UInt16? in
                if case .proximity(_, _, let minor) = beacon.identity { minor } else { nil }
            }
            #expect(minors.count { $0 < 2_000 } <= 4)
            #expect(minors.filter { $0 >= 2_000 }.sorted() == [2_000, 2_001])
            guard second == 2 else { continue }
            #expect(Set(update.leftOutOfKind.keys) == [0] && update.leftOut > 30)
        }
    }

    @Test("CI47: a packet that says that it is older than the last tick is admitted as of the tick")
    func olderThanTheTick() throws {
        let end = try at(60)
        var ranging = Ranging(ours, admitting: RangingAdmission { _, time in time < end ? 0 : nil })
        ranging.receive(try packet(36, at: 50))
        #expect(ranging.tick(at: try at(51)).beacons.count == 1)
        #expect(ranging.tick(at: end).beacons.isEmpty, "it fell silent")
        ranging.receive(try packet(36, at: 59.9))
        #expect(ranging.tick(at: try at(61)).beacons.isEmpty)
    }

    @Test("CI48: of a beacon the last four addresses of the last five seconds are known, the newest last")
    func transmitters() throws {
        var ranging = Ranging(ours)
        func hear(_ address: UInt64, at second: Double) throws {
            let frame = Frame.iBeacon(IBeacon(uuid: .secretHandshake, major: 1, minor: 759, power: -59))
            ranging.receive(frame, rssi: RSSI(-60), from: DeviceAddress(truncating: address), at: try at(second))
        }
        func transmitters(at second: Double) throws -> [UInt64] {
            let beacon = try #require(ranging.tick(at: try at(second)).beacons.first)
            #expect(beacon.isHeardTwice == (beacon.transmitters.count > 1))
            #expect(beacon.transmitter == beacon.transmitters.last)
            return (0..<10_000).filter { beacon.transmitters.contains(DeviceAddress(truncating: $0)) }
        }
        try hear(1, at: 0)
        try hear(2, at: 0.02)
        #expect(try transmitters(at: 1) == [1, 2])
        try hear(1, at: 4)
        try hear(2, at: 4.02)
        #expect(try transmitters(at: 4.5) == [1, 2])
        try hear(2, at: 8)
        #expect(try transmitters(at: 8.9) == [1, 2])
        #expect(try transmitters(at: 9.1) == [2], "the other one was heard five seconds before")
        for address in 100..<10_000 as Range<UInt64> { try hear(address, at: 9.5) }
        #expect(try transmitters(at: 10) == [9_996, 9_997, 9_998, 9_999], "an attacker can use any number")
    }

    @Test(
        "BE-10: a clock that is set back by hours or forward by years neither keeps nor loses for ever what is in range"
    )
    func leaps() throws {
        for leap in [-36_000.0, 1e9] {
            var ranging = Ranging(ours)
            ranging.receive(try packet(36, at: 1_000_000))
            #expect(ranging.tick(at: try at(1_000_001)).beacons.count == 1)
            ranging.receive(try packet(36, at: 1_000_002 + leap))
            #expect(ranging.tick(at: try at(1_000_003 + leap)).beacons.count == 1, "\(leap)")
            #expect(ranging.tick(at: try at(1_000_004 + leap)).beacons.first?.lastSeen == (try at(1_000_002 + leap)))
            for second in 5...12 { _ = ranging.tick(at: try at(1_000_000 + Double(second) + leap)) }
            #expect(ranging.tick(at: try at(1_000_013 + leap)).beacons.isEmpty, "\(leap)")
        }
    }

    @Test("BE-10: updates come once a second by the clock that was given, with the packets up to then")
    func updates() async throws {
        let clock = ManualClock(try at(0))
        let packets = ScriptedPackets()
        var updates = RangingUpdates(of: packets, settings: ours, time: clock.time).makeAsyncIterator()
        #expect(packets.asked == 0)
        let script = Task {
            await packets.send([try packet(36, at: 0.2), try packet(36, at: 0.4)])
            await clock.advance(by: .seconds(1))
            await clock.sleeper()  // The first update is made.
            await packets.send([try packet(759, at: 1.1)])
            await clock.advance(by: .seconds(1))
            await clock.advance(by: .seconds(3.5))
            await clock.sleeper()
            packets.put([try packet(5, at: 5.5)])
            packets.end()
        }
        #expect(try await updates.next()?.beacons.map(\.packets) == [2])
        #expect(try await updates.next()?.beacons.count == 2)
        let third = try #require(try await updates.next())
        #expect(third.time == (try at(5.5)))
        #expect(third.beacons.count == 1)
        let last = try #require(try await updates.next())
        #expect(last.beacons.count == 2)
        #expect(try await updates.next() == nil)
        #expect(try await updates.next() == nil)
        try await script.value
    }

    @Test("BE-10: ticks that were slept through come once, not all together")
    func missedTicks() async throws {
        let clock = ManualClock(try at(0))
        var updates = RangingUpdates(of: ScriptedPackets(), time: clock.time).makeAsyncIterator()
        let script = Task {
            await clock.advance(by: .seconds(60))
            await clock.advance(by: .seconds(0.999))
            await clock.advance(by: .seconds(0.001))
        }
        #expect(try await updates.next()?.time == (try at(60)))
        #expect(try await updates.next()?.time == (try at(61)))
        await script.value
    }

    @Test("BE-10: what the source throws comes through once its packets were taken, and nothing after it")
    func failure() async throws {
        let packets = ScriptedPackets()
        packets.end(.failure(BeaconsError.time(try at(0))))
        var updates = RangingUpdates(of: packets, time: ManualClock(try at(0)).time).makeAsyncIterator()
        await #expect(throws: BeaconsError.time(try at(0))) { try await updates.next() }
        #expect(try await updates.next() == nil)
    }

    @Test("BE-10: cancelling the reader ends the wait, the ticks and the source")
    func cancellation() async throws {
        let clock = ManualClock(try at(0))
        let packets = ScriptedPackets()
        let reader = Task {
            for try await _ in RangingUpdates(of: packets, time: clock.time) {}
        }
        await clock.sleeper()
        await packets.send([try packet(36, at: 0)])
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        await packets.cancelled()
    }

    @Test("BE-10: leaving the loop ends the source and the ticks")
    func leaving() async throws {
        let clock = ManualClock(try at(0))
        let packets = ScriptedPackets()
        let script = Task {
            await packets.send([try packet(36, at: 0.5)])
            await clock.advance(by: .seconds(1))
        }
        var counts: [Int] = []
        for try await update in RangingUpdates(of: packets, settings: ours, time: clock.time) {
            counts.append(update.beacons.count)
            break
        }
        #expect(counts == [1])
        await packets.cancelled()
        try await script.value
    }

    @Test("BE-10: a reader that is late loses no packet")
    func backpressure() async throws {
        let clock = ManualClock(try at(0))
        let packets = ScriptedPackets()
        var updates = RangingUpdates(of: packets, settings: ours, time: clock.time).makeAsyncIterator()
        packets.put(try (1...500).map { try packet(UInt16($0), at: 0) })
        packets.end()
        // The end comes behind the packets, so that the one update tells of all of them.
        #expect(try await updates.next()?.beacons.count == 500)
        #expect(try await updates.next() == nil)
    }
}
