import Beacons
import Foundation
import Testing

@Suite("Regions")
struct RegionTests {
    private let everyone = Region("everyone", .proximity(uuid: .secretHandshake))
    private let desk = Region("desk", .proximity(uuid: .secretHandshake, major: 1, minor: 759))

    private func identity(_ minor: UInt16) -> BeaconIdentity {
        .proximity(uuid: .secretHandshake, major: 1, minor: minor)
    }

    /// Ticks once a second, both ends included.
    private func ticks(_ monitor: inout RegionMonitor, _ seconds: ClosedRange<Int>) throws -> [RegionEvent] {
        try seconds.flatMap { monitor.tick(at: try at(Double($0))) }
    }

    @Test("BE-11: a wildcard region is entered with the first beacon and left after the last, each once")
    func wildcard() throws {
        var monitor = RegionMonitor([everyone], now: try at(0))
        #expect(monitor.state(of: everyone) == .unknown)
        #expect(
            monitor.receive(try packet(36, at: 1))
                == [.entered(everyone, by: identity(36), at: try at(1)), .appeared(identity(36), at: try at(1))])
        #expect(monitor.receive(try packet(36, at: 2)) == [])
        #expect(try ticks(&monitor, 2...8) == [])
        #expect(monitor.receive(try packet(759, at: 8)) == [.appeared(identity(759), at: try at(8))])
        #expect(monitor.state(of: everyone) == .inside)
        #expect(try ticks(&monitor, 9...12) == [])
        #expect(try ticks(&monitor, 13...18) == [.disappeared(identity(36), at: try at(13))])
        #expect(
            try ticks(&monitor, 19...60) == [
                .disappeared(identity(759), at: try at(19)), .exited(everyone, at: try at(19)),
            ])
        #expect(monitor.state(of: everyone) == .outside)
        #expect(
            monitor.receive(try packet(36, at: 61)).first == .entered(everyone, by: identity(36), at: try at(61)))
    }

    @Test("BE-11: regions match by fleet, major and minor, and what is left open matches all")
    func conditions() throws {
        let regions = [
            everyone, desk, Region("major 2", .proximity(uuid: .secretHandshake, major: 2)),
            Region("minor 759", .proximity(uuid: nil, minor: 759)), Region("all", .any),
        ]
        var monitor = RegionMonitor(regions, now: try at(0))
        func entered(_ events: [RegionEvent]) -> [String] {
            events.compactMap { if case .entered(let region, _, _) = $0 { region.name } else { nil } }
        }
        #expect(entered(monitor.receive(try packet(36, at: 1))) == ["everyone", "all"])
        #expect(entered(monitor.receive(try packet(759, at: 1))) == ["desk", "minor 759"])
        #expect(monitor.state(of: regions[2]) == .unknown)
        _ = try ticks(&monitor, 2...11)
        #expect(monitor.state(of: regions[2]) == .outside)
        #expect(monitor.state(of: Region("other", .any)) == nil)
    }

    @Test("BE-11: the exit period is ten seconds in the foreground and thirty in the background, and may be chosen")
    func exitPeriods() throws {
        for (settings, second) in [
            (RegionMonitor.Settings.foreground, 12), (.background, 32),
            (RegionMonitor.Settings(exitPeriod: .seconds(15)), 17),
        ] {
            var monitor = RegionMonitor([everyone], settings: settings, now: try at(0))
            _ = monitor.receive(try packet(36, at: 1))
            #expect(try ticks(&monitor, 2...second - 1) == [])
            #expect(try ticks(&monitor, second...second).contains(.exited(everyone, at: try at(Double(second)))))
        }
    }

    @Test("BE-11: a weak packet does not enter, and keeps inside who is")
    func weakestEntry() throws {
        var settings = RegionMonitor.Settings.foreground
        settings.weakestEntry = RSSI(-70)
        var monitor = RegionMonitor([everyone], settings: settings, now: try at(0))
        #expect(monitor.receive(try packet(36, rssi: -71, at: 1)) == [])
        #expect(monitor.receive(try packet(36, rssi: 127, at: 2)) == [])
        #expect(monitor.receive(try packet(36, rssi: -70, at: 3)).count == 2)
        #expect(monitor.receive(try packet(36, rssi: -99, at: 12)) == [])
        #expect(try ticks(&monitor, 13...22) == [])
        #expect(try ticks(&monitor, 23...23).count == 2)
    }

    @Test("BE-11: after the machine slept nothing is left before a whole scan window has passed")
    func sleep() throws {
        var monitor = RegionMonitor([everyone], now: try at(0))
        _ = monitor.receive(try packet(36, at: 1))
        #expect(try ticks(&monitor, 2...5) == [])
        #expect(try ticks(&monitor, 3_600...3_609) == [])
        #expect(monitor.receive(try packet(36, at: 3_609.5)) == [])
        #expect(try ticks(&monitor, 3_610...3_619) == [])
        #expect(try ticks(&monitor, 3_620...3_620).contains(.exited(everyone, at: try at(3_620))))

        var alone = RegionMonitor([everyone], now: try at(0))
        _ = alone.receive(try packet(36, at: 1))
        #expect(try ticks(&alone, 2...5) == [])
        #expect(try ticks(&alone, 3_600...3_609) == [])
        #expect(try ticks(&alone, 3_610...3_610).contains(.exited(everyone, at: try at(3_610))))
    }

    @Test("BE-11: a clock that is set back neither keeps a device inside for ever nor exits a region")
    func clockSetBack() throws {
        var monitor = RegionMonitor([everyone], now: try at(10_000))
        _ = monitor.receive(try packet(36, at: 10_001))
        #expect(try ticks(&monitor, 10_002...10_005) == [])
        #expect(try ticks(&monitor, 100...109) == [])
        #expect(try ticks(&monitor, 110...110).contains(.exited(everyone, at: try at(110))))
    }

    @Test("BE-11: what was inside is kept over a restart and left when nothing is heard for a scan window")
    func persistence() throws {
        var monitor = RegionMonitor([everyone, desk], now: try at(0))
        _ = monitor.receive(try packet(36, at: 1))
        _ = monitor.tick(at: try at(2))
        let data = try JSONEncoder().encode(monitor.saved(at: try at(2)))
        let state = try JSONDecoder().decode(RegionMonitor.SavedState.self, from: data)
        #expect(state == monitor.saved(at: try at(2)))
        #expect(state.inside.map(\.region) == [everyone])
        #expect(state.inside.first?.lastSeen == (try at(1)))

        var restored = RegionMonitor([everyone, desk], restoring: state, now: try at(9))
        #expect(restored.state(of: everyone) == .inside)
        #expect(restored.expired == [])
        #expect(try ticks(&restored, 9...18) == [])
        #expect(try ticks(&restored, 19...19) == [.exited(everyone, at: try at(19))])

        var heard = RegionMonitor([everyone, desk], restoring: state, now: try at(9))
        #expect(heard.receive(try packet(36, at: 10)) == [.appeared(identity(36), at: try at(10))])
    }

    @Test("BE-11: what was inside too long ago, or at a time to come, has expired at the start without an event")
    func expiry() throws {
        var monitor = RegionMonitor([everyone], now: try at(1_000))
        _ = monitor.receive(try packet(36, at: 1_001))
        let state = monitor.saved(at: try at(1_001))
        for start in [1_011.1, 999] {
            var restored = RegionMonitor([everyone], restoring: state, now: try at(start))
            #expect(restored.expired == [everyone])
            #expect(restored.state(of: everyone) == .unknown)
            #expect(try (1...60).flatMap { restored.tick(at: try at(start + Double($0))) } == [])
        }
    }

    @Test("BE-11: more regions than iOS allows are monitored with a notice")
    func manyRegions() throws {
        func regions(_ count: Int) -> [Region] {
            (0..<count).map { Region("\($0)", .proximity(uuid: nil, major: UInt16($0))) }
        }
        #expect(RegionMonitor(regions(20), now: try at(0)).notices == [])
        var many = RegionMonitor(regions(21), now: try at(0))
        #expect(many.notices == [.manyRegions(21)])
        #expect(many.receive(try packet(36, at: 1)).count == 2)
        #expect(RegionMonitor([desk, desk], now: try at(0)).regions == [desk])
    }

    @Test("BE-11: a flood of invented beacons stays bounded, and the region is entered and left once")
    func flood() throws {
        var settings = RegionMonitor.Settings.foreground
        settings.capacity = 32
        var monitor = RegionMonitor([everyone], settings: settings, now: try at(0))
        var present: Set<BeaconIdentity> = []
        var most = 0
        var borders: [RegionEvent] = []
        func take(_ events: [RegionEvent]) {
            for event in events {
                switch event {
                case .appeared(let beacon, _): #expect(present.insert(beacon).inserted)
                case .disappeared(let beacon, _): #expect(present.remove(beacon) != nil)
                case .entered, .exited: borders.append(event)
                }
                most = max(most, present.count)
            }
        }
        for minor in 1...2_000 as ClosedRange<UInt16> {
            take(monitor.receive(try packet(minor, at: Double(minor) / 1_000)))
        }
        for second in 3...20 { take(monitor.tick(at: try at(Double(second)))) }
        #expect(most <= 32)
        #expect(present.isEmpty)
        #expect(borders == [.entered(everyone, by: identity(1), at: try at(0.001)), .exited(everyone, at: try at(13))])
    }

    @Test(
        "BE-11: entering is told at the packet, leaving at a tick, and the state is given to keep at each tick and at the end"
    )
    func events() async throws {
        let clock = ManualClock(try at(0))
        let packets = ScriptedPackets()
        let (saved, keep) = AsyncStream.makeStream(of: RegionMonitor.SavedState.self)
        let sequence = RegionEvents(
            of: packets, monitor: RegionMonitor([everyone], now: try at(0)), time: clock.time, save: { keep.yield($0) })
        var events = sequence.makeAsyncIterator()
        let script = Task {
            await packets.send([try packet(36, at: 0.5)])
            await clock.sleeper()
            for _ in 1...11 { await clock.advance(by: .seconds(1)) }
            await clock.sleeper()
            packets.end()
        }
        #expect(try await events.next() == .entered(everyone, by: identity(36), at: try at(0.5)))
        #expect(try await events.next() == .appeared(identity(36), at: try at(0.5)))
        #expect(try await events.next() == .disappeared(identity(36), at: try at(11)))
        #expect(try await events.next() == .exited(everyone, at: try at(11)))
        #expect(try await events.next() == nil)
        try await script.value
        keep.finish()
        var states: [RegionMonitor.SavedState] = []
        for await state in saved { states.append(state) }
        #expect(states.count == 12)
        #expect(states.first?.inside.count == 1 && states.last?.inside.isEmpty == true)
    }
}
