import Foundation
import Handshake
import TestFixtures
import Testing

@testable import PostgresVault

@Suite(
    "A PostgreSQL server that fails", .heavy, .serialized,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresServerTests {
    private let server: PostgresServer
    private let folder: PostgresFolder
    private let vault: PostgresVault

    init() async throws {
        server = try await PostgresServer.running()
        folder = try await PostgresFolder(server)
        vault = try await folder.vault(nil)
    }

    @Test(
        "VL15: a restart in the middle of an update, in order or not, loses nothing: the answer is stored after it",
        arguments: [true, false])
    func restart(isImmediate: Bool) async throws {
        try await vault.update(.alice) { record in
            try await record.replace(with: [1])
            try await server.restart(isImmediate: isImmediate)
            try await record.replace(with: [2])
        }
        #expect(try await vault.record(.alice) == [2])
        try await vault.put([3], under: .alice)
        #expect(try await vault.record(.alice) == [3])
    }

    @Test("VL15: a write that begins while the server is away waits for it")
    func away() async throws {
        try await vault.update(.alice) { record in
            try await record.replace(with: [1])
            let writing = Shared<Task<Void, any Error>?>(nil)
            try await server.restart(isImmediate: true) {
                writing.change { $0 = Task { try await record.replace(with: [2]) } }
            }
            try await writing.value?.value
        }
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("VL13: a refresh whose lease the server forgot with a crash is not sent, and the next one is")
    func forgottenLease() async throws {
        let service = try StrictService(folder.place)
        try await service.make(accountIn: vault)
        let crashing = CrashingVault(base: vault) { [server, folder] in
            try await server.restart(isImmediate: true)
            // An ACQUIRE of the last moment is not durable. Here it is lost for sure; the first connection may be one from before.
            while (try? await folder.edit("UPDATE @.lease SET holder = NULL")) == nil { await Task.yield() }
        }
        let account = try #require(try await service.app(crashing).account())
        let error = await #expect(throws: HandshakeError.self) { try await account.refresh() }
        #expect(error?.code == "vault_unavailable")
        #expect(try await service.sends() == 0)
        try await #require(try await service.app(vault).account()).refresh()
        #expect(try await service.sends() == 1)
    }

    @Test("a server that is down is unavailable, and the error says where it was looked for")
    func down() async throws {
        try await server.restart(isImmediate: false) {
            let error = await #expect(throws: VaultError.self) { try await vault.record(.alice) }
            #expect(error?.code == "vault_unavailable" && error.map { "\($0)".contains(server.socket) } == true)
        }
        try await vault.put([1], under: .alice)
        #expect(try await vault.record(.alice) == [1])
    }

    @Test("pg_terminate_backend of every connection in the middle of an update loses nothing; VL32: waits go on")
    func terminated() async throws {
        let end =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'handshake' AND pid <> pg_backend_pid()"
        let other = try await folder.place.open(timing: nil)
        let waiter = try await vault.update(.alice) { record in
            let waiter = Task { try await other.put([9], under: .bob) }
            try await waiter.value
            for byte in [1, 2, 3] as [UInt8] {
                try await folder.edit(end)
                try await record.replace(with: [byte])
            }
            let second = Task { try await other.put([4], under: .alice) }
            try await folder.waitsForLease()
            #expect(other.listener.isListening)
            try await folder.edit(end)
            return second
        }
        try await waiter.value
        #expect(try await vault.record(.alice) == [4])
    }

    /// What is built in is not found under its name any more, as in an engine that does not have it.
    private static let renaming =
        "ALTER FUNCTION pg_catalog.pg_notify(text, text) RENAME TO pg_notify_of_another_engine"

    @Test(
        "VL33: a record is released where the server takes no notification, and a waiter finds it by polling",
        arguments: [
            ("denied", "REVOKE EXECUTE ON FUNCTION pg_catalog.pg_notify(text, text) FROM PUBLIC"), ("42883", renaming),
            ("0A000", renaming), ("54000", renaming),
        ])
    func unnotified(refusal: String, sql: String) async throws {
        let role = "app_\(folder.place.schema)"
        try await folder.edit(
            "CREATE ROLE \(role) LOGIN", "GRANT USAGE ON SCHEMA @ TO \(role)",
            "GRANT SELECT ON @.meta, @.key TO \(role)",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON @.record, @.lease TO \(role)", sql)
        if ["0A000", "54000"].contains(refusal) {
            try await folder.edit(
                """
                CREATE FUNCTION pg_catalog.pg_notify(text, text) RETURNS void LANGUAGE plpgsql
                AS $$ BEGIN RAISE SQLSTATE '\(refusal)'; END $$
                """)
        }
        // A full queue has room again some time.
        let mayPass = refusal == "54000"
        var place = folder.place
        place.connection = server.connection(user: role)
        let (vault, other) = (try await place.open(), try await place.open())
        for round in [1, 2] as [UInt8] {
            let waiter = try await vault.update(.alice) { record in
                let waiter = Task { try await other.put([round * 2], under: .alice) }
                try await folder.waitsForLease()
                try await record.replace(with: [round])
                return waiter
            }
            // It is not left to the end of the lease.
            #expect(vault.holds.unreleased(vault.name(of: .alice)) == nil)
            #expect(vault.store.notifications.areTaken == mayPass)
            try await waiter.value
            #expect(try await vault.record(.alice) == [round * 2])
        }
        #expect(try await folder.look("SELECT fence FROM @.lease WHERE holder IS NULL AND NOT taken") == [4])
    }

    @Test("VL32: who waits is told to look when the connection that listens was lost and is there again")
    func listensAgain() async throws {
        let listener = PostgresListener(try PostgresAddress(server.connection), isDirect: true)
        defer { listener.stop() }
        let ticket = await listener.join(vault.name(of: .alice))
        #expect(listener.isListening)
        try await folder.edit(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        let deadline = ContinuousClock.now.advanced(by: .seconds(60))
        #expect(try await listener.wait(ticket, until: deadline, on: .continuous))
    }

    @Test(
        "a statement that takes too long, or waits too long for another transaction, is unavailable and says what to do",
        arguments: [("statement_timeout", "ALTER ROLE"), ("lock_timeout", "pg_stat_activity")])
    func tooSlow(setting: String, cure: String) async throws {
        try await vault.put([1], under: .alice)
        // For this vault alone: what the test itself sends may take longer.
        var place = folder.place
        place.connection += " options='-c \(setting)=500ms'"
        let slow = try await place.open()
        let (schema, pool) = (folder.place.schema, PostgresPool(try PostgresAddress(server.connection), limit: 1))
        defer { pool.close() }
        try await pool.transaction { transaction in
            try await transaction.run(PostgresStatement("LOCK TABLE \(schema).lease IN ACCESS EXCLUSIVE MODE"))
            let error = await #expect(throws: VaultError.self) { try await slow.put([2], under: .alice) }
            let text = error.map { "\($0)" } ?? ""
            #expect(error?.code == "vault_unavailable" && text.contains("too slow") && text.contains(cure), "\(text)")
        }
        #expect(try await slow.record(.alice) == [1])
    }

    @Test(
        "VL22: a hold whose answer cannot be stored, for whatever reason, is not released, and this process goes on with it",
        arguments: ["53100", "22012", "42501"], [false, true])
    func unstored(reason: String, concludes: Bool) async throws {
        try await folder.edit(
            "CREATE FUNCTION @.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '\(reason)'; END $$"
        )
        await #expect(throws: VaultError.self) {
            try await vault.update(.alice) { record in
                try await record.replace(with: [1])
                try await folder.edit(
                    "CREATE TRIGGER full_disk BEFORE INSERT ON @.record FOR EACH ROW EXECUTE FUNCTION @.refuse()")
                do {
                    if concludes { try await record.conclude(with: [2]) } else { try await record.replace(with: [2]) }
                } catch {
                    try await folder.edit("DROP TRIGGER full_disk ON @.record")
                    throw error
                }
            }
        }
        #expect(try await vault.record(.alice) == [1])
        let other = try await folder.place.open(timeout: .zero)
        let error = await #expect(throws: VaultError.self) { try await other.put([3], under: .alice) }
        #expect(error?.code == "vault_busy")
        try await vault.put([2], under: .alice)
        try await other.put([3], under: .alice)
        #expect(try await vault.record(.alice) == [3])
    }

    /// Leaves an answer that could not be stored, and could be now.
    ///
    /// - Returns: the holder that still has the record.
    private func leaveUnstored() async throws -> PostgresHolds.Unreleased {
        try await leaveUnstored(in: vault)
        try await folder.edit("DROP TRIGGER broken ON @.record")
        return try #require(vault.holds.unreleased(vault.name(of: .alice)))
    }

    /// Lets the server refuse all records from the second write of an update on, as if it were an answer of a service.
    private func leaveUnstored(in vault: PostgresVault) async throws {
        try await folder.edit(
            "CREATE FUNCTION @.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '22012'; END $$")
        await #expect(throws: VaultError.self) {
            try await vault.update(.alice) { record in
                try await record.replace(with: [1])
                try await folder.edit(
                    "CREATE TRIGGER broken BEFORE INSERT ON @.record FOR EACH ROW EXECUTE FUNCTION @.refuse()")
                try await record.replace(with: [2])
            }
        }
    }

    @Test(
        "VL22: an answer that cannot be stored at the next attempts either keeps its lease, until nothing is left to store"
    )
    func unstoredAgain() async throws {
        let other = try await folder.place.open(timeout: .zero)
        func isFree() async throws -> Bool {
            do { try await other.put([3], under: .alice) } catch VaultError.busy { return false }
            return true
        }
        try await leaveUnstored(in: vault)
        for _ in 1...2 {
            await #expect(throws: VaultError.self) { try await vault.put([2], under: .alice) }
            #expect(try await !isFree())
        }
        // Cancelled before it could write.
        await #expect(throws: CancellationError.self) {
            try await vault.update(.alice) { _ in throw CancellationError() }
        }
        #expect(try await !isFree())
        try await folder.edit("DROP TRIGGER broken ON @.record")
        // It has seen that there is nothing to store.
        try await vault.update(.alice) { _ in }
        #expect(try await isFree())
    }

    @Test("VL22: a lease that was taken over for an answer, which was not known, is renewed and used by its process")
    func unansweredAcquire() async throws {
        let (name, own) = (vault.name(of: .alice), try await leaveUnstored())
        let former = try #require(try await folder.look("SELECT fence FROM @.lease").first)
        // ACQUIRE is done, and no answer says so: the one that comes cannot be read.
        let key = try #require(try await folder.look("SELECT key FROM @.record").first)
        try await folder.edit("ALTER TABLE @.record ALTER key DROP NOT NULL", "UPDATE @.record SET key = NULL")
        let error = await #expect(throws: VaultError.self) { try await vault.put([2], under: .alice) }
        #expect(error?.code == "vault_damaged")
        try await folder.edit("UPDATE @.record SET key = \(key)", "ALTER TABLE @.record ALTER key SET NOT NULL")
        let unreleased = try #require(vault.holds.unreleased(name))
        #expect(unreleased.holder == own.holder && unreleased.attempt != nil)
        let fence = former + 1
        #expect(try await folder.look("SELECT fence FROM @.lease WHERE holder IS NOT NULL") == [fence])
        let beat = try await folder.look("SELECT beat FROM @.lease")
        // It is renewed when half the time of a renewal has passed, or ends.
        let standing = "SELECT beat FROM @.lease WHERE until > clock_timestamp()"
        while try await folder.look(standing) == beat { #expect(await vault.holds.renew()) }
        #expect(try await folder.look(standing).count == 1)
        // It has not to wait until its own lease ends.
        try await vault.update(.alice) { record in try await record.replace(with: [2]) }
        #expect(try await folder.look("SELECT fence FROM @.lease WHERE holder IS NULL") == [fence])
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("VL22: a lease that an ACQUIRE may have left is its process's, though the next connection was refused")
    func refusedConnection() async throws {
        let role = "app_\(folder.place.schema)"
        try await folder.edit(
            "CREATE ROLE \(role) LOGIN", "GRANT USAGE ON SCHEMA @ TO \(role)",
            "GRANT SELECT ON @.meta, @.key TO \(role)",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON @.record, @.lease TO \(role)")
        var place = folder.place
        place.connection = server.connection(user: role)
        let app = try await place.open(timeout: .zero)
        // Each ACQUIRE ends its own connection, and the role gets no other one.
        try await folder.edit(
            """
            CREATE FUNCTION @.cut() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60); RETURN NEW; END $$
            """,
            "CREATE TRIGGER cut BEFORE INSERT OR UPDATE ON @.lease FOR EACH ROW EXECUTE FUNCTION @.cut()",
            "ALTER ROLE \(role) NOLOGIN")
        let error = await #expect(throws: VaultError.self) { try await app.put([1], under: .alice) }
        #expect(error?.code == "vault_denied")
        try await folder.edit("DROP TRIGGER cut ON @.lease", "ALTER ROLE \(role) LOGIN")
        let name = vault.name(of: .alice)
        let left = try #require(app.holds.unreleased(name))
        // As if the server had committed it before the connection ended.
        let acquired = try await vault.store.acquire(
            name, as: left.holder, own: nil, claim: nil, timing: vault.timing)
        #expect(acquired != nil)
        // It has not to wait until its own lease ends.
        try await app.put([1], under: .alice)
        #expect(try await vault.record(.alice) == [1])
    }

    @Test("VL22: what an ACQUIRE may take over yet is renewed, though a renewal before it did not find it")
    func lateAcquire() async throws {
        let (name, own) = (vault.name(of: .alice), try await leaveUnstored())
        let holder = PostgresHold.newHolder()
        vault.holds.noteUnanswered(holder, of: name, after: own)
        // Renewals of both find the former holder alone: the second of them, as the former one is due first.
        let standing = "SELECT beat FROM @.lease WHERE until > clock_timestamp()"
        for _ in 0..<2 {
            let before = try await folder.look(standing)
            while try await folder.look(standing) == before { #expect(await vault.holds.renew()) }
        }
        let acquired = try await vault.store.acquire(
            name, as: holder, own: own.holder, claim: nil, timing: vault.timing)
        #expect(acquired != nil)
        let beat = try await folder.look(standing)
        while try await folder.look(standing) == beat { #expect(await vault.holds.renew()) }
        #expect(try await folder.look(standing).count == 1)
    }

    @Test("VL22: a fence that an attacker chose is no hold's that an answer waits for")
    func chosenFence() async throws {
        try await leaveUnstored(in: vault)
        let own = try #require(vault.holds.unreleased(vault.name(of: .alice)))
        for fence in [Int64.min, .max] {
            #expect(own.unstoredSince(before: fence, at: .now, limit: .seconds(300)) == nil)
        }
    }

    @Test("VL22: of many leases that may be left, those that are over are forgotten, and no other ones")
    func forgotten() {
        let limit = Duration.seconds(300)
        let holds = PostgresHolds(vault.store, vault.timing, bodyLimit: limit)
        func key(_ number: Int) -> VaultKey { VaultKey(.account, ["\(number)"]) }
        func note(_ numbers: Range<Int>, since age: Duration) {
            for number in numbers {
                var left = PostgresHolds.Unreleased(PostgresHold.newHolder())
                left.noted = left.noted.advanced(by: .zero - age)
                holds.note(left, of: vault.name(of: key(number)))
            }
        }
        func isNoted(_ number: Int) -> Bool { holds.unreleased(vault.name(of: key(number))) != nil }
        let (over, few) = (limit + vault.timing.lease + .seconds(1), PostgresHolds.fewUnreleased)
        let (old, left) = (0..<few, few..<4 * few)
        note(old, since: over)
        note(left, since: limit)
        #expect(!old.contains(where: isNoted))
        #expect(left.allSatisfy(isNoted))
        // A later attempt for the same record begins the time again.
        var own = PostgresHolds.Unreleased(PostgresHold.newHolder())
        own.noted = own.noted.advanced(by: .zero - over)
        holds.noteUnanswered(PostgresHold.newHolder(), of: vault.name(of: .alice), after: own)
        note(4 * few..<8 * few, since: limit)
        #expect(holds.unreleased(vault.name(of: .alice)) != nil)
    }

    @Test("VL22: a renewal that found no lease drops the hold that it was for, and no later one of the same holder")
    func lateRenewal() async throws {
        // Nothing is renewed but by the test.
        let timing = LeaseTiming(
            unchecked: .seconds(10_000), renewal: .seconds(2_000), observation: .seconds(5_000))
        let holds = PostgresHolds(vault.store, timing, bodyLimit: .seconds(100_000))
        let (name, holder) = (vault.name(of: .alice), PostgresHold.newHolder())
        let began = ContinuousClock.now.advanced(by: .zero - timing.renewal)
        let hold = { PostgresHold(name, holder: holder, fence: 1, version: 0, at: began) }
        let (attempted, later) = (hold(), hold())
        holds.add(attempted)
        let (schema, pool) = (folder.place.schema, PostgresPool(try PostgresAddress(server.connection), limit: 1))
        defer { pool.close() }
        let renewal = try await pool.transaction { transaction in
            try await transaction.run(PostgresStatement("LOCK TABLE \(schema).lease IN ACCESS EXCLUSIVE MODE"))
            let renewal = Task { await holds.renew() }
            while try await folder.look("SELECT count(*) FROM pg_locks WHERE NOT granted") == [0] { await Task.yield() }
            // The next update has acquired the lease meanwhile, as the same holder.
            holds.add(later)
            return renewal
        }
        #expect(await renewal.value)
        #expect(later.end == nil)
        let acquired = try await vault.store.acquire(name, as: holder, own: nil, claim: nil, timing: timing)
        #expect(acquired?.fence == 1)
        #expect(await holds.renew())
        #expect(later.renewed > began && later.end == nil)
        holds.remove(later)
    }

    @Test("VL22: a lease is kept for an answer that cannot be stored only while a hold may last")
    func unstoredForLong() async throws {
        let vault = try await folder.place.open(bodyLimit: .zero)
        try await leaveUnstored(in: vault)
        #expect(try await folder.look("SELECT count(*) FROM @.lease WHERE holder IS NOT NULL") == [1])
        await #expect(throws: VaultError.self) { try await vault.put([2], under: .alice) }
        #expect(try await folder.look("SELECT count(*) FROM @.lease WHERE holder IS NOT NULL") == [0])
    }

    @Test("VL16: a REPLACE that was applied and whose answer was cut is one version more, and a success")
    func cutAnswer() async throws {
        try await vault.put([1], under: .alice)
        // A commit waits for a replica that does not exist, when it is already stored.
        try await folder.edit("ALTER SYSTEM SET synchronous_standby_names = 'nowhere'", "SELECT pg_reload_conf()")
        let writes = try await vault.update(.alice) { record in
            // A connection learns of the setting a moment later: until a commit waits, it is written again.
            let (writes, isWaiting) = (Shared(0), Shared(false))
            let writing = Task {
                while !isWaiting.value {
                    try await record.replace(with: [2])
                    writes.change { $0 += 1 }
                }
            }
            let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE 'WITH held%'"
            while try await folder.look(waiting).isEmpty { await Task.yield() }
            isWaiting.change { $0 = true }
            // Its commit stands; only the answer never leaves.
            try await folder.edit("SELECT pg_terminate_backend(pid) FROM (\(waiting)) w")
            try await folder.edit("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
            try await writing.value
            try await record.replace(with: [3])
            return writes.value
        }
        #expect(try await vault.record(.alice) == [3])
        // The first record, each write once, and the last.
        #expect(try await folder.look("SELECT version FROM @.lease") == [Int64(writes) + 2])
    }

    @Test("VL39: a server that only reads for two seconds is waited for, as one that is away")
    func readOnlyForAWhile() async throws {
        try await vault.update(.alice) { record in
            try await record.replace(with: [1])
            try await folder.edit("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
            // The server tells its sessions of it, one after the other. When this one knows, the others do before their next statement.
            let isReadOnly = "SELECT (current_setting('default_transaction_read_only') = 'on')::int::bigint"
            while try await folder.look(isReadOnly) != [1] { await Task.yield() }
            let isStored = Shared(false)
            let writing = Task {
                try await record.replace(with: [2])
                isStored.change { $0 = true }
            }
            // A time and no event, because what is expected is that nothing is stored for as long as this.
            try await Task.sleep(for: .seconds(2))
            #expect(!isStored.value)
            try await folder.edit("ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()")
            try await writing.value
        }
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("VL39: a connection whose session takes no writes is not used again")
    func readOnlySession() async throws {
        let pool = PostgresPool(try PostgresAddress(server.connection), limit: 1)
        defer { pool.close() }
        let run = { (sql: String) in
            _ = try await pool.run(PostgresRequest(statements: [PostgresStatement(sql)]))
        }
        try await run("SET default_transaction_read_only = on")
        let refused = await #expect(throws: PostgresFailure.self) { try await run("CREATE TABLE refused (a bigint)") }
        #expect(refused?.state == "25006")
        try await run("CREATE TABLE written (a bigint)")
    }

    @Test("VL39: a transaction that finds a session which takes no writes closes the idle ones too")
    func readOnlyTransaction() async throws {
        let pool = PostgresPool(try PostgresAddress(server.connection), limit: 2)
        defer { pool.close() }
        let readOnly = PostgresStatement("SET default_transaction_read_only = on")
        try await pool.transaction { first in
            try await first.run(readOnly)
            _ = try await pool.transaction { try await $0.run(readOnly) }
        }
        let write = { (transaction: PostgresTransaction) async throws in
            _ = try await transaction.run(PostgresStatement("CREATE TABLE closed (a bigint)"))
        }
        let refused = await #expect(throws: PostgresFailure.self) { try await pool.transaction(write) }
        #expect(refused?.state == "25006")
        try await pool.transaction(write)
    }

    @Test("VL39: a server that only reads is unavailable, and the error says read-only")
    func readOnly() async throws {
        try await vault.put([1], under: .alice)
        try await folder.edit("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
        let opened = await #expect(throws: VaultError.self) { try await folder.place.open() }
        let written = await #expect(throws: VaultError.self) { try await vault.put([2], under: .alice) }
        for error in [opened, written] {
            #expect(error?.code == "vault_unavailable" && error.map { "\($0)".contains("read-only") } == true)
        }
    }
}

/// A vault whose server crashes when a record was taken, before anything is written.
private struct CrashingVault: ForwardingVault {
    let base: PostgresVault
    let crash: @Sendable () async throws -> Void

    func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await base.update(key) { record in
            try await crash()
            return try await body(record)
        }
    }
}
