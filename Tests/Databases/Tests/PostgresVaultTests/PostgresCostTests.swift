import Handshake
import TestFixtures
import Testing

@testable import PostgresVault

@Suite(
    "What an update costs a PostgreSQL server", .heavy,
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresCostTests {
    private static let updates: Int64 = 20

    /// A server that counts statements. Its counts name no schema, so it has one vault.
    private let server: PostgresServer
    private let folder: PostgresFolder

    init() async throws {
        server = try await PostgresServer.running(
            settings: PostgresServer.testSettings + ["shared_preload_libraries=pg_stat_statements"])
        folder = try await PostgresFolder(server)
        try await folder.edit("CREATE EXTENSION pg_stat_statements")
    }

    /// The number of the next transaction that writes, which this is.
    private func transaction() async throws -> Int64 {
        try #require(try await folder.look("SELECT pg_current_xact_id()::text::bigint").first)
    }

    @Test(
        "VL33: an update is four statements in three transactions that write, and notifies only waiters"
    )
    func update() async throws {
        try await measure(statements: 4, transactions: 3) { try await $0.replace(with: [1, 2, 3]) }
        // Of the release, a row for each waiter that is told.
        #expect(
            try await folder.look("SELECT sum(rows)::bigint \(Self.counted) AND query LIKE '%pg_notify%'") == [0])
    }

    @Test("VL33: an update that concludes is three statements in two transactions that write, and no release")
    func conclusion() async throws {
        try await measure(statements: 3, transactions: 2) { try await $0.conclude(with: [1, 2, 3]) }
        #expect(try await folder.look("SELECT count(*) \(Self.counted) AND query LIKE '%pg_notify%'") == [0])
    }

    private static let counted =
        "FROM pg_stat_statements WHERE query LIKE '%lease%' AND query NOT LIKE '%pg_stat_statements%'"

    private func measure(
        statements: Int, transactions: Int64, _ body: @escaping @Sendable (any LockedRecord) async throws -> Void
    ) async throws {
        let vault = try await folder.vault()
        func update() async throws { try await vault.update(.alice, body) }
        // The statements are prepared, and the record is there.
        try await update()
        try await folder.edit("SELECT pg_stat_statements_reset()")
        let before = try await transaction()
        for _ in 0..<Self.updates { try await update() }
        #expect(try await transaction() - before == transactions * Self.updates + 1)
        #expect(
            try await folder.look("SELECT calls \(Self.counted)")
                == [Int64](repeating: Self.updates, count: statements))
    }
}
