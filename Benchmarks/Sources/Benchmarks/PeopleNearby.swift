import Beacons
import Foundation
import Handshake
import Nearby
import Radio
import Synchronization

extension Benchmark {
    static let peopleNearby = Benchmark(
        name: "people-nearby",
        summary: "500 members in range, of 10,000 whose keys are known, each heard twice a second",
        run: { _ in try await PeopleLoad.run() })
}

/// Time is simulated; what is measured is the processor time that a simulated second takes, from the packet to the list and the log.
private struct PeopleLoad {
    private static let members = 10_000
    private static let inRange = 500
    private static let seconds = 60
    private static let window = RollingWindow(number: 1_963_600)

    private let recognition: Recognition
    private let data: [AdvertisingData]
    /// All packets, as a radio that is in memory reads them.
    private let recording: [UInt8]

    static func run() async throws -> [Figure] {
        let load = try PeopleLoad()
        return [
            Figure(
                "watched, listed and logged", "% of a core", .atMost(5),
                samples: try await samples(9, warmUp: 1) { try await load.watch() }),
            Figure(
                "the same over a radio, whose packets are read from lines", "% of a core", .atMost(5),
                samples: try await samples(9, warmUp: 1) { try await load.watchOverRadio() }),
        ]
    }

    private init() throws {
        let seeds = (0..<Self.members).map { _ in RollingSeed.random() }
        var recognition = Recognition()
        let keys = try seeds.enumerated().map {
            (try UserNumber($0.offset + 1), $0.element.dayKey(for: Self.window.day))
        }
        recognition.add(keys, trust: .circle)
        self.recognition = recognition
        data = try seeds.prefix(Self.inRange).map { seed in
            try AdvertisingData([.service(RollingUUID(seed.token(in: Self.window)))])
        }
        recording = Self.lines(data)
    }

    private static func lines(_ data: [AdvertisingData]) -> [UInt8] {
        let begin = window.start.advanced(by: .seconds(300)).secondsSince1970
        let members = data.enumerated().map { member, data in
            let digits = data.bytes.map { String(format: "%02x", $0) }.joined()
            let address = String(format: "C0:00:00:00:%02X:%02X", member / 256, member % 256)
            return #""addr":"\#(address)","type":"random","rssi":\#(-40 - member % 50),"ad":"\#(digits)"}"#
        }
        var text = ""
        for half in 0..<seconds * 2 {
            for (member, rest) in members.enumerated() {
                let time = begin + Double(half) / 2 + Double(member) / 1_000
                text += "{\"t\":\(String(format: "%.3f", time)),\(rest)\n"
            }
        }
        return Array(text.utf8)
    }

    private var replay: RecordingReplay { RecordingReplay(.lines(recording), pace: .immediate) }

    /// The share of a core over a radio: as `watch` does, packets are recognised before they are ranged.
    private func watchOverRadio() async throws -> Double {
        let replay = self.replay
        let people = PeopleNearby(
            log: EncounterLog(in: MemoryVault(), community: "benchmark"), ignoring: nil, alerts: NoAlerts(),
            pace: .recorded, clock: replay.time.clock
        ) { person, _ in .known(Person(name: "Member \(person)")) }
        let most = Mutex(0)
        let start = processorSeconds()
        try await people.run(
            over: replay, recognizing: recognition, time: replay.time, radioEvent: { _ in },
            report: { update in
                if case .people(let near) = update { most.withLock { $0 = max($0, near.count) } }
            })
        let share = (processorSeconds() - start) / Double(Self.seconds) * 100
        guard most.withLock(\.self) == Self.inRange else {
            throw Failure("\(most.withLock(\.self)) people were listed over a radio")
        }
        return share
    }

    /// The share of a core, of a minute in which everyone is near.
    private func watch() async throws -> Double {
        let begin = Self.window.start.advanced(by: .seconds(300))
        let updates = AsyncStream.makeStream(of: RangingUpdate.self)
        let people = PeopleNearby(
            log: EncounterLog(in: MemoryVault(), community: "benchmark"), ignoring: nil, alerts: NoAlerts(),
            pace: .recorded
        ) { person, _ in .known(Person(name: "Member \(person)")) }
        let most = Mutex(0)
        let start = processorSeconds()
        var settings = Ranging.Settings([.rollingService])
        settings.filter = .quick
        var ranging = Ranging(settings)
        for second in 0..<Self.seconds {
            for half in 0..<2 {
                for (member, data) in data.enumerated() {
                    let time = begin.advanced(by: .milliseconds(second * 1_000 + half * 500 + member))
                    ranging.receive(
                        Advertisement(time: time, address: nil, rssi: RSSI(-40 - member % 50), data: data))
                }
            }
            updates.continuation.yield(ranging.tick(at: begin.advanced(by: .seconds(second + 1))))
        }
        updates.continuation.finish()
        let lists = SightingLists(of: updates.stream, recognition: recognition) { begin.duration(to: $0) }
        try await people.run(on: lists) { update in
            if case .people(let near) = update { most.withLock { $0 = max($0, near.count) } }
        }
        let share = (processorSeconds() - start) / Double(Self.seconds) * 100
        guard most.withLock(\.self) == Self.inRange else {
            throw Failure("\(most.withLock(\.self)) people were listed")
        }
        return share
    }

    private struct NoAlerts: Alerts {
        func show(_ alert: Alert) async {}
        func show(_ crowd: CrowdAlert) async {}
    }
}
