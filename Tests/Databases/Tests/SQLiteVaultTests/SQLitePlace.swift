import Foundation
import GRDB
import Handshake
import SQLiteVault
import TestFixtures

/// Where a SQLite vault is, in a form that goes to another process.
struct SQLitePlace: Codable, Sendable {
    let parent: String
    var database: String { parent + "/data/vault.sqlite" }
    var keyFile: String { parent + "/key" }
    var journal: String { parent + "/journal" }

    /// Opens the vault, with a wait that a busy machine does not reach.
    func open(timeout: Duration = .seconds(240), clock: any Clock<Duration> = .continuous) throws -> SQLiteVault {
        try SQLiteVault(database, keyFile: keyFile, timeout: timeout, clock: clock)
    }

    func migrate() throws -> Bool {
        try SQLiteVault.migrate(database, keyFile: keyFile)
    }
}

/// A SQLite vault's place in a temporary folder, which is removed with this value.
final class SQLiteFolder: Sendable {
    private let temporary: TemporaryFolder
    var place: SQLitePlace { SQLitePlace(parent: temporary.path) }
    var database: String { place.database }

    init() throws {
        temporary = try TemporaryFolder()
    }

    /// A new vault.
    func vault() throws -> SQLiteVault {
        _ = try place.migrate()
        return try place.open()
    }

    /// A vault that was let go of may still be closing.
    private static let patient: Configuration = {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        return configuration
    }()

    /// Changes the database behind the vault's back. `@` stands for the schema.
    func edit(_ sql: String) throws {
        let sql = sql.replacing("@.", with: "main.")
        try DatabaseQueue(path: database, configuration: Self.patient).inDatabase { try $0.execute(sql: sql) }
    }

    /// The file of a key that is not the first.
    func keyFile(_ number: Int64) throws -> String {
        let identifier = try look("SELECT lower(hex(identifier)) FROM key WHERE id = \(number)", String.self)
        return "\(place.keyFile).\(identifier.first ?? "")"
    }

    /// The first column of each row of a query.
    func look<Value: DatabaseValueConvertible & Sendable>(_ sql: String, _: Value.Type = Value.self) throws -> [Value] {
        let sql = sql.replacing("@.", with: "main.")
        return try DatabaseQueue(path: database, configuration: Self.patient).inDatabase {
            try Value.fetchAll($0, sql: sql)
        }
    }
}

extension VaultContract {
    static let all = [sqlite]

    static let sqlite = VaultContract(testDescription: "SQLite") { clock in
        let folder = try SQLiteFolder()
        _ = try folder.place.migrate()
        return Storage { KeptVault(base: try folder.place.open(timeout: timeout, clock: clock), folder: folder) }
    }
}
