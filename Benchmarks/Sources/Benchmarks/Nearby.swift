import AirTraffic
import Beacons
import Foundation

extension Benchmark {
    static let advertisements = Benchmark(
        name: "advertisements", summary: "advertisements of a busy room that are parsed and classified, by one thread",
        run: { _ in try await Advertisements.run() })

    static let ranging = Benchmark(
        name: "ranging", summary: "2,000 beacons that send ten times a second each, and a list of them once a second",
        run: { _ in try await RangingLoad.run() })

    static let rollingIdentifiers = Benchmark(
        name: "rolling-identifiers", summary: "rolling identifiers looked up among 10,000 members, by one thread",
        run: { _ in try await RollingIdentifiers.run() })
}

/// The time is the process's own on the processor; all is done by one thread.
private enum Advertisements {
    static func run() async throws -> [Figure] {
        let traffic = try AirTraffic(16_384)
        let rounds = 32
        let rates = try await samples(25, warmUp: 3) {
            var beacons = 0
            let start = processorSeconds()
            for _ in 0..<rounds { beacons += traffic.classify() }
            let time = processorSeconds() - start
            guard beacons == rounds * traffic.beacons else { throw Failure("not every beacon was found") }
            return Double(rounds * traffic.ranges.count) / time
        }
        let figure = Figure("parsed and classified", "a second", .atLeast(5_000_000), samples: rates)
        let counts = try await samples(3, warmUp: 0) { try await blocking { try countAllocations() } }
        guard counts.allSatisfy({ $0[1] >= 0 }) else { return [figure] }
        return [
            figure,
            Figure("allocations, in \(Int(counts[0][0])) of them", "", .exactly(0), samples: counts.map { $0[1] }),
            Figure("the same, each copied into an array", "", samples: counts.map { $0[2] }),
        ]
    }

    /// Runs the program beside this one that counts, and takes the numbers that it prints.
    private static func countAllocations() throws -> [Double] {
        let counter = URL(filePath: ChildProcess.ourselves).deletingLastPathComponent().path() + "frame-allocations"
        let child = try ChildProcess(counter, [])
        let numbers = child.readLine()?.split(separator: " ").compactMap { Double($0) } ?? []
        guard child.wait().status == 0, numbers.count == 3 else { throw Failure("frame-allocations failed") }
        return numbers
    }
}

/// Time is simulated; what is measured is the processor time that a simulated second takes.
private struct RangingLoad {
    private static let beacons = 2_000
    private static let perSecond = 10

    /// One packet of each beacon in each of ten rounds: the times are added when they are sent.
    private let rounds: [[(rssi: RSSI?, data: AdvertisingData)]]

    static func run() async throws -> [Figure] {
        let load = try RangingLoad()
        return [
            try await load.figure("running average of 20 s", .atMost(5), .standard),
            try await load.figure("running average of 5 s", nil, .quick),
            try await load.figure("moving average", nil, .autoregressive(AutoregressiveAverage())),
            Figure(
                "the packets alone, through RangingUpdates", "% of a core", .atMost(5),
                samples: try await samples(9) { try await load.stream(seconds: 5) }),
        ]
    }

    private init() throws {
        var rounds: [[(rssi: RSSI?, data: AdvertisingData)]] = []
        for round in 0..<Self.perSecond {
            rounds.append(
                try (1...Self.beacons).map { number in
                    let beacon = IBeacon(uuid: .secretHandshake, major: 1, minor: UInt16(number))
                    let data = try AdvertisingData([.flags(0x1A), beacon.structure])
                    return (RSSI(-40 - (number * 7 + round * 13) % 60), data)
                })
        }
        self.rounds = rounds
    }

    private func figure(_ what: String, _ reach: Reach?, _ filter: RSSIFilter) async throws -> Figure {
        var settings = Ranging.Settings([.proximity(uuid: .secretHandshake)])
        settings.filter = filter
        var ranging = Ranging(settings)
        // Until the averages are over as many samples as they ever will be.
        for second in 0..<25 { try simulate(&ranging, second) }
        var second = 25
        let shares = try await samples(25, warmUp: 1) {
            let start = processorSeconds()
            for _ in 0..<4 {
                try simulate(&ranging, second)
                second += 1
            }
            return (processorSeconds() - start) / 4 * 100
        }
        return Figure(what, "% of a core", reach, samples: shares)
    }

