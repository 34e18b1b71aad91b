import Foundation
import TestFixtures
import Testing

@testable import Handshake
@testable import PostgresVault

@Suite(
    "A PostgreSQL vault that was changed by hand", .heavy,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresTamperTests {
    private let folder: PostgresFolder
    private let vault: PostgresVault

    init() async throws {
        folder = try await PostgresFolder()
        vault = try await folder.vault()
    }

    private var tampered: TamperedVault {
        TamperedVault(
            vault: vault, alice: isAlice, open: { try await folder.place.open() }, edit: { try await folder.edit($0) },
            look: folder.look)
    }

    @Test(
        "VL10, VL11: a holder whose fence, version or name was changed fails, and the record is whole",
        arguments: [
            "fence = fence + 1", "version = version + 1", "holder = NULL",
            "holder = '00000000-0000-0000-0000-000000000001'",
        ])
    func fence(change: String) async throws {
        try await vault.put([1], under: .alice)
        for first in [nil, [7]] as [[UInt8]?] {
            let error = await #expect(throws: VaultError.self) {
                try await vault.update(.alice) { record in
                    if let first { try await record.replace(with: first) }
                    try await folder.edit("UPDATE @.lease SET \(change)")
                    try await record.replace(with: [2])
                }
            }
            #expect(error?.code == "vault_unavailable")
            try await folder.edit(
                "UPDATE @.lease l SET version = r.version, holder = NULL FROM @.record r WHERE r.name = l.name")
            #expect(try await vault.record(.alice) == first ?? [1])
        }
    }

    @Test(
        "VL8, VL9: a lease whose end is an hour away, as after a clock that was set back, or in the year 2999 is free after it was watched",
        arguments: ["until + interval '1 hour'", "'2999-01-01'"])
    func farEnd(until: String) async throws {
        let vault = try await folder.place.open(timing: PostgresPlace.shortTiming)
        try await abandon()
        try await folder.edit("UPDATE @.lease SET until = \(until)")
        try await vault.put([2], under: .alice)
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("a lease whose numbers are the largest there are goes on")
    func largestNumbers() async throws {
        try await vault.put([1], under: .alice)
        try await folder.edit("UPDATE @.lease SET fence = \(Int64.max), beat = \(Int64.max)")
        try await vault.update(.alice) { record in
            try await record.replace(with: [2])
            try await folder.edit("UPDATE @.lease SET beat = \(Int64.max)")
            try await record.replace(with: [3])
            try await folder.edit("UPDATE @.lease SET beat = \(Int64.max)")
            try await record.confirm(for: LeaseTiming.request)
            try await folder.edit("UPDATE @.lease SET beat = \(Int64.max)")
            try await record.remove()
        }
        #expect(try await vault.record(.alice) == nil)
    }

    @Test("a record whose version is the largest there is can be removed, and is written again afterwards")
    func largestVersion() async throws {
        try await tampered.outlivesLargestVersion("version = \(Int64.max)")
    }

    @Test("a body, a label or a key's proof of five megabytes is damage, and is not fetched")
    func sizes() async throws {
        try await vault.put([1], under: .alice)
        try await vault.put([2], under: .bob)
        let huge = "decode(repeat('00', 5000000), 'hex')"
        try await folder.edit("UPDATE @.record SET body = \(huge) WHERE \(isAlice)")
        await expectDamage { try await vault.record(.alice) }
        await expectDamage { try await vault.update(.alice) { _ in } }
        #expect(try await vault.store.record(vault.name(of: .bob))?.body.isEmpty == false)
        #expect(try await vault.remove(.alice))
        try await vault.put([1], under: .alice)
        try await folder.edit("UPDATE @.record SET label = \(huge) WHERE \(isAlice)")
        let listing = try await vault.keys(of: .account)
        #expect(listing.keys == [.bob] && listing.damaged.map(\.code) == ["vault_damaged"])
        let labels = try await vault.store.labels(of: .account, after: nil)
        #expect(labels.allSatisfy { $0.sealed.count < 1000 })
        try await folder.edit(
            "ALTER TABLE @.key DROP CONSTRAINT key_state_check",
            "UPDATE @.key SET proof = \(huge), names = \(huge)")
        await expectDamage { try await vault.readKeys() }
    }

    @Test("a key with the largest number there is leaves none for another one")
    func largestKey() async throws {
        try await folder.edit(
            """
            INSERT INTO @.key (id, identifier, proof, made_at, state)
            VALUES (\(Int64.max), gen_random_uuid(), '\\x00', now(), 'retired')
            """)
        await expectDamage { try await vault.rotateKey() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.place.keys).count == 1)
    }

    @Test("a lease that is free and cannot be taken is busy after the vault's wait")
    func untakable() async throws {
        try await vault.put([1], under: .alice)
        try await folder.edit(
            "CREATE FUNCTION @.ignore() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
            "CREATE TRIGGER ignored BEFORE UPDATE ON @.lease FOR EACH ROW EXECUTE FUNCTION @.ignore()")
        let impatient = try await folder.place.open(timeout: .milliseconds(300))
        let error = await #expect(throws: VaultError.self) { try await impatient.put([2], under: .alice) }
        #expect(error?.code == "vault_busy")
    }

    @Test(
        "a page of a listing that has too many rows, or does not follow the last one, is damage",
        arguments: [([2], [1], true), ([1], [1], false), ([0], [1], false), ([2, 1], [1], false)]
            as [([UInt8], [UInt8], Bool)])
    func page(names: [UInt8], last: [UInt8], isPage: Bool) throws {
        func name(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 16) }
        let rows = names.map { PostgresRow(cells: [name($0)]) }
        func check(_ rows: [PostgresRow]) -> VaultError? {
            do throws(VaultError) { try vault.store.requirePage(rows, after: name(last[0])) } catch { return error }
            return nil
        }
        #expect(check(rows)?.code == (isPage ? nil : "vault_damaged"))
        let many = [PostgresRow](repeating: PostgresRow(cells: [name(9)]), count: PostgresStore.pageSize + 1)
        #expect(check(many)?.code == "vault_damaged" && check(many.dropLast()) == nil)
    }

    @Test("VL7: a holder that renews its lease keeps it when the server's clock jumps forward")
    func jump() async throws {
        // The waiter looks for twice the time in which a lease without renewals would be free.
        let timing = LeaseTiming(unchecked: .seconds(45), renewal: .milliseconds(200), observation: .seconds(3))
        let vault = try await folder.place.open(timing: timing)
        let other = try await folder.place.open(timeout: .seconds(6), timing: timing)
        try await vault.update(.alice) { record in
            let waiter = Task { try await other.put([2], under: .alice) }
            let isOver = Shared(false)
            // As the server's clock says it all the time: the lease has ended.
            let jumps = Task {
                while !isOver.value { try await folder.edit("UPDATE @.lease SET until = until - interval '1 hour'") }
            }
            let error = await #expect(throws: VaultError.self) { try await waiter.value }
            #expect(error?.code == "vault_busy")
            isOver.change { $0 = true }
            try await jumps.value
            try await record.replace(with: [1])
        }
        #expect(try await vault.record(.alice) == [1])
    }

    @Test("VL41: a record whose version is not its lease's is damaged, and can be removed")
    func versions() async throws {
        try await tampered.rejectsOtherVersion()
    }

    @Test("a record that lacks a value is damaged, and those that are read with it are fine")
    func absentValue() async throws {
        try await vault.put([1], under: .alice)
        try await vault.put([2], under: .bob)
        try await folder.edit(
            "ALTER TABLE @.record ALTER kind DROP NOT NULL", "UPDATE @.record SET kind = NULL WHERE \(isAlice)")
        let both = try await vault.records([.alice, .bob])
        await expectDamage { try both[0].get() }
        #expect(try both[1].get() == [2])
    }

    @Test("records that the server does not send together in time are read one by one")
    func oneByOne() async throws {
        try await vault.put([1], under: .alice)
        try await vault.put([2], under: .bob)
        // A server that cancels the statement for several records.
        try await folder.edit(
            "ALTER TABLE @.record RENAME TO kept",
            """
            CREATE FUNCTION @.cancel() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
              IF current_query() LIKE '%ANY (%' THEN RAISE query_canceled; END IF; RETURN true; END $$
            """,
            "CREATE VIEW @.record AS SELECT * FROM @.kept WHERE @.cancel()")
        let read = try await vault.records([.alice, .bob, VaultKey(.delivery, ["none"])]).map { try $0.get() }
        #expect(read == [[1], [2], nil])
    }

    @Test("a record that the server cannot read is damaged, and those that are asked for with it are fine")
    func unreadable() async throws {
        try await vault.put([1], under: .alice)
        try await vault.put([2], under: .bob)
        // As a server does whose page for this row is broken.
        try await folder.edit(
            "CREATE TABLE @.broken AS SELECT name FROM @.record WHERE \(isAlice)",
            "ALTER TABLE @.record RENAME TO kept",
            """
            CREATE FUNCTION @.page(row_name uuid) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
              IF row_name = (SELECT name FROM @.broken) THEN RAISE data_corrupted; END IF; RETURN true; END $$
            """,
            "CREATE VIEW @.record AS SELECT * FROM @.kept WHERE @.page(name)")
        for keys in [[VaultKey.alice, .bob], [.alice]] {
            let read = try await vault.records(keys)
            await expectDamage { try read[0].get() }
            #expect(try read.count == 1 || read[1].get() == [2])
        }
    }

    @Test("VL42: an old body that was put back is damaged, with its version too, and other records are fine")
    func rollback() async throws {
        try await tampered.rejectsOldBody()
    }

    @Test("a record that was put back with its lease is damaged where a newer one was seen, and versions go on")
    func rollbackWithLease() async throws {
        try await tampered.rejectsOldRecordWithLease()
    }

    @Test("what is read beside writers is never taken for a record that was put back")
    func readersBesideWriters() async throws {
        try await tampered.readsBesideWriters(writes: 100)
    }

    @Test("an older key that seals again is damage: no record is sealed with a key that may have leaked")
    func olderKey() async throws {
        try await vault.put([1], under: .alice)
        _ = try await vault.rotateKey()
        try await folder.edit(
            "UPDATE @.key SET state = 'old' WHERE id = 2", "UPDATE @.key SET state = 'active' WHERE id = 1")
        await expectDamage { try await vault.put([2], under: .alice) }
        #expect(try await vault.record(.alice) == [1])
    }

    @Test(
        "a record that was changed, moved or relabelled does not open",
        arguments: [
            "UPDATE @.record SET body = 'changed by hand, and long enough to be read as one'",
            "UPDATE @.record SET body = ''",
            "UPDATE @.record a SET body = b.body FROM @.record b WHERE b.name <> a.name",
            "UPDATE @.record SET body = label", "UPDATE @.record SET kind = 'sign_in'", "DELETE FROM @.lease",
        ])
    func changed(sql: String) async throws {
        try await tampered.rejectsChangedRecord(sql)
    }

    @Test(
        "a label that was changed, moved or put under another name is left out of the listing and reported",
        arguments: [
            "label = 'changed by hand, and long enough to be read as one'", "label = body",
            "label = (SELECT label FROM @.record WHERE NOT (\(PostgresTamperTests.whereAlice)))",
            "name = '00000000-0000-0000-0000-000000000001'",
        ])
    func labels(change: String) async throws {
        try await tampered.leavesOutChangedLabel(change)
    }

    @Test(
        "tables of other types, or without a column, end in an error, not in a trap",
        arguments: [
            "ALTER TABLE @.lease ALTER version TYPE text", "ALTER TABLE @.lease ALTER fence TYPE smallint",
            "ALTER TABLE @.record ALTER body TYPE text USING ''", "ALTER TABLE @.record DROP COLUMN label",
            "ALTER TABLE @.record ALTER version TYPE float8", "DROP TABLE @.lease",
            "UPDATE @.lease SET fence = 9223372036854775807", "UPDATE @.lease SET version = 9223372036854775807",
        ])
    func types(sql: String) async throws {
        try await vault.put([1], under: .alice)
        try await folder.edit(sql)
        // What the vault makes of it differs; that it comes back is what counts.
        _ = try? await vault.record(.alice)
        _ = try? await vault.keys(of: .account)
        _ = try? await vault.update(.alice) { try await $0.replace(with: [2]) }
        _ = try? await vault.remove(.alice)
    }

    @Test("nothing readable is in the tables: no name, no contents")
    func confidential() async throws {
        try await vault.put(Array("a secret token".utf8), under: .alice)
        let rows = try await folder.edit("SELECT label, body, name::text::bytea, kind::bytea FROM @.record")
        #expect(!rows.isEmpty)
        for text in ["a secret token", "service.example", "alice"] {
            for cell in rows.flatMap(\.cells) { #expect(Data(cell ?? []).range(of: Data(text.utf8)) == nil) }
        }
    }

    /// A condition for the one record of two that the first test key has: the sizes of sealed names differ.
    private var isAlice: String { Self.whereAlice }
    private static let whereAlice = "length(label) = (SELECT max(length(label)) FROM @.record)"

    /// Leaves a lease behind as a process does that died.
    private func abandon() async throws {
        let name = vault.name(of: .alice)
        _ = try await vault.store.acquire(
            name, as: PostgresHold.newHolder(), own: nil, claim: nil, timing: vault.timing)
    }
}
