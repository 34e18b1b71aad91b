import Beacons
import Foundation
import Handshake
import Nearby
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

    static func run() async throws -> [Figure] {
        let load = try PeopleLoad()
        return [
            Figure(
                "watched, listed and logged", "% of a core", .atMost(5),
                samples: try await samples(9, warmUp: 1) { try await load.watch() })
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