    private func packet(_ round: Int, _ number: Int, second: Int) -> Advertisement {
        let time = Timestamp(clampingMicroseconds: Int64(second) * 1_000_000 + Int64(round) * 100_000 + Int64(number))
        let (rssi, data) = rounds[round][number]
        return Advertisement(time: time, address: nil, rssi: rssi, data: data)
    }

    private func simulate(_ ranging: inout Ranging, _ second: Int) throws {
        for round in rounds.indices {
            for number in rounds[round].indices { ranging.receive(packet(round, number, second: second)) }
        }
        let update = ranging.tick(at: Timestamp(clampingMicroseconds: Int64(second + 1) * 1_000_000))
        guard update.beacons.count == Self.beacons else { throw Failure("not every beacon is in range") }
    }

    /// The packets of some seconds through the sequence, as fast as it takes them; the ticks are far away.
    private func stream(seconds: Int) async throws -> Double {
        let source = AsyncStream { continuation in
            for second in 0..<seconds {
                for round in rounds.indices {
                    for number in rounds[round].indices { continuation.yield(packet(round, number, second: second)) }
                }
            }
            continuation.finish()
        }
        let last = Timestamp(clampingMicroseconds: Int64(seconds) * 1_000_000)
        let time = ScanTime(now: { last }, clock: ContinuousClock())
        let start = processorSeconds()
        for try await update in RangingUpdates(of: source, every: .seconds(3_600), time: time) {
            guard update.beacons.count == Self.beacons else { throw Failure("not every beacon is in range") }
        }
        return (processorSeconds() - start) / Double(seconds) * 100
    }
}

/// Members are numbers; each has a seed of its own and has shared the day's key.
private struct RollingIdentifiers {
    private static let members = 10_000
    private static let window = RollingWindow(number: 1_963_600)

    private let seeds: [RollingSeed]
    private let now: Timestamp

    static func run() async throws -> [Figure] {
        let benchmark = RollingIdentifiers()
        var resolver = RollingResolver<Int>()
        for (member, seed) in benchmark.seeds.enumerated() { resolver.add(seed.dayKey(for: window.day), of: member) }
        let empty = resolver
        let preparing = try await samples(9) {
            resolver = empty
            let start = processorSeconds()
            try resolver.prepare(for: benchmark.now)
            return (processorSeconds() - start) * 1e3
        }
        let prepared = resolver
        let tokens = benchmark.seeds.map { $0.token(in: window) }
        let strangers = tokens.map { RollingToken(high: ~$0.high, low: $0.low) }
        return [
            try await benchmark.figure("16 bytes of a member", .atMost(50), tokens) {
                try prepared.resolve($0, at: benchmark.now) != .unknown
            },
            try await benchmark.figure("16 bytes of a stranger", .atMost(50), strangers) {
                try prepared.resolve($0, at: benchmark.now) == .unknown
            },
            try await benchmark.figure("the service UUID of a member", .atMost(2), tokens) {
                try prepared.resolve(RollingUUID($0), at: benchmark.now) != .unknown
            },
            try await benchmark.figure("the service UUID of a stranger", .atMost(2), strangers) {
                try prepared.resolve(RollingUUID($0), at: benchmark.now) == .unknown
            },
            Figure("the tables of three windows, made", "ms", samples: preparing),
        ]
    }

    private init() {
        seeds = (0..<Self.members).map { _ in .random() }
        now = Self.window.start.advanced(by: .seconds(450))
    }

    private func figure(
        _ what: String, _ reach: Reach, _ tokens: [RollingToken], _ isRight: (RollingToken) throws -> Bool
    ) async throws -> Figure {
        let times = try await samples(25, warmUp: 3) {
            var right = 0
            let start = processorSeconds()
            for token in tokens where try isRight(token) { right += 1 }
            let time = processorSeconds() - start
            guard right == tokens.count else { throw Failure("an identifier was resolved wrongly") }
            return time / Double(tokens.count) * 1e6
        }
        return Figure(what, "µs", reach, samples: times)
    }
}
