import Foundation
import TestFixtures
import Testing

@testable import Handshake
@testable import PostgresVault

@Suite("What a waiter makes of another one's lease")
struct LeaseObservationTests {
    private let look = LeaseObservation.Look(holder: [1], fence: 1, beat: 1)
    private let timing = LeaseTiming.standard

    @Test("a lease is claimed when it was seen unchanged for 12 s, and by force after 57 s")
    func watched() {
        var observation = LeaseObservation()
        for second in 0...57 {
            #expect((observation.claim(timing) != nil) == (second > 12), "\(second)")
            #expect((observation.claim(timing)?.isForced == true) == (second > 57), "\(second)")
            observation.note(look, at: .seconds(second))
        }
        #expect(observation.claim(timing)?.isForced == true)
    }

    @Test(
        "a change of holder, fence or beat starts the watch again",
        arguments: [(2, 1, 1), (1, 2, 1), (1, 1, 2)])
    func changed(holder: UInt8, fence: Int64, beat: Int64) {
        var observation = LeaseObservation()
        for second in 0...20 { observation.note(look, at: .seconds(second)) }
        observation.note(.init(holder: [holder], fence: fence, beat: beat), at: .seconds(21))
        #expect(observation.watched == .zero && observation.claim(timing) == nil)
    }

    @Test("VL12: an outage of 60 s inside an observation is not counted, and one pause counts 2 s at most")
    func outage() {
        var observation = LeaseObservation()
        for second in 0...10 { observation.note(look, at: .seconds(second)) }
        observation.note(look, at: .seconds(70))
        #expect(observation.watched == .zero)
        observation.note(look, at: .seconds(77))
        #expect(observation.watched == .seconds(2))
        observation.note(look, at: .seconds(76))
        #expect(observation.watched == .zero)
    }

    @Test(
        "VL24, VL28: a hold is confirmed by what is left of its lease, and not after the machine was frozen",
        arguments: [
            (19, 19, true), (20, 20, false), (0, 0, true), (-1, 0, false), (5, 6, true), (5, 8, false), (5, -60, true),
        ])
    func lasts(passed: Int, wall: Int, isLasting: Bool) {
        // Of 45 s, 0.999 count; a request takes 20 s, and the margin is 5 s.
        let sent = LeaseMoment(instant: .now, wall: .seconds(1_000_000))
        let now = LeaseMoment(
            instant: sent.instant.advanced(by: .seconds(passed)), wall: sent.wall + .seconds(wall))
        #expect(timing.lasts(for: LeaseTiming.request, sentAt: sent, at: now) == isLasting)
    }

    @Test(
        "a timing in which a request could outlive its lease is refused",
        arguments: [(29, 1, 4), (39, 5, 12), (301, 5, 12), (45, 5, 11), (45, 0, 12), (34, 2, 35)])
    func timing(lease: Int, renewal: Int, observation: Int) {
        #expect(throws: VaultError.self) {
            try LeaseTiming(
                lease: .seconds(lease), renewal: .seconds(renewal), observation: .seconds(observation))
        }
    }
}

