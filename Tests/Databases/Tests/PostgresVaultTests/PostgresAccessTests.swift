import Foundation
import Handshake
import TestFixtures
import Testing

@testable import PostgresVault

@Suite(
    "Opening a PostgreSQL vault", .heavy, .serialized,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresAccessTests {
    private let server: PostgresServer
    private let folder: PostgresFolder
    private var place: PostgresPlace { folder.place }

    init() async throws {
        server = try await PostgresServer.shared
        folder = try await PostgresFolder()
    }

    @Test("a vault is made once, with one key")
    func made() async throws {
        #expect(try await place.migrate())
        #expect(try await !place.migrate())
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.keys).count == 1)
        try await place.open().put([1], under: .alice)
        #expect(try await place.open().record(.alice) == [1])
    }

    @Test("a vault that was never made is an error that names the command, and nothing appears")
    func missing() async throws {
        let error = await #expect(throws: VaultError.self) { try await place.open() }
        let address = try PostgresAddress(place.connection)
        let cure = "handshake vault migrate --vault 'postgres:\(address)'"
        #expect("\(address)".hasSuffix("/postgres?sslmode=disable"))
        #expect(error.map { "\($0)".contains(cure) } == true)
        #expect(try await folder.look("SELECT count(*) FROM pg_namespace WHERE nspname = '\(place.schema)'") == [0])
    }

    @Test(
        "VL45: another application's schema is refused and stays as it is",
        arguments: [
            "CREATE TABLE @.other (x integer)", "CREATE TABLE @.meta (one integer)",
            "CREATE TABLE @.meta AS SELECT 1 AS one, 1 AS reads, 1 AS schema, 'other'::text AS application",
        ])
    func foreign(sql: String) async throws {
        try await folder.edit("CREATE SCHEMA @", sql)
        let migrated = await #expect(throws: VaultError.self) { try await place.migrate() }
        #expect(migrated?.code == "vault_denied")
        if sql.contains("meta") {
            #expect(migrated.map { "\($0)".contains("another application") } == true)
            let opened = await #expect(throws: VaultError.self) { try await place.open() }
            #expect(opened.map { "\($0)".contains("another application") } == true)
        }
        let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = '@'::regnamespace"
        #expect(try await folder.look(tables) == [1])
    }

    @Test("VL45: tables of a newer version are refused before any write; those that this version may read are used")
    func newer() async throws {
        try await folder.vault().put([1], under: .alice)
        try await folder.edit("UPDATE @.meta SET schema = 2", "ALTER TABLE @.record ADD more text")
        try await place.open().put([2], under: .alice)
        try await folder.edit("UPDATE @.meta SET schema = 9, reads = 2", "ALTER TABLE @.meta RENAME vault TO vault_2")
        for attempt in [{ _ = try await place.open() }, { _ = try await place.migrate() }] {
            let error = await #expect(throws: VaultError.self) { try await attempt() }
            #expect(error?.code == "vault_denied" && error.map { "\($0)".contains("Update the program") } == true)
        }
    }

    @Test("a key that is missing or another vault's opens nothing")
    func keys() async throws {
        _ = try await folder.vault()
        let names = try FileManager.default.contentsOfDirectory(atPath: place.keys)
        let file = place.keys + "/" + (try #require(names.first))
        try Data(repeating: 1, count: 32).write(to: URL(filePath: file))
        for _ in 1...2 {
            let error = await #expect(throws: VaultError.self) { try await place.open() }
            #expect(error?.code == "vault_locked")
            try? FileManager.default.removeItem(atPath: file)
        }
    }

    @Test("more keys than rotations leave behind are damage, and none is asked for")
    func manyKeys() async throws {
        _ = try await folder.vault()
        try await folder.edit(
            """
            INSERT INTO @.key (id, identifier, proof, made_at, state)
            SELECT i, gen_random_uuid(), '\\x00', now(), 'old' FROM generate_series(2, 1001) i
            """)
        let error = await #expect(throws: VaultError.self) { try await place.open() }
        #expect(error?.code == "vault_damaged")
    }

    @Test("no error and no description holds the password, and a wrong one is denied with the cure")
    func password() async throws {
        try await folder.edit("CREATE ROLE secretive LOGIN PASSWORD 'right one'")
        let (wrong, uri) = ("hunter2 is 'it", "hunter2%20is%20%27it")
        let path = server.socket.replacingOccurrences(of: "/", with: "%2F")
        var place = place
        for connection in [
            server.connection(user: "secretive", more: "password='hunter2 is \\'it'"),
            "postgresql://secretive:\(uri)@\(path)/postgres?sslmode=disable",
            "postgresql://secretive:\(uri)@\(path)/postgres?sslmode=disable&unknown=\(uri)",
            "postgresql://secretive:\(uri)@[broken/postgres", "password=\(uri) \(uri)", "host=/nowhere password=\(uri)",
            "hunter2", "\(uri)\0",
            // What libpq takes for a host, a port or a database when @ and / are not written with %.
            "postgresql://secretive:a@hunter2@127.0.0.1:1/x", "postgresql://secretive:hunter2/a@127.0.0.1:1/x",
            "postgresql://secretive:1/hunter2@127.0.0.1:1/x", "dbname=postgresql://secretive:hunter2@127.0.0.1:1/x",
            "host=127.0.0.1 dbname='password=hunter2'", "host=127.0.0.1 port=hunter2",
        ] {
            place.connection = connection
            let error = try #require(await #expect(throws: VaultError.self) { try await place.open() })
            var text = "\(error) \(String(reflecting: error))"
            if let address = try? PostgresAddress(connection) {
                text += "\(address) \(String(reflecting: address))"
                dump(address, to: &text)
            }
            #expect(!text.contains("hunter2") && !text.contains(wrong), "\(text)")
        }
        place.connection = server.connection(user: "secretive", more: "password=wrong")
        let error = await #expect(throws: VaultError.self) { try await place.open() }
        #expect(error?.code == "vault_denied" && error.map { "\($0)".contains("PGPASSFILE") } == true)
        place.connection = server.connection(user: "secretive", more: "password='right one'")
        let missing = await #expect(throws: VaultError.self) { try await place.open() }
        #expect(missing?.code == "vault_denied")
    }

    @Test(
        "a schema's name cannot hold a statement", arguments: ["", "a b", "a\"; DROP", "Vault", "1a", "pg_vault", "ä"])
    func schema(name: String) async throws {
        #expect(throws: VaultError.self) { try PostgresSchema(name) }
    }

    @Test("a wait that is shorter than a lease and its observation is refused")
    func wait() async throws {
        _ = try await place.migrate()
        let error = await #expect(throws: VaultError.self) { try await place.open(timeout: .seconds(49), timing: nil) }
        #expect(error?.code == "vault_denied")
        _ = try await place.open(timeout: .seconds(50), timing: nil)
    }

    @Test("the documented role reads, writes and removes, and can neither migrate nor change a key")
    func roles() async throws {
        _ = try await folder.vault()
        let role = "app_\(place.schema)"
        try await folder.edit(
            "CREATE ROLE \(role) LOGIN", "GRANT USAGE ON SCHEMA @ TO \(role)",
            "GRANT SELECT ON @.meta, @.key TO \(role)",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON @.record, @.lease TO \(role)")
        var place = place
        place.connection = server.connection(user: role)
        let vault = try await place.open()
        try await vault.put([1], under: .alice)
        #expect(try await vault.record(.alice) == [1])
        #expect(try await vault.keys(of: .account).keys == [.alice])
        #expect(try await vault.remove(.alice))
        let error = await #expect(throws: VaultError.self) { try await vault.rotateKey() }
        #expect(error?.code == "vault_denied" && error.map { "\($0)".contains("permission denied") } == true)
        // The new key, which seals nothing, is gone.
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.keys).count == 1)
        // A database in which the role may make nothing.
        try await folder.edit("DROP SCHEMA @ CASCADE")
        let migrated = await #expect(throws: VaultError.self) { try await place.migrate() }
        #expect(migrated?.code == "vault_denied")
    }
}
