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

    /// As if a vault had looked at all held leases for so many seconds.
    private func watch(_ vault: PostgresVault, seconds: Int) async throws {
        let looks = try await folder.edit("SELECT name, holder, fence, beat FROM @.lease WHERE holder IS NOT NULL").map
        {
            (
                name: try $0.uuid(0),
                look: LeaseObservation.Look(holder: try $0.uuid(1), fence: try $0.int(2), beat: try $0.int(3))
            )
        }
        let now = ContinuousClock.now
        for second in stride(from: seconds, through: 0, by: -2) {
            vault.watched.note(looks, at: now.advanced(by: .seconds(-second)))
        }
    }

    /// Leaves a journal under a lease that is not renewed, as a process does that was killed.
    private func dying(_ key: VaultKey, _ body: @Sendable () async throws -> Void) async throws {
        let timing = LeaseTiming(unchecked: .seconds(45), renewal: .seconds(600), observation: .seconds(12))
        try await folder.place.open(timing: timing).update(key) { record in
            try await record.journal([1])
            try await body()
        }
    }

    @Test("a record whose holder is gone is watched, and handed out when its lease has ended and was seen unchanged")
    func held() async throws {
        try await dying(.alice) {
            try await pass(seconds: 15)
            #expect(try await vault.claimUnfinished(of: .account)?.isWatching == false)
            try await pass(seconds: 16)
            // 14 s are left of the lease.
            let listing = try #require(try await vault.claimUnfinished(of: .account))
            #expect(listing.keys.isEmpty && listing.isWatching)
            try await watch(vault, seconds: 12)
            #expect(try await claim() == [])
            try await pass(seconds: 15)
            let other = try await folder.vault()
            #expect(try await other.claimUnfinished(of: .account)?.keys == [])
            #expect(try await claim() == [.alice])
        }
    }

    @Test("another vault that watched has the record 5 s after the one that got it, and once it is late after 30 s")
    func again() async throws {
        let other = try await folder.vault()
        try await dying(.alice) {
            try await pass(seconds: 46)
            for vault in [vault, other] { try await watch(vault, seconds: 12) }
            #expect(try await claim() == [.alice])
            #expect(try await other.claimUnfinished(of: .account)?.keys == [])
            try await pass(seconds: 6)
            #expect(try await other.claimUnfinished(of: .account)?.keys == [.alice])
            try await pass(seconds: 20)
            #expect(try await claim() == [.alice])
            try await pass(seconds: 20)
            #expect(try await other.claimUnfinished(of: .account)?.keys == [])
            try await pass(seconds: 21)
            #expect(try await other.claimUnfinished(of: .account)?.keys == [.alice])
        }
    }

    @Test("an update goes on from what its vault has watched, and otherwise waits")
    func goesOn() async throws {
        let watching = try await folder.place.open(timeout: .milliseconds(1))
        let other = try await folder.place.open(timeout: .milliseconds(1))
        try await dying(.alice) {
            try await pass(seconds: 46)
            try await watch(watching, seconds: 12)
            let error = await #expect(throws: VaultError.self) { try await other.update(.alice) { _ in } }
            #expect(error?.code == "vault_busy")
            #expect(try await watching.update(.alice) { await $0.contents } == [1])
        }
    }

    @Test("looks count while they are close together, and a lease that changed or was not looked at begins again")
    func looks() {
        let (watched, start) = (WatchedLeases(), ContinuousClock.now)
        let timing = LeaseTiming.standard
        func look(_ beat: Int64 = 1) -> LeaseObservation.Look { .init(holder: [1], fence: 1, beat: beat) }
        func at(_ second: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(second)) }
        for second in 0...11 { watched.note([([7], look())], at: at(second)) }
        #expect(watched.abandoned(at: at(11), timing).ending == [])
        watched.note([([7], look()), ([8], look())], at: at(12))
        #expect(watched.abandoned(at: at(12), timing).ending == [[7]])
        #expect(watched.observation(of: [7], at: at(20)).claim(timing)?.isForced == false)
        #expect(watched.observation(of: [8], at: at(12)).claim(timing) == nil)
        // The last look is too long ago, and is forgotten with the next one at others.
        #expect(watched.abandoned(at: at(21), timing).ending == [])
        #expect(watched.observation(of: [7], at: at(21)).claim(timing) == nil)
        watched.note([([8], look())], at: at(21))
        watched.note([([7], look())], at: at(22))
        #expect(watched.abandoned(at: at(22), timing).ending == [])
        for second in 23...40 { watched.note([([7], look(second == 33 ? 2 : 1))], at: at(second)) }
        #expect(watched.abandoned(at: at(40), timing).ending == [])
        for second in 41...91 { watched.note([([7], look())], at: at(second)) }
        let abandoned = watched.abandoned(at: at(91), timing)
        #expect(abandoned.ending == [] && abandoned.forced == [[7]])
    }

    @Test("a rotation of keys leaves a journal as it is")
    func rotated() async throws {
        try await leave(.alice)
        #expect(try await vault.rotateKey().resealed == 1)
        try await pass(seconds: 31)
        #expect(try await claim() == [.alice])
    }

    @Test("what a caller has no use for is handed out to another one, and not to one that passes it over")
    func returned() async throws {
        try await leave(.alice)
        try await pass(seconds: 31)
        #expect(try await claim() == [.alice])
        try await vault.returnUnfinished([.alice, .bob])
        let passing = try #require(try await vault.claimUnfinished(of: .account, except: [.alice]))
        #expect(passing.keys == [] && !passing.isWatching)
        #expect(try await claim() == [.alice])
        #expect(try await claim() == [])
    }

    @Test("a record whose key is missing is passed over for a minute")
    func lockedNames() {
        let (names, start) = (LockedNames(), ContinuousClock.now)
        names.note([[1], [2]], at: start)
        names.note([[2], [3]], at: start.advanced(by: .seconds(30)))
        #expect(Set(names.names(at: start.advanced(by: .seconds(59)))) == [[1], [2], [3]])
        #expect(Set(names.names(at: start.advanced(by: .seconds(60)))) == [[2], [3]])
        #expect(names.names(at: start.advanced(by: .seconds(90))) == [])
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
        #expect(try await without.claimUnfinished(of: .account)?.damaged.isEmpty == true)
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
        for text in [vault.store.sql.claim, vault.store.sql.watch] {
            let question = ["'account'", "'{}'::uuid[]", "'{}'::uuid[]", "'{}'::uuid[]"].enumerated().reduce(text.sql) {
                $0.replacingOccurrences(of: "$\($1.offset + 1)", with: $1.element)
            }
            let plan = try await folder.edit("EXPLAIN " + question).map { try $0.text(0) }.joined(separator: "\n")
            #expect(plan.contains("lease_due") && !plan.contains("Seq Scan on lease"))
            // Those that are postponed are not read.
            #expect(plan.contains(/Index Cond: .*due_at <=/), "\(plan)")
        }
    }
}