@Suite(
    "The lease of a PostgreSQL vault", .heavy,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresLeaseTests {
    private let folder: PostgresFolder
    private let vault: PostgresVault
    private var store: PostgresStore { vault.store }

    init() async throws {
        folder = try await PostgresFolder()
        vault = try await folder.vault()
    }

    private func acquire(_ holder: [UInt8], own: [UInt8]? = nil) async throws -> PostgresHold? {
        let name = vault.name(of: .alice)
        let acquired = try await store.acquire(name, as: holder, own: own, claim: nil, timing: vault.timing)
        return acquired.map { PostgresHold(name, holder: holder, fence: $0.fence, version: $0.version, at: .now) }
    }

    @Test("VL20: an ACQUIRE that is repeated has the same fence, and another holder gets nothing")
    func repeated() async throws {
        let holder = PostgresHold.newHolder()
        #expect(try await acquire(holder)?.fence == 1)
        #expect(try await acquire(holder)?.fence == 1)
        #expect(try await acquire(PostgresHold.newHolder()) == nil)
    }

    @Test("VL18: a late copy of RELEASE after a new ACQUIRE has no effect, and only a wait marks a lease as wanted")
    func lateRelease() async throws {
        let first = try #require(try await acquire(PostgresHold.newHolder()))
        try await store.release(first)
        let second = try #require(try await acquire(PostgresHold.newHolder()))
        try await store.release(first)
        #expect(try await folder.look("SELECT fence FROM @.lease WHERE holder IS NOT NULL") == [2])
        #expect(try await folder.look("SELECT count(*) FROM @.lease WHERE wanted = fence") == [0])
        #expect(try await store.want(vault.name(of: .alice))?.holder == second.holder)
        #expect(try await folder.look("SELECT count(*) FROM @.lease WHERE wanted = fence") == [1])
    }

    @Test("VL19: a late copy of ACQUIRE after the release keeps others waiting for a lease and its observation at most")
    func lateAcquire() async throws {
        let holder = PostgresHold.newHolder()
        let first = try #require(try await acquire(holder))
        try await store.release(first)
        #expect(try await acquire(holder)?.fence == 2)
        try await folder.place.open(timeout: .seconds(60), timing: PostgresPlace.shortTiming).put([1], under: .alice)
        #expect(try await folder.look("SELECT fence FROM @.lease WHERE holder IS NULL") == [3])
    }

    @Test("VL38: an ACQUIRE that waits for a write which is not committed yet reads what was written")
    func blockedAcquire() async throws {
        try await vault.put([1], under: .alice)
        let holder = PostgresHold.newHolder()
        #expect(try await acquire(holder) != nil)
        let (store, name, timing, schema) = (store, vault.name(of: .alice), vault.timing, folder.place.schema)
        let pool = PostgresPool(store.address, limit: 1)
        defer { pool.close() }
        let acquiring = try await pool.transaction { transaction in
            for table in ["lease SET version = 9", "record SET version = 9, body = '\\x02'"] {
                try await transaction.run(PostgresStatement("UPDATE \(schema).\(table)"))
            }
            let acquiring = Task {
                try await store.acquire(
                    name, as: PostgresHold.newHolder(), own: holder, claim: nil, timing: timing)
            }
            let waiting =
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%@.lease%'"
            while try await folder.look(waiting) != [1] { await Task.yield() }
            return acquiring
        }
        let acquired = try #require(try await acquiring.value)
        #expect(acquired.version == 9 && acquired.record?.version == 9 && acquired.record?.body == [2])
    }

    @Test("VL17: a late copy of REPLACE after a newer one has no effect")
    func lateReplace() async throws {
        let hold = try #require(try await acquire(PostgresHold.newHolder()))
        func row(_ version: Int64, _ body: [UInt8]) -> SealedRecord {
            SealedRecord(kind: "account", key: 1, version: version, label: [], body: body, leased: version)
        }
        for (version, body) in [(1, [1]), (2, [2])] as [(Int64, [UInt8])] {
            guard
                case .done = try await store.replace(
                    row(version, body), of: hold, after: version - 1, timing: vault.timing, for: .zero)
            else { return #expect(Bool(false), "version \(version) was not written") }
        }
        guard case .lost = try await store.replace(row(1, [1]), of: hold, after: 0, timing: vault.timing, for: .zero)
        else {
            return #expect(Bool(false), "an old statement was taken for done")
        }
        #expect(try await folder.look("SELECT version FROM @.record WHERE body = '\\x02'") == [2])
        // VL16: the same statement again, because its answer was lost.
        guard
            case .done(2, false) = try await store.replace(
                row(2, [2]), of: hold, after: 1, timing: vault.timing, for: .zero)
        else {
            return #expect(Bool(false), "a repeated statement was not recognised")
        }
        #expect(try await folder.look("SELECT version FROM @.lease") == [2])
    }

    @Test(
        "VL16: what concluded and whose answer was cut counts as stored until another one writes, and is never repeated"
    )
    func concludedTwice() async throws {
        let hold = try #require(try await acquire(PostgresHold.newHolder()))
        func write(_ body: UInt8, of hold: PostgresHold, concludes: Bool) async throws -> String {
            let version = hold.version + 1
            let record = SealedRecord(
                kind: "account", key: 1, version: version, label: [], body: [body], leased: version)
            let written = try await store.replace(
                record, of: hold, after: hold.version, concludes: concludes, timing: vault.timing, for: .zero)
            switch written {
            case .done(let version, let isReleased): return "\(version)\(isReleased ? " released" : "")"
            case .lost: return "lost"
            case .otherKey: return "other key"
            }
        }
        for _ in 1...2 { #expect(try await write(1, of: hold, concludes: true) == "1 released") }
        let other = try #require(try await acquire(PostgresHold.newHolder()))
        #expect(try await write(1, of: hold, concludes: true) == "1 released")
        #expect(try await write(2, of: other, concludes: false) == "2")
        #expect(try await write(1, of: hold, concludes: true) == "lost")
        #expect(try await folder.look("SELECT version FROM @.record WHERE body = '\\x02'") == [2])
        #expect(try await folder.look("SELECT count(*) FROM @.lease WHERE holder IS NOT NULL") == [1])
    }

    @Test(
        "VL11: a write that was applied counts as stored when the lease is lost before its repetition, and nothing follows"
    )
    func journalledAndLost() async throws {
        let hold = try #require(try await acquire(PostgresHold.newHolder()))
        let record = SealedRecord(kind: "account", key: 1, version: 1, label: [], body: [1], leased: 1)
        for time in 1...2 {
            let written = try await store.replace(
                record, of: hold, after: 0, isUnfinished: true, timing: vault.timing, for: .zero)
            guard case .done(1, isReleased: false) = written else {
                Issue.record("\(written)")
                return
            }
            #expect((hold.end != nil) == (time == 2))
            try await folder.edit("UPDATE @.lease SET holder = NULL")
            _ = try #require(try await acquire(PostgresHold.newHolder()))
        }
    }

    @Test("a record is free for others when it was concluded, while the body runs on, which can change it no more")
    func concluded() async throws {
        let other = try await folder.place.open(timeout: .zero)
        try await vault.update(.alice) { record in
            try await record.conclude(with: [1])
            // There is nothing left to renew.
            _ = await vault.holds.renew()
            try await other.update(.alice) { next in
                #expect(await next.contents == [1])
                await #expect(throws: VaultError.self) { try await record.replace(with: [3]) }
                try await next.replace(with: [2])
            }
        }
        #expect(try await vault.record(.alice) == [2])
        #expect(try await folder.look("SELECT fence FROM @.lease WHERE holder IS NULL") == [2])
    }

    @Test("a record that another one waits for is released after it was concluded, with a notification")
    func concludedWhileAwaited() async throws {
        let other = try await folder.place.open()
        let waiter = try await vault.update(.alice) { record in
            let waiter = Task { try await other.put([2], under: .alice) }
            try await folder.waitsForLease()
            try await record.conclude(with: [1])
            #expect(try await folder.look("SELECT count(*) FROM @.lease WHERE holder IS NOT NULL") == [1])
            return waiter
        }
        try await waiter.value
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("VL21: what this process did not release for sure, it takes again immediately")
    func own() async throws {
        let holder = PostgresHold.newHolder()
        _ = try await acquire(holder)
        vault.holds.note(.init(holder), of: vault.name(of: .alice))
        let patient = try await folder.place.open(timeout: .zero)
        await #expect(throws: VaultError.self) { try await patient.put([1], under: .alice) }
        patient.holds.note(.init(holder), of: vault.name(of: .alice))
        try await patient.put([1], under: .alice)
        #expect(try await vault.record(.alice) == [1])
    }

    @Test("VL35: while a body runs no connection and no transaction is in use")
    func body() async throws {
        try await vault.update(.alice) { record in
            try await record.replace(with: [1])
            let busy = try await folder.look(
                """
                SELECT count(*) FROM pg_stat_activity a JOIN pg_locks l USING (pid)
                WHERE l.relation IN ('@.lease'::regclass, '@.record'::regclass) AND a.pid <> pg_backend_pid()
                """)
            #expect(busy == [0])
            // All connections of the vault are free for others.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    group.addTask { try await vault.put([1], under: VaultKey(.signIn, ["\(index)"])) }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("VL14, VL24: a hold is confirmed by a durable statement alone, which is repeated only where it is needed")
    func confirmed() async throws {
        // No renewal comes by itself meanwhile.
        let timing = LeaseTiming(unchecked: .seconds(45), renewal: .seconds(600), observation: .seconds(12))
        let vault = try await folder.place.open(timing: timing)
        try await vault.update(.alice) { record in
            #expect(try await folder.look("SELECT beat FROM @.lease") == [1])
            // ACQUIRE is not durable.
            for beat in [2, 2] as [Int64] {
                try await record.confirm(for: LeaseTiming.request)
                #expect(try await folder.look("SELECT beat FROM @.lease") == [beat])
            }
            try await record.replace(with: [1])
            try await record.confirm(for: LeaseTiming.request)
            #expect(try await folder.look("SELECT beat FROM @.lease") == [3])
            let long = await #expect(throws: VaultError.self) { try await record.confirm(for: .seconds(44)) }
            #expect(long?.code == "vault_unavailable")
        }
    }

    @Test("VL23: a hold that another one has taken is not confirmed, and writes nothing afterwards")
    func robbed() async throws {
        let vault = try await folder.place.open(timing: .standard)
        try await vault.update(.alice) { record in
            try await folder.edit(
                "UPDATE @.lease SET holder = '00000000-0000-0000-0000-000000000001', fence = fence + 1")
            let errors = [
                await #expect(throws: VaultError.self) { try await record.confirm(for: LeaseTiming.request) },
                await #expect(throws: VaultError.self) { try await record.replace(with: [1]) },
            ]
            #expect(errors.map(\.?.code) == ["vault_unavailable", "vault_unavailable"])
        }
        #expect(try await vault.record(.alice) == nil)
    }

    @Test("VL37: a body that runs longer than a hold may last writes nothing, and the error names it")
    func longBody() async throws {
        let vault = try await folder.place.open(bodyLimit: .zero)
        let error = await #expect(throws: VaultError.self) {
            try await vault.update(.alice) { record in
                _ = await vault.holds.renew()
                try await record.replace(with: [1])
            }
        }
        #expect(error.map { "\($0)".contains("longer than") } == true)
        #expect(try await vault.record(.alice) == nil)
    }

    @Test("what is left of a removed record is forgotten after 30 days, and nothing that is held, unfinished or stored")
    func sweep() async throws {
        // The leases in their order, of which only the first may go.
        let changes = [
            (31, "NULL", "NULL"), (29, "NULL", "NULL"), (31, "gen_random_uuid()", "NULL"), (31, "NULL", "now()"),
        ]
        for (number, (days, holder, due)) in changes.enumerated() {
            let key = VaultKey(.account, ["\(number)"])
            try await vault.put([1], under: key)
            #expect(try await vault.remove(key))
            try await folder.edit(
                """
                UPDATE @.lease SET wanted = \(number + 1), until = now() - interval '\(days) days', holder = \(holder), due_at = \(due)
                WHERE wanted = 0
                """)
        }
        try await vault.put([1], under: .alice)
        try await folder.edit("UPDATE @.lease SET wanted = 5, until = now() - interval '31 days' WHERE wanted = 0")
        try await store.forgetOldLeases(after: [UInt8](repeating: 0, count: 16))
        #expect(try await folder.look("SELECT wanted FROM @.lease ORDER BY wanted") == [2, 3, 4, 5])
    }

    @Test("a look for what was removed long ago reads some names by their index, however many leases there are")
    func sweepIndex() async throws {
        try await folder.edit(
            """
            INSERT INTO @.lease (name, fence, beat, until, taken, wanted, version)
            SELECT gen_random_uuid(), 1, 1, now(), false, 0, 1 FROM generate_series(1, 20000)
            """, "ANALYZE @.lease")
        let zeros = "'00000000-0000-0000-0000-000000000000'::uuid"
        let question = store.sql.sweep.sql.replacingOccurrences(of: "$1", with: zeros)
        let plan = try await folder.edit("EXPLAIN " + question).map { try $0.text(0) }.joined(separator: "\n")
        #expect(plan.contains("lease_pkey") && !plan.contains("Seq Scan on lease"), "\(plan)")
    }

    @Test("VL47: a page of a listing is found by its index and reads no page before it, however the server plans")
    func pages() async throws {
        try await folder.edit(
            """
            INSERT INTO @.record (name, kind, key, version, label, body)
            SELECT gen_random_uuid(), 'account', 1, 1, '\\x00', '\\x00' FROM generate_series(1, 20000)
            """,
            """
            INSERT INTO @.lease (name, fence, beat, until, taken, wanted, version)
            SELECT name, 1, 1, now(), false, 0, 1 FROM @.record
            """, "ANALYZE @.record", "ANALYZE @.lease")
        let last = "'f0000000-0000-0000-0000-000000000000'"
        let labels = try await folder.plan(of: store.sql.labels.sql, "text, uuid", values: "'account', \(last)")
        #expect(labels.contains(/Index Cond: .*kind = \$1.*name >=/), "\(labels)")
        #expect(!labels.contains("Seq Scan") && !labels.contains("Merge"), "\(labels)")
        let names = try await folder.plan(of: store.sql.names.sql, "uuid", values: last)
        #expect(names.contains(/Index Cond: .*name >=/), "\(names)")
        let records = try await folder.plan(of: store.sql.readAll.sql, "uuid[]", values: "ARRAY[\(last)::uuid]")
        #expect(records.contains(/Index Cond: .*name = ANY/) && !records.contains("Seq Scan"), "\(records)")
    }

    @Test("VL4: a hold that lasted too long stores what follows its first write, while no other has taken the record")
    func longAnswer() async throws {
        let vault = try await folder.place.open(bodyLimit: .zero)
        let other = try await folder.place.open()
        try await vault.update(.alice) { record in
            try await record.replace(with: [1])
            _ = await vault.holds.renew()
            try await record.replace(with: [2])
        }
        #expect(try await vault.record(.alice) == [2])
        let error = await #expect(throws: VaultError.self) {
            try await vault.update(.alice) { record in
                try await record.replace(with: [3])
                _ = await vault.holds.renew()
                // It is not renewed any more: another one takes it.
                try await folder.edit("UPDATE @.lease SET holder = NULL")
                try await other.put([4], under: .alice)
                try await record.replace(with: [5])
            }
        }
        #expect(error.map { "\($0)".contains("an update keeps it") } == true)
        #expect(try await vault.record(.alice) == [4])
    }

    @Test("VL31: a release without a notification is found by polling", arguments: [true, false])
    func polling(isTold: Bool) async throws {
        // A server that takes no connections: every notification is lost.
        let other = try await folder.place.open(listen: isTold ? nil : "host=/nonexistent dbname=postgres")
        let waiter = try await vault.update(.alice) { record in
            let waiter = Task { try await other.put([2], under: .alice) }
            try await folder.waitsForLease()
            #expect(other.listener.isListening == isTold)
            try await record.replace(with: [1])
            return waiter
        }
        try await waiter.value
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("VL31: a waiter that is not notified looks after 50 ms, and at least every 1.25 s until its wait ends")
    func looks() async throws {
        let clock = HurriedClock()
        let other = try await folder.place.open(
            timeout: .seconds(20), listen: "host=/nonexistent dbname=postgres", clock: clock)
        try await vault.update(.alice) { record in
            let error = await #expect(throws: VaultError.self) { try await other.put([2], under: .alice) }
            #expect(error?.code == "vault_busy")
            try await record.replace(with: [1])
        }
        let pauses = clock.pauses
        let waited = pauses.reduce(Duration.zero, +)
        #expect(pauses.first.map { $0 <= .milliseconds(63) } == true)
        #expect(pauses.allSatisfy { $0 <= .milliseconds(1_250) } && waited == .seconds(20))
    }

    @Test("VL34: of 100 tasks of a vault that wait for a record, 99 wait in its own queue", .timeLimit(.minutes(10)))
    func waiters() async throws {
        let name = vault.name(of: .alice)
        var processes: [PostgresVault] = []
        for _ in 0..<4 { processes.append(try await folder.place.open()) }
        let waiters = try await vault.update(.alice) { [processes] record in
            let waiters = processes.flatMap { other in
                (0..<100).map { _ in Task { try await other.increment(.alice) } }
            }
            for other in processes { while other.waitingCount(for: name) != 99 { await Task.yield() } }
            try await record.replace(with: [])
            return waiters
        }
        for waiter in waiters { try await waiter.value }
        #expect(try await vault.record(.alice)?.count == 400)
    }

    @Test("VL29: a task that is cancelled while its lease is acquired leaves none behind")
    func cancelledAcquire() async throws {
        try await vault.put([1], under: .alice)
        let (vault, schema) = (vault, folder.place.schema)
        let pool = PostgresPool(store.address, limit: 1)
        defer { pool.close() }
        let acquiring = try await pool.transaction { transaction in
            try await transaction.run(PostgresStatement("UPDATE \(schema).lease SET beat = 9"))
            let acquiring = Task { try await vault.put([2], under: .alice) }
            let waiting =
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%@.lease%'"
            while try await folder.look(waiting) != [1] { await Task.yield() }
            acquiring.cancel()
            return acquiring
        }
        await #expect(throws: CancellationError.self) { try await acquiring.value }
        #expect(try await folder.look("SELECT fence FROM @.lease WHERE holder IS NULL") == [2])
        #expect(try await vault.record(.alice) == [1])
    }

    @Test("VL29: a waiter that is cancelled leaves no lease behind")
    func cancelled() async throws {
        let other = try await folder.place.open()
        try await vault.update(.alice) { record in
            let waiter = Task { try await other.put([2], under: .alice) }
            try await folder.waitsForLease()
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.value }
            try await record.replace(with: [1])
        }
        #expect(try await folder.look("SELECT count(*) FROM @.lease WHERE holder IS NOT NULL") == [0])
        #expect(try await vault.record(.alice) == [1])
    }
}
