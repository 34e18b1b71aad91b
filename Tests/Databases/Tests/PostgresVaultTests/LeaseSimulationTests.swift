import Foundation
import Testing

@testable import PostgresVault

/// `LEASE_SCHEDULES=1000000 swift test -c release -Xswiftc -enable-testing --filter LeaseSimulationTests` runs a million of each kind.
@Suite("Leases in simulated time")
struct LeaseSimulationTests {
    private static var schedules: Int {
        ProcessInfo.processInfo.environment["LEASE_SCHEDULES"].flatMap { Int($0) } ?? 1_000
    }

    /// Schedules that found what the first thousand do not (`vault-lease.md` 5).
    private static let furtherSeeds: [UInt64] = [8_212, 92_540]

    /// One schedule that was told from the beginning to its violation.
    struct Report: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs schedules, on a thread of their own: the runtime's few are for the tests that wait for servers meanwhile.
    ///
    /// - Throws: ``Report`` of the first schedule with a violation.
    private func run(
        _ kind: LeaseSimulation.Kind, _ count: Int, defect: LeaseSimulation.Defect? = nil
    ) async throws -> LeaseSimulation.Outcome {
        try await PostgresServer.blocking {
            let statements = try LeaseStatements()
            var sum = LeaseSimulation.Outcome()
            for seed in Array(0..<UInt64(count)) + Self.furtherSeeds.filter({ $0 >= count }) {
                var simulation = LeaseSimulation(seed: seed, kind, statements, defect: defect)
                sum += simulation.run()
                guard !simulation.violations.isEmpty else { continue }
                var told = LeaseSimulation(seed: seed, kind, statements, defect: defect, isTold: true)
                _ = told.run()
                let events = told.schedule?.suffix(60).joined(separator: "\n") ?? ""
                throw Report(description: "seed \(seed) of \(kind.rawValue):\n\(events)")
            }
            return sum
        }
    }

    @Test(
        "no schedule of delays, stalls, crashes, outages and jumps sends a token twice for another reason than the guide names",
        arguments: LeaseSimulation.Kind.allCases)
    func schedules(_ kind: LeaseSimulation.Kind) async throws {
        let start = ContinuousClock.now
        let sum = try await run(kind, Self.schedules)
        print(
            "\(kind.rawValue): \(Self.schedules) schedules in \(start.duration(to: .now)): \(sum)"
        )
        #expect(sum.sends > 2 * Self.schedules && sum.takeovers > Self.schedules / 10)
        #expect(sum.refused > 0 && sum.followed > 0 && sum.kept > 0 && sum.late > 0)
        let repeated = [sum.afterCrash, sum.afterLostAnswer, sum.afterStall, sum.afterHeldAnswer]
        #expect(repeated.allSatisfy { ($0 > 0) == (kind != .sendsOnce) })
        #expect((sum.ended > 0) == (kind == .sendsOnce))
    }

    @Test("the simulation notices what is broken on purpose", arguments: LeaseSimulation.Defect.allCases)
    func defects(_ defect: LeaseSimulation.Defect) async throws {
        let report = await #expect(throws: Report.self) {
            try await run(.repeats, max(Self.schedules, 2_000), defect: defect)
        }
        #expect(report.map { "\($0)".contains("VIOLATION") && "\($0)".contains("seed") } == true)
    }
}
