import Beacons
import Radio
import Synchronization
import TestFixtures
import Testing

@Suite("What one tells the air, over time")
struct BroadcastsTests {
    /// 2026-01-01, the first window of the dossier's day (8.4).
    private static let start = Timestamp(clampingMicroseconds: 1_767_225_600_000_000)

    private func seed() throws -> RollingSeed { try RollingSeed(revealed: Array(0..<32)) }

    @Test("BE-22: a constant number is one iBeacon, and nothing after it")
    func constant() async throws {
        let mode = AdvertisingMode.static(
            try UserNumber(759), .secretHandshake, consent: .userAgreesToBeFollowedByStrangers)
        var broadcasts = try Broadcasts(mode, as: .iBeacon(.secretHandshake)).makeAsyncIterator()
        #expect(try await broadcasts.next() == .data(try AdvertisingData(received: Packets.iBeacon)))
        #expect(try await broadcasts.next() == nil)
    }

    @Test("a constant number has no other form")
    func form() throws {
        let mode = AdvertisingMode.static(
            try UserNumber(759), .secretHandshake, consent: .userAgreesToBeFollowedByStrangers)
        #expect(throws: RadioError.self) { try Broadcasts(mode, as: .serviceData(.eddystone)) }
    }

    @Test("BE-22: who only listens tells nothing")
    func scanOnly() async throws {
        var broadcasts = try Broadcasts(.scanOnly, as: .iBeacon(.secretHandshake)).makeAsyncIterator()
        #expect(try await broadcasts.next() == nil)
    }

    @Test("BE-20: a rolling identifier changes at the window's border, with the dossier's bytes")
    func rolling() async throws {
        let clock = ManualClock()
        let time = ScanTime(now: { Self.start.advanced(by: clock.now.offset) }, clock: clock)
        let broadcasts = try Broadcasts(
            .rolling(try seed()), as: .iBeacon(.secretHandshake), time: time, generator: Middle())
        let heard = Mutex<[Broadcast]>([])
        let listening = Task {
            for try await broadcast in broadcasts {
                heard.withLock { $0.append(broadcast) }
                if heard.withLock({ $0.count }) == 2 { return }
            }
        }
        // A window is 15 minutes; the clock is checked every minute.
        for minute in 1...15 {
            await clock.sleeper(of: .seconds(60))
            #expect(heard.withLock { $0.count } == 1, "in minute \(minute)")
            clock.advance(by: .seconds(60))
        }
        try await listening.value
        let expected = [
            "1aff4c0002153ee761a0f73711e3a3ac0800200c9a66b3fe9844c5",
            "1aff4c0002153ee761a0f73711e3a3ac0800200c9a6632c170d9c5",
        ].map { Packets.bytes($0) }
        #expect(heard.withLock { $0 } == (try expected.map { .data(try AdvertisingData(received: $0)) }))
    }

    @Test("CI1, CI2: the default form is a service UUID alone, which changes at the derived moment")
    func serviceUUID() async throws {
        let clock = HurriedClock()
        let time = ScanTime(now: { Self.start.advanced(by: clock.now.offset) }, clock: clock)
        var broadcasts = try Broadcasts(.rolling(try seed()), as: .serviceUUID, time: time).makeAsyncIterator()
        // Until 00:00:32 the last term of the day before is sent.
        _ = try await broadcasts.next()
        for (digits, second) in [("c9325c35eb6808ae7044fa9d4498feb3", 32), ("c7c2d2acd5db318d174608b4d970c132", 986)] {
            let expected = try AdvertisingData(received: Packets.bytes("1107" + digits))
            #expect(try await broadcasts.next() == .data(expected))
            #expect(clock.now.offset == .seconds(second))
        }
    }

    @Test("two circles in one advertisement take turns by term, with nothing from one's end to the other's begin")
    func turns() async throws {
        let clock = HurriedClock()
        let time = ScanTime(now: { Self.start.advanced(by: clock.now.offset) }, clock: clock)
        let seeds = [try seed(), try RollingSeed(revealed: Array(0x80...0x9F))]
        var broadcasts = Broadcasts(rolling: seeds, time: time).makeAsyncIterator()
        // From midnight on: the end of B's last term of the day before, then A 1963584, nothing, and B 1963585.
        _ = try await broadcasts.next()
        let expected: [(Broadcast, Int)] = [
            (.data(try AdvertisingData(received: Packets.bytes("1107c9325c35eb6808ae7044fa9d4498feb3"))), 32),
            (.silence, 986),
            (.data(try AdvertisingData(received: Packets.bytes("11070a2fd80b69ee34b1bb4b2fbafe401425"))), 1_178),
        ]
        for (broadcast, second) in expected {
            #expect(try await broadcasts.next() == broadcast)
            #expect(clock.now.offset == .seconds(second))
        }
    }

    @Test("in service data all 16 bytes are told")
    func serviceData() async throws {
        let time = ScanTime(now: { Self.start }, clock: ManualClock())
        var broadcasts = try Broadcasts(
            .rolling(try seed()), as: .serviceData(ServiceUUID(rawValue: 0xFCFC)), time: time
        ).makeAsyncIterator()
        let expected = Packets.bytes("1316fcfc" + "b3fe98449dfab4702e0868eb355c32c9")
        #expect(try await broadcasts.next() == .data(try AdvertisingData(received: expected)))
    }

    /// Chooses the middle of every range: no jitter.
    private struct Middle: RandomNumberGenerator {
        mutating func next() -> UInt64 { 1 << 63 }
    }
}
