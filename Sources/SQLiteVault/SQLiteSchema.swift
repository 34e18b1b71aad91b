#if SQLite
import GRDB
import Handshake

/// The tables of a vault, their version, and how they are distinguished from other applications' (`vault-lease.md` 3, 11).
enum SQLiteSchema {
    /// What SQLite's header says of the application: `HSVt` as a number.
    static let applicationID: Int32 = 0x4853_5674
    /// The version of the tables that this program makes.
    static let version: Int64 = 1
    /// The number of a new vault's key. Records name the key that sealed them.
    static let firstKey: Int64 = 1

    private static let application = "handshake vault"

    /// What a vault's tables say of the vault.
    struct Contents: Sendable {
        let identifier: VaultIdentifier
        /// The keys that are not retired.
        let keys: [MasterKeyEntry]
    }

    static func missing(_ path: String) -> VaultError {
        .denied(
            what: path, reason: "there is no vault yet. Create it with: handshake vault migrate --vault sqlite:\(path)")
    }

    /// Reads whose database this is, and changes nothing.
    ///
    /// - Returns: nil for a database without any table.
    /// - Throws: `VaultError` for another application's or a newer version's.
    static func read(_ db: Database, path: String) throws -> Contents? {
        let id = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tables = try Int64.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        if id == 0, tables == 0 { return nil }
        guard id == applicationID else {
            throw VaultError.denied(
                what: path, reason: "it is another application's database and was left as it is. Name another file.")
        }
        // Before any column that a newer version may have changed.
        guard let row = try Row.fetchOne(db, sql: "SELECT reads, schema, application FROM meta WHERE one = 1"),
            try row.stored("application") == application
        else {
            throw VaultError.damaged(what: "\(path), table meta", reason: "its one row is missing or not a vault's")
        }
        let (reads, schema): (Int64, Int64) = (try row.stored("reads"), try row.stored("schema"))
        guard reads <= version else {
            throw VaultError.denied(
                what: path,
                reason:
                    "a newer version of this program made it (tables \(schema), this version has \(version)). Update the program."
            )
        }
        guard schema >= 1, let vault = try [UInt8].blob(db, "SELECT vault FROM meta WHERE one = 1"),
            let identifier = VaultIdentifier(stored: vault)
        else { throw VaultError.damaged(what: "\(path), table meta", reason: "its identifier is not 16 bytes") }
        return Contents(identifier: identifier, keys: try MasterKeyEntry.all(db, path: path))
    }

    /// Makes the tables of a new vault, in the caller's transaction.
    static func make(_ db: Database, _ contents: Contents, at now: Int64) throws {
        try db.execute(
            sql: """
                CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), application TEXT NOT NULL, vault BLOB NOT NULL,
                    schema INTEGER NOT NULL, reads INTEGER NOT NULL) STRICT;
                CREATE TABLE key (id INTEGER PRIMARY KEY, identifier BLOB NOT NULL, proof BLOB NOT NULL, names BLOB,
                    made_at INTEGER NOT NULL, state TEXT NOT NULL CHECK (state IN ('active', 'old', 'retired'))) STRICT;
                CREATE TABLE record (name BLOB NOT NULL PRIMARY KEY, kind TEXT NOT NULL, key INTEGER NOT NULL,
                    version INTEGER NOT NULL, label BLOB NOT NULL, body BLOB NOT NULL) STRICT;
                CREATE TABLE lease (name BLOB NOT NULL PRIMARY KEY, holder BLOB NOT NULL, fence INTEGER NOT NULL,
                    version INTEGER NOT NULL, freed_at INTEGER) STRICT, WITHOUT ROWID;
                CREATE INDEX record_kind ON record (kind, name);
                CREATE INDEX record_key ON record (key, name);
                CREATE INDEX lease_freed ON lease (freed_at) WHERE freed_at IS NOT NULL;
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(version);
                """)
        try db.execute(
            sql: "INSERT INTO meta VALUES (1, ?, ?, ?, ?)",
            arguments: [application, contents.identifier.bytes.data, version, version])
        for key in contents.keys { try key.insert(db, at: now) }
    }
}
#endif
