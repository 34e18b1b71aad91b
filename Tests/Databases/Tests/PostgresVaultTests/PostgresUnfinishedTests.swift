import Foundation
import Handshake
import TestFixtures
import Testing

@testable import PostgresVault

@Suite(
    "Records of a PostgreSQL vault whose journal no process follows up", .heavy,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresUnfinishedTests {
    private let folder: PostgresFolder
    private let vault: PostgresVault

    init() async throws {
        folder = try await PostgresFolder()
        vault = try await folder.vault()
    }

    /// Leaves a journal without an outcome, as a process does that got no answer. Its lease is released.
    private func leave(_ key: VaultKey, journal: [UInt8] = [1]) async throws {
        try await vault.update(key) { try await $0.journal(journal) }
    }

    /// As if so many seconds had passed by the server's clock.
    private func pass(seconds: Int) async throws {
        try await folder.edit(
            "UPDATE @.lease SET due_at = due_at - interval '\(seconds) s', until = until - interval '\(seconds) s'")
    }

    private func claim(_ kind: VaultKey.Kind = .account) async throws -> [VaultKey] {
        let listing = try #require(try await vault.claimUnfinished(of: kind))
        #expect(listing.damaged.isEmpty)
        return listing.keys
    }

    @Test("a journal that no replacement follows is handed out after 30 s, to one caller, and again after 40 s at most")
    func released() async throws {
        try await leave(.alice)
        try await leave(VaultKey(.signIn, ["state"]))
        try await vault.put([1], under: .bob)
        try await pass(seconds: 10)
        #expect(try await claim() == [])
        try await pass(seconds: 21)
        #expect(try await claim() == [.alice])
        #expect(try await claim(.signIn) == [VaultKey(.signIn, ["state"])])
        #expect(try await vault.record(.alice) == [1])
        #expect(try await claim() == [])
        try await pass(seconds: 41)
        #expect(try await claim() == [.alice])
    }

    @Test(
        "a record that is replaced or removed after its journal is not handed out",
        arguments: [true, false])
    func finished(isRemoved: Bool) async throws {
        try await leave(.alice)
        if isRemoved { try await vault.remove(.alice) } else { try await vault.put([2], under: .alice) }
        try await pass(seconds: 60)
        #expect(try await claim() == [])
        try await leave(.alice)
        try await vault.update(.alice) { record in
            try await record.journal([1])
            if isRemoved { try await record.remove() } else { try await record.replace(with: [2]) }
        }
        try await pass(seconds: 60)
        #expect(try await claim() == [])
    }

    @Test("a record whose lease has long to run is not handed out, and one whose lease ends within the observation is")
    func held() async throws {
        // No renewal comes by itself meanwhile.
        let timing = LeaseTiming(unchecked: .seconds(45), renewal: .seconds(600), observation: .seconds(12))
        try await folder.place.open(timing: timing).update(.alice) { record in
            try await record.journal([1])
            try await folder.edit("UPDATE @.lease SET due_at = due_at - interval '31 s'")
            #expect(try await claim() == [])
            // 11 s are left of the lease.
            try await folder.edit("UPDATE @.lease SET until = until - interval '34 s'")
            #expect(try await claim() == [.alice])
        }
    }

    @Test("a rotation of keys leaves a journal as it is")
    func rotated() async throws {
        try await leave(.alice)
        #expect(try await vault.rotateKey().resealed == 1)
        try await pass(seconds: 31)
        #expect(try await claim() == [.alice])
    }

    @Test("what a caller has no use for is handed out to the next one, after what waits longer")
    func returned() async throws {
        try await leave(.alice)
        try await pass(seconds: 31)
        #expect(try await claim() == [.alice])
        try await vault.returnUnfinished([.alice, .bob])
        #expect(try await claim() == [.alice])
        #expect(try await claim() == [])
        // It came back, so that no other caller has a use for it either.
        try await vault.returnUnfinished([.alice])
        #expect(try await claim() == [])
    }

    @Test("what was given back lately is not given back again, and is a minute later")
    func givenBack() {
        let (names, start) = (GivenBack(), ContinuousClock.now)
        #expect(names.note([[1], [2]], at: start) == [[1], [2]])
        #expect(names.note([[2], [3]], at: start.advanced(by: .seconds(59))) == [[3]])
        #expect(names.note([[2], [3]], at: start.advanced(by: .seconds(60))) == [[2]])
    }

    @Test("a record whose key one machine lacks is handed out to another one")
    func locked() async throws {
        let other = PostgresPlace(
            connection: folder.place.connection, schema: folder.place.schema, parent: folder.place.parent + "/other")
        try FileManager.default.createDirectory(atPath: other.parent, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: folder.place.keys, toPath: other.keys)
        let without = try await other.open()
        _ = try await vault.rotateKey()
        try await leave(.alice)
        try await pass(seconds: 31)
        let listing = try #require(try await without.claimUnfinished(of: .account))
        #expect(listing.keys.isEmpty && listing.damaged.map(\.code) == ["vault_locked"])
        #expect(try await claim() == [.alice])
    }

    @Test("several callers share the records, each of which goes to one of them")
    func shared() async throws {
        let keys = (0..<450).map { VaultKey(.account, ["\($0)"]) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<8 {
                group.addTask {
                    for index in keys.indices where index % 8 == part { try await leave(keys[index]) }
                }
            }
            try await group.waitForAll()
        }
        try await pass(seconds: 31)
        let claimed = try await withThrowingTaskGroup(of: [VaultKey].self) { group in
            for _ in 0..<6 { group.addTask { try await claim() } }
            return try await group.reduce(into: [[VaultKey]]()) { $0.append($1) }
        }
        #expect(claimed.allSatisfy { $0.count <= PostgresStore.claimSize })
        var all = claimed.flatMap(\.self)
        // Callers at the same moment may leave some, which the next one gets.
        while true {
            let rest = try await claim()
            if rest.isEmpty { break }
            all += rest
        }
        #expect(all.count == keys.count && Set(all) == Set(keys))
    }

    @Test("the question reads an index, and of it what is due, however many leases there are")
    func index() async throws {
        try await folder.edit(
            """
            INSERT INTO @.lease (name, fence, beat, until, taken, wanted, version, lane, due_at)
            SELECT gen_random_uuid(), 1, 1, now(), false, 0, 1, 0, now() + interval '1 hour' FROM generate_series(1, 20000)
            """, "ANALYZE @.lease")
        let question = vault.store.sql.claim.sql.replacingOccurrences(of: "$1", with: "12000")
            .replacingOccurrences(of: "$2", with: "'account'")
        let plan = try await folder.edit("EXPLAIN " + question).map { try $0.text(0) }.joined(separator: "\n")
        #expect(plan.contains("lease_due") && !plan.contains("Seq Scan on lease"))
        // Those that are postponed are not read.
        #expect(plan.contains(/Index Cond: .*due_at <=/), "\(plan)")
    }

    @Test(
        "a lease counts as abandoned when the next holder has it at its end, and never when a renewal is late",
        arguments: [(45, 5, 12, 12), (58, 14, 30, 16), (45, 5, 45, 30), (300, 100, 202, 0)])
    func lookahead(lease: Int, renewal: Int, observation: Int, expected: Int) throws {
        let timing = try LeaseTiming(
            lease: .seconds(lease), renewal: .seconds(renewal), observation: .seconds(observation))
        #expect(timing.lookahead == .seconds(expected))
    }
}
