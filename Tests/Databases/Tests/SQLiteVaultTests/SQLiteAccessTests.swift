import Foundation
import GRDB
import Handshake
import TestFixtures
import Testing

@testable import SQLiteVault

@Suite("Opening a SQLite vault", .heavy)
struct SQLiteAccessTests {
    private let folder: SQLiteFolder

    init() throws { folder = try SQLiteFolder() }

    @Test("a vault is made once, with mode 0600, and commits reach the storage before a write returns")
    func made() async throws {
        #expect(try folder.place.migrate())
        #expect(try !folder.place.migrate())
        let vault = try folder.place.open()
        try await vault.put([1], under: .alice)
        for suffix in ["", "-wal", "-shm", "-lock"] { #expect(try mode(folder.database + suffix) == 0o600) }
        #expect(try folder.look("PRAGMA journal_mode") == ["wal"])
        let synchronous = try await vault.store.pool.writeWithoutTransaction {
            try Int.fetchOne($0, sql: "PRAGMA synchronous")
        }
        #expect(synchronous == 2)
        try await vault.checkIntegrity()
    }

    @Test("a vault that was never made is an error that names the command, and no file appears")
    func missing() throws {
        let error = try #require(throws: VaultError.self) { try folder.place.open() }
        #expect("\(error)".contains("handshake vault migrate --vault sqlite:\(folder.database)"))
        #expect(!FileManager.default.fileExists(atPath: folder.database))
    }

    @Test("a file without tables, as a process that died leaves it, is completed")
    func unfinished() async throws {
        try makeFile([])
        #expect(throws: VaultError.self) { try folder.place.open() }
        #expect(try folder.place.migrate())
        try await folder.place.open().put([1], under: .alice)
    }

    @Test(
        "another application's database is refused and stays as it is",
        arguments: [
            "CREATE TABLE meta (one, application, vault, schema, reads)", "PRAGMA application_id = 7",
            "CREATE VIEW v AS SELECT 1",
        ])
    func foreign(sql: String) throws {
        try makeFile([])
        try folder.edit(sql)
        try expectRefusal("another application")
    }

    @Test("VL45: tables of a newer version are refused before any write")
    func newer() throws {
        _ = try folder.vault()
        try folder.edit("UPDATE meta SET schema = 9, reads = 2; ALTER TABLE meta RENAME COLUMN vault TO vault_2")
        try expectRefusal("Update the program")
    }

    @Test("newer tables that this version may still read are used")
    func compatible() async throws {
        try await folder.vault().put([1], under: .alice)
        try folder.edit("UPDATE meta SET schema = 2; ALTER TABLE record ADD COLUMN more TEXT")
        let vault = try folder.place.open()
        try await vault.put([2], under: .alice)
        #expect(try await vault.record(.alice) == [2])
    }

    @Test("what is no database is damaged, and so is one whose tables are gone")
    func damaged() throws {
        try makeFile([UInt8](repeating: 0x41, count: 8192))
        #expect(throws: VaultError.self) { try folder.place.migrate() }
        let error = try #require(throws: VaultError.self) { try folder.place.open() }
        #expect(error.code == "vault_damaged")
        try FileManager.default.removeItem(atPath: folder.database)
        _ = try folder.vault()
        for sql in ["DELETE FROM key", "UPDATE meta SET vault = x'00'", "DELETE FROM meta", "DROP TABLE meta"] {
            try folder.edit(sql)
            let error = try #require(throws: VaultError.self) { try folder.place.open() }
            #expect(error.code == "vault_damaged", "\(sql)")
        }
    }

    @Test("a key that is missing, another vault's or in the database's own folder opens nothing")
    func keys() throws {
        _ = try folder.vault()
        let key = try Data(contentsOf: URL(filePath: folder.place.keyFile))
        try FileManager.default.removeItem(atPath: folder.place.keyFile)
        expect("vault_locked") { _ = try folder.place.open() }
        try makeFile([UInt8](repeating: 1, count: 32), at: folder.place.keyFile)
        expect("vault_locked") { _ = try folder.place.open() }
        let beside = folder.place.parent + "/data/key"
        try makeFile(Array(key), at: beside)
        let error = try #require(throws: VaultError.self) { try SQLiteVault(folder.database, keyFile: beside) }
        #expect(error.code == "vault_denied")
    }

    @Test(
        "modes, links and folders that give others access are refused with the cure",
        arguments: [
            (0o644, "chmod 600"), (0o660, "chmod 600"), (0o400, "chmod 600"),
        ])
    func modes(mode: Int, cure: String) throws {
        _ = try folder.vault()
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.database)
        let error = try #require(throws: VaultError.self) { try folder.place.open() }
        #expect(error.code == "vault_denied" && "\(error)".contains(cure))
    }

    @Test("a vault that others got access to while it was open is refused too")
    func opened() async throws {
        let vault = try folder.vault()
        try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: folder.database)
        let error = await #expect(throws: VaultError.self) { try await vault.put([1], under: .alice) }
        #expect(error?.code == "vault_denied")
    }

    @Test("a database with a second name, and a symbolic link to one, are refused")
    func links() throws {
        _ = try folder.vault()
        try FileManager.default.linkItem(atPath: folder.database, toPath: folder.database + "2")
        expect("vault_denied") { _ = try folder.place.open() }
        try FileManager.default.removeItem(atPath: folder.database)
        try FileManager.default.createSymbolicLink(atPath: folder.database, withDestinationPath: folder.database + "2")
        expect("vault_denied") { _ = try folder.place.open() }
    }

    @Test("a folder in which others can replace the database is refused")
    func folders() throws {
        _ = try folder.vault()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.place.parent + "/data")
        expect("vault_denied") { _ = try folder.place.open() }
    }

    @Test("a database that was removed or replaced while it was open takes no more records", arguments: [true, false])
    func replaced(isReplaced: Bool) async throws {
        let vault = try folder.vault()
        try await vault.put([1], under: .alice)
        for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: folder.database + suffix) }
        if isReplaced { _ = try folder.place.migrate() }
        await expectUnavailable { _ = try await vault.record(.alice) }
        await expectUnavailable { _ = try await vault.put([2], under: .alice) }
        await expectUnavailable { _ = try await vault.keys(of: .account) }
    }

    /// The database is neither opened nor migrated, and no byte of it changes.
    private func expectRefusal(_ text: String) throws {
        let before = try Data(contentsOf: URL(filePath: folder.database))
        for attempt in [{ _ = try folder.place.open() }, { _ = try folder.place.migrate() }] {
            let error = try #require(throws: VaultError.self) { try attempt() }
            #expect(error.code == "vault_denied" && "\(error)".contains(text))
        }
        #expect(try Data(contentsOf: URL(filePath: folder.database)) == before)
    }

    private func expect(_ code: String, _ body: () throws -> Void) {
        let error = #expect(throws: VaultError.self) { try body() }
        #expect(error?.code == code)
    }

    private func expectUnavailable(_ body: () async throws -> Void) async {
        let error = await #expect(throws: VaultError.self) { try await body() }
        #expect(error?.code == "vault_unavailable")
    }

    private func mode(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }

    private func makeFile(_ bytes: [UInt8], at path: String? = nil) throws {
        let path = path ?? folder.database
        try FileManager.default.createDirectory(
            atPath: folder.place.parent + "/data", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try #require(
            FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600]))
    }
}
