import Foundation
import GRDB
import Handshake
import SQLiteVault
import TestFixtures
import Testing

@Suite("A SQLite vault that was changed by hand", .heavy)
struct SQLiteTamperTests {
    private let folder: SQLiteFolder
    private let vault: SQLiteVault

    init() throws {
        folder = try SQLiteFolder()
        vault = try folder.vault()
    }

    private var tampered: TamperedVault {
        TamperedVault(
            vault: vault, alice: "rowid = 1", open: { try folder.place.open() }, edit: { try folder.edit($0) },
            look: { try folder.look($0) })
    }

    @Test(
        "VL10: a holder whose fence was changed fails, and the record is whole",
        arguments: ["fence = fence + 1", "version = version + 1"])
    func fence(change: String) async throws {
        try await vault.put([1], under: .alice)
        let error = await #expect(throws: VaultError.self) {
            try await vault.update(.alice) { record in
                try folder.edit("UPDATE lease SET \(change)")
                try await record.replace(with: [2])
            }
        }
        #expect(error?.code == "vault_unavailable")
        #expect(try folder.look("SELECT version FROM record") == [1])
        try folder.edit("UPDATE lease SET version = 1, fence = 1")
        #expect(try await vault.record(.alice) == [1])
        try await vault.put([3], under: .alice)
        #expect(try await vault.record(.alice) == [3])
    }

    @Test("VL11: a holder that was replaced by hand is refused, after its first write too")
    func holder() async throws {
        try await vault.put([1], under: .alice)
        for first in [nil, [7]] as [[UInt8]?] {
            let error = await #expect(throws: VaultError.self) {
                try await vault.update(.alice) { record in
                    if let first { try await record.replace(with: first) }
                    try folder.edit("UPDATE lease SET holder = zeroblob(16)")
                    try await record.replace(with: [2])
                }
            }
            #expect(error?.code == "vault_unavailable")
            #expect(try await vault.record(.alice) == first ?? [1])
        }
    }

    @Test("a second holder that got in by a removed lock does not overwrite what the first one wrote")
    func robbed() async throws {
        try await vault.put([1], under: .alice)
        let error = await #expect(throws: VaultError.self) {
            try await vault.update(.alice) { record in
                try FileManager.default.removeItem(atPath: folder.database + "-lock")
                try await folder.place.open().put([2], under: .alice)
                try await record.replace(with: [3])
            }
        }
        #expect(error?.code == "vault_unavailable")
        #expect(try await folder.place.open().record(.alice) == [2])
    }

    @Test("VL41: a record whose version is not its lease's is damaged, and can be removed")
    func versions() async throws {
        try await tampered.rejectsOtherVersion()
    }

    @Test("a record whose version is the largest there is can be removed, and is written again afterwards")
    func largestVersion() async throws {
        try await tampered.outlivesLargestVersion("version = \(Int64.max), fence = \(Int64.max)")
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
        try await tampered.readsBesideWriters(writes: 200)
    }

    @Test(
        "a record that was changed, moved or relabelled does not open",
        arguments: [
            "UPDATE record SET body = zeroblob(length(body)) WHERE rowid = 1",
            "UPDATE record SET body = x'' WHERE rowid = 1",
            "UPDATE record SET body = (SELECT body FROM record WHERE rowid = 2) WHERE rowid = 1",
            "UPDATE record SET body = label WHERE rowid = 1", "UPDATE record SET kind = 'sign_in' WHERE rowid = 1",
            "DELETE FROM lease", "DELETE FROM lease; UPDATE record SET version = 0",
        ])
    func changed(sql: String) async throws {
        try await tampered.rejectsChangedRecord(sql)
    }

    @Test(
        "a label that was changed, moved or put under another kind is left out of the listing and reported",
        arguments: [
            "label = zeroblob(50)", "label = body", "label = (SELECT label FROM record WHERE rowid = 2)",
            "name = x'01'",
        ])
    func labels(change: String) async throws {
        try await tampered.leavesOutChangedLabel(change)
    }

    @Test("a body or a label of five megabytes is damage, and is not read")
    func sizes() async throws {
        try await vault.put([1], under: .alice)
        try await vault.put([2], under: .bob)
        try folder.edit("UPDATE record SET body = zeroblob(5000000) WHERE rowid = 1")
        let error = await #expect(throws: VaultError.self) { try await vault.record(.alice) }
        // What was read would be no record of this version.
        #expect(error?.code == "vault_damaged" && "\(String(describing: error))".contains("column body"))
        try folder.edit("UPDATE record SET label = zeroblob(5000000) WHERE rowid = 1")
        let listing = try await vault.keys(of: .account)
        #expect(listing.keys == [.bob])
        #expect(listing.damaged.map { "\($0)".contains("too short for a record (0 bytes)") } == [true])
    }

    @Test("a record that names another key is locked, and stays")
    func key() async throws {
        try await vault.put([1], under: .alice)
        try folder.edit("UPDATE record SET key = 2")
        let error = await #expect(throws: VaultError.self) { try await vault.record(.alice) }
        #expect(error?.code == "vault_locked")
        try folder.edit("UPDATE record SET key = 1")
        #expect(try await vault.record(.alice) == [1])
    }

    @Test(
        "tables of other types end in an error, not in a trap",
        arguments: [
            ("record", "kind, key, version, label, body, name", "1, 'x', 'y', NULL, 2.5, (SELECT name FROM lease)"),
            (
                "record", "name, kind, key, version, label, body",
                "(SELECT name FROM lease), NULL, NULL, NULL, NULL, NULL"
            ),
            ("lease", "name, holder, fence, version, freed_at", "(SELECT name FROM record), 'x', 1e300, x'ff', 'now'"),
            (
                "lease", "name, holder, fence, version, freed_at",
                "(SELECT name FROM record), x'', 9223372036854775807, 1, NULL"
            ),
        ])
    func types(table: String, columns: String, values: String) async throws {
        try await vault.put([1], under: .alice)
        try folder.edit(
            "CREATE TABLE new (\(columns)); INSERT INTO new VALUES (\(values)); DROP TABLE \(table); ALTER TABLE new RENAME TO \(table)"
        )
        // What the vault makes of it differs; that it comes back is what counts.
        _ = try? await vault.record(.alice)
        _ = try? await vault.keys(of: .account)
        _ = try? await vault.remove(.alice)
        await #expect(throws: VaultError.self) { try await vault.put([2], under: .alice) }
    }

    @Test("nothing readable is in the files: no name, no contents")
    func confidential() async throws {
        try await vault.put(Array("a secret token".utf8), under: .alice)
        for suffix in ["", "-wal", "-lock"] {
            let bytes = try Data(contentsOf: URL(filePath: folder.database + suffix))
            for text in ["a secret token", "service.example", "alice"] {
                #expect(bytes.range(of: Data(text.utf8)) == nil)
            }
        }
    }
}
