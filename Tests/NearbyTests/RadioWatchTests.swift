import Beacons
import Handshake
import Nearby
import Radio
import Synchronization
import Testing

@Suite("Watching over a radio")
struct RadioWatchTests {
    private struct Broken: Error {}

    /// A recording that fails to send.
    private struct MuteRadio: Radio {
        let replay: RecordingReplay
        let error: any Error

        func scan(for interest: ScanInterest) -> Scan { replay.scan(for: interest) }

        func advertise<Source: AsyncSequence & Sendable>(
            _ broadcasts: Source, status: @escaping @Sendable (RadioStatus) -> Void
        ) async throws where Source.Element == Broadcast {
            throw error
        }
    }

    private struct Silence: Alerts {
        func show(_ alert: Alert) async {}
        func show(_ crowd: CrowdAlert) async {}
    }

    /// What was shown.
    private final class Board: Alerts {
        let alerts = Mutex<[Alert]>([])

        func show(_ alert: Alert) async { alerts.withLock { $0.append(alert) } }
        func show(_ crowd: CrowdAlert) async {}
    }

    /// What an attacker keeps sending, so that it holds a place.
    enum Invention: CaseIterable {
        case identifiers, numbers

        func data(_ index: Int) throws -> AdvertisingData {
            switch self {
            case .identifiers:
                let token = RollingToken(high: .random(in: 0 ... .max), low: UInt64(index))
                return try AdvertisingData(services: [RollingUUID(token)])
            case .numbers:
                let beacon = IBeacon(uuid: .secretHandshake, major: 1, minor: UInt16(1_000 + index), power: -59)
                return try AdvertisingData([beacon.structure])
            }
        }
    }

    @Test(
        "CI47: 4,096 inventions that are sent again before each falls silent keep no member from the list",
        arguments: Invention.allCases)
    func held(by invention: Invention) async throws {
        let begin = 1_767_225_600.0
        let seed = try RollingSeed(revealed: (0..<32).map { UInt8($0) })
        let key = seed.dayKey(for: RollingDay(number: 20_454))
        func line(_ second: Double, _ data: AdvertisingData, _ strength: Int) -> (Double, String) {
            let digits = data.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return (second, #"{"t":\#(begin + 100 + second),"rssi":\#(strength),"ad":"\#(digits)"}"#)
        }
        var lines: [(Double, String)] = []
        for index in 0..<4_096 {
            let data = try invention.data(index)
            for round in 0..<4 { lines.append(line(4.5 * (Double(round) + Double(index) / 4_096), data, -40)) }
        }
        let window = try RollingWindow(at: try #require(Timestamp(secondsSince1970: begin + 100)))
        let member = try AdvertisingData(services: [RollingUUID(try #require(key.token(in: window)))])
        for second in 10..<18 { lines.append(line(Double(second), member, -60)) }
        let text = lines.sorted { $0.0 < $1.0 }.map(\.1).joined(separator: "\n")
        let replay = RecordingReplay(.lines(Array(text.utf8)), pace: .immediate)
        let log = EncounterLog(in: MemoryVault(), community: "c", rules: EncounterRules(retention: nil))
        let board = Board()
        let people = PeopleNearby(
            log: log, ignoring: nil, alerts: board, pace: .recorded, clock: replay.time.clock
        ) { _, _ in .unreachable }
        var recognition = Recognition()
        recognition.add([(person(759), key)], trust: .circle)
        let near = Mutex<Set<UserNumber>>([])
        let full = Mutex<Set<Trust>>([])
        try await people.run(
            over: replay, recognizing: recognition, time: replay.time, radioEvent: { _ in },
            report: { update in
                if case .people(let people) = update { near.withLock { $0.formUnion(people.map(\.person)) } }
                if case .full(let kind, _, _) = update { _ = full.withLock { $0.insert(kind) } }
            })
        #expect(near.withLock { $0.contains(person(759)) })
        #expect(board.alerts.withLock { $0.map(\.person) } == [person(759)], "no invention is announced alone")
        #expect(full.withLock(\.self) == (invention == .numbers ? [.unverified] : []))
    }

    @Test(
        "BE-17: advertising that fails ends neither the scan nor the log, and is told",
        arguments: [
            (RadioError.noFreeInstance, RadioError.noFreeInstance),
            (Broken(), RadioError.refused(operation: "sending", reason: "Broken()")),
        ] as [(any Error, RadioError)])
    func advertisingFails(error: any Error, told: RadioError) async throws {
        let data = try AdvertisingData([
            IBeacon(uuid: .secretHandshake, major: 1, minor: 759, power: -59).structure
        ])
        let digits = data.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let lines = (0..<20).map { #"{"t":\#(1_000_000 + $0),"rssi":-61,"ad":"\#(digits)"}"# }
        let replay = RecordingReplay(.lines(Array(lines.joined(separator: "\n").utf8)), pace: .immediate)
        let log = EncounterLog(in: MemoryVault(), community: "c", rules: EncounterRules(retention: nil))
        let people = PeopleNearby(
            log: log, ignoring: nil, alerts: Silence(), pace: .recorded, clock: replay.time.clock
        ) { _, _ in .unreachable }
        let failures = Mutex<[RadioError]>([])
        try await people.run(
            over: MuteRadio(replay: replay, error: error), recognizing: Recognition(),
            sending: Broadcasts(constant: data), time: replay.time,
            radioEvent: { event in
                if case .sendingFailed(let error) = event { failures.withLock { $0.append(error) } }
            }, report: { _ in })
        #expect(failures.withLock(\.self) == [told])
        #expect(try await log.contents(at: 1_000_020).people.map(\.person) == [person(759)])
    }
}
