import Foundation
import Handshake
import TestFixtures
import Testing

@testable import PostgresVault

/// A primary and its standby, which has every commit before the primary says that it is done.
@Suite(
    "A PostgreSQL server and its standby", .heavy, .ownThreads, .serialized, .timeLimit(.minutes(10)),
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresStandbyTests {
    private let primary: PostgresServer
    private let standby: PostgresServer

    init() async throws {
        let primary = try await PostgresServer.running()
        standby = try await PostgresServer.blocking { try PostgresServer(standbyOf: primary) }
        self.primary = primary
    }

    /// How the server is reached that takes writes.
    private func list(_ first: PostgresServer, _ second: PostgresServer) -> String {
        "host=\(first.socket),\(second.socket) dbname=postgres user=postgres sslmode=disable"
    }

    @Test("VL39: a standby alone is refused, and the error says what to connect to; a list of both finds the primary")
    func standbyAlone() async throws {
        let folder = try await PostgresFolder(primary, through: list(standby, primary))
        let vault = try await folder.vault()
        try await vault.put([1], under: .alice)
        #expect(try await folder.place.open().record(.alice) == [1])
        var place = folder.place
        place.connection = standby.connection
        let error = await #expect(throws: VaultError.self) { try await place.open() }
        let text = error.map { "\($0)" } ?? ""
        #expect(error?.code == "vault_unavailable", "\(text)")
        #expect(text.contains("read-only") && text.contains("host=A,B"), "\(text)")
    }

    /// How many connections a server has accepted, also those that the client found to be read-only.
    private static func sessions(at pool: PostgresPool) async throws -> Int64 {
        let sessions = PostgresStatement("SELECT sessions FROM pg_stat_database WHERE datname = 'postgres'")
        return try await pool.run(PostgresRequest(statements: [sessions])).first?.first?.int(0) ?? 0
    }

    @Test("VL39: a promotion in the middle of an update loses nothing: the answer is stored at the new primary")
    func promotion() async throws {
        let folder = try await PostgresFolder(primary, through: list(primary, standby))
        try await folder.edit(
            "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
        while try await folder.look("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != [1] {
            try await Task.sleep(for: .milliseconds(50))
        }
        let vault = try await folder.vault()
        try await vault.put([9], under: .bob)
        let promoting = PostgresPool(try PostgresAddress(standby.connection + "target_session_attrs=any"), limit: 1)
        defer { promoting.close() }
        try await vault.update(.alice) { [primary] record in
            try await record.replace(with: [1])
            try await PostgresServer.blocking { primary.stop(isImmediate: true) }
            // It finds no server that takes writes at first, and then the standby, which does not either.
            let before = try await Self.sessions(at: promoting)
            let isOver = Shared(false)
            let writing = Task {
                defer { isOver.change { $0 = true } }
                try await record.replace(with: [2])
            }
            // Two of the write's, as one may be the look's own.
            while !isOver.value, try await Self.sessions(at: promoting) < before + 3 {
                try await Task.sleep(for: .milliseconds(50))
            }
            let promotion = PostgresStatement("SELECT pg_promote(wait => false)")
            _ = try await promoting.run(PostgresRequest(statements: [promotion]))
            try await writing.value
        }
        #expect(try await vault.record(.alice) == [2])
        #expect(try await vault.record(.bob) == [9])
        try await vault.put([3], under: .alice)
        #expect(try await vault.record(.alice) == [3])
    }
}
