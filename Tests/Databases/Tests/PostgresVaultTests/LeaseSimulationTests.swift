import Foundation
import Testing

@testable import PostgresVault

/// `LEASE_SCHEDULES=1000000 swift test -c release --filter LeaseSimulationTests` runs a million.
@Suite("Leases in simulated time")
struct LeaseSimulationTests {
    private static var schedules: Int {
        ProcessInfo.processInfo.environment["LEASE_SCHEDULES"].flatMap { Int($0) } ?? 2_000
    }

    /// Where all schedules run, one after the other: the runtime's few threads are for the tests that wait for servers meanwhile.
    private static let computing = DispatchQueue(label: "schedules")

    private func run(_ count: Int, defect: LeaseSimulation.Defect? = nil) async -> (
        sum: LeaseSimulation.Outcome, stuck: [UInt64]
    ) {
        await withCheckedContinuation { continuation in
            Self.computing.async {
                var sum = LeaseSimulation.Outcome()
                var stuck: [UInt64] = []
                for seed in 0..<UInt64(count) {
                    var simulation = LeaseSimulation(seed: seed, defect: defect)
                    let outcome = simulation.run()
                    sum += outcome
                    if !outcome.progressed { stuck.append(seed) }
                }
                continuation.resume(returning: (sum, stuck))
            }
        }
    }

    @Test(
        "no schedule of delays, stalls, crashes, outages and jumps sends a token twice for another reason than the guide names"
    )
    func schedules() async {
        let (sum, stuck) = await run(Self.schedules)
        print(
            "\(Self.schedules) schedules: \(sum.sends) sends, \(sum.takeovers) takeovers, \(sum.refused) writes refused; sent twice after "
                + "a crash or an answer that never came \(sum.afterLostAnswer), after a stall \(sum.afterStall); stored, and followed by another one's before that was known \(sum.followed)"
        )
        #expect(sum.unexplained == 0 && sum.overwritten == 0)
        #expect(stuck.isEmpty)
        #expect(sum.sends > 5 * Self.schedules && sum.takeovers > Self.schedules / 10 && sum.refused > 0)
        #expect(sum.afterLostAnswer > 0 && sum.afterStall > 0 && sum.followed > 0)
    }

    @Test("the simulation notices what is broken on purpose", arguments: LeaseSimulation.Defect.allCases)
    func defects(_ defect: LeaseSimulation.Defect) async {
        let (sum, _) = await run(max(Self.schedules, 2_000), defect: defect)
        #expect(sum.unexplained + sum.overwritten > 0)
    }
}
