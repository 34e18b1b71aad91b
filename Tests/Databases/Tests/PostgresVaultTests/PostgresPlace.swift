import Foundation
import Handshake
import Synchronization
import TestFixtures
import Testing

@testable import PostgresVault

/// Where a PostgreSQL vault is, in a form that goes to another process.
struct PostgresPlace: Codable, Sendable {
    var connection: String
    let schema: String
    let parent: String
    var keys: String { parent + "/keys" }
    var journal: String { parent + "/journal" }

    /// Short enough for a test to wait for the end of a lease.
    static let shortTiming = LeaseTiming(
        unchecked: .milliseconds(1500), renewal: .milliseconds(300), observation: .milliseconds(700))

    var options: PostgresVault.Options {
        var options = PostgresVault.Options()
        options.schema = schema
        options.connections = 4
        return options
    }

    /// Opens the vault, with leases that outlive a test's slow moments, and a wait that a busy machine does not reach.
    func open(
        timeout: Duration = .seconds(240), timing: LeaseTiming? = .standard, listen: String? = nil,
        bodyLimit: Duration = PostgresHolds.bodyLimit, clock: any Clock<Duration> = .continuous
    ) async throws -> PostgresVault {
        var options = options
        (options.timeout, options.listen) = (timeout, listen)
        return try await PostgresVault.open(
            connection, keyFolder: keys, options: options, clock: clock, timing: timing,
            bodyLimit: bodyLimit)
    }

    func migrate() async throws -> Bool {
        // Short, so that a test can wait for its end.
        let timing = try LeaseTiming(lease: .seconds(34), renewal: .seconds(2), observation: .seconds(6))
        return try await PostgresVault.migrate(connection, keyFolder: keys, options: options, timing: timing)
    }
}

/// A schema of a test's own on a server, and a folder for its keys.
final class PostgresFolder: Sendable {
    private static let next = Mutex(0)
    private let temporary: TemporaryFolder
    private let server: PostgresServer
    private let pool: PostgresPool
    let place: PostgresPlace

    /// - Parameter connection: how the vault is reached, if not directly.
    init(_ server: PostgresServer? = nil, through connection: String? = nil) async throws {
        if let server { self.server = server } else { self.server = try await PostgresServer.shared }
        temporary = try TemporaryFolder()
        let number = Self.next.withLock { next in
            next += 1
            return next
        }
        place = PostgresPlace(
            connection: connection ?? self.server.connection, schema: "vault_\(number)", parent: temporary.path)
        pool = PostgresPool(try PostgresAddress(self.server.connection), limit: 1)
    }

    deinit { pool.close() }

    /// A new vault.
    func vault(_ timing: LeaseTiming? = .standard) async throws -> PostgresVault {
        _ = try await place.migrate()
        return try await place.open(timing: timing)
    }

    /// Runs statements behind the vault's back, each in a transaction of its own. `@` stands for the schema.
    @discardableResult
    func edit(_ sql: String...) async throws -> [PostgresRow] {
        var rows: [PostgresRow] = []
        for statement in sql {
            let text = statement.replacingOccurrences(of: "@", with: "\"\(place.schema)\"")
            rows = try await pool.run(PostgresRequest(statements: [PostgresStatement(text)])).first ?? []
        }
        return rows
    }

    /// How the server carries out a statement that it has planned for any values of its parameters.
    func plan(of sql: String, _ types: String, values: String) async throws -> String {
        try await pool.transaction { transaction in
            _ = try await transaction.run(PostgresStatement("SET LOCAL plan_cache_mode = force_generic_plan"))
            _ = try await transaction.run(PostgresStatement("PREPARE planned (\(types)) AS \(sql)"))
            let rows = try await transaction.run(PostgresStatement("EXPLAIN EXECUTE planned(\(values))"))
            _ = try await transaction.run(PostgresStatement("DEALLOCATE planned"))
            return try rows.map { try $0.text(0) }.joined(separator: "\n")
        }
    }

    /// Returns when a holder's record is wanted by a waiter.
    func waitsForLease() async throws {
        while try await look("SELECT count(*) FROM @.lease WHERE wanted = fence") != [1] { await Task.yield() }
    }

    /// The numbers in the first column of a query.
    func look(_ sql: String) async throws -> [Int64] {
        try await edit(sql).map { try $0.int(0) }
    }
}

extension VaultContract {
    static let all =
        PostgresServer.isInstalled
        ? [
            postgres("PostgreSQL") { try await PostgresServer.shared.connection },
            postgres("VL36: PgBouncer, pool of 2") {
                // Skips the case, by its name.
                guard PostgresPooler.program != nil else { try Test.cancel("PgBouncer is not installed") }
                return try await PostgresPooler.shared.connection
            },
        ] : []

    private static func postgres(
        _ name: String, _ connection: @escaping @Sendable () async throws -> String
    ) -> VaultContract {
        VaultContract(testDescription: name) { clock in
            let folder = try await PostgresFolder(through: connection())
            _ = try await folder.place.migrate()
            return Storage {
                KeptVault(
                    base: try await folder.place.open(timeout: timeout, timing: nil, clock: clock), folder: folder)
            }
        }
    }
}
