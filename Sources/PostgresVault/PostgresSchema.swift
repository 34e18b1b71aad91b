#if PostgreSQL
import Handshake

/// The tables of a vault, their version, and how they are distinguished from other applications' (`vault-lease.md` 3).
struct PostgresSchema: Sendable {
    /// The version of the tables that this program makes.
    static let version: Int64 = 1
    /// The number of a new vault's key. Records name the key that sealed them.
    static let firstKey: Int64 = 1

    private static let application = "handshake vault"
    /// The two numbers of the lock that processes take while they make or upgrade tables: `HSVt`, and one for the schema.
    private static let lockClass: Int64 = 0x4853_5674

    /// What a vault's tables say of the vault.
    struct Contents: Sendable {
        let identifier: VaultIdentifier
        let timing: LeaseTiming
        /// The keys that are not retired.
        let keys: [MasterKeyEntry]
    }

    /// The schema's name: lower-case letters, digits and `_`, so that it can be part of a statement.
    let name: String

    /// - Throws: `VaultError.denied` for any other name.
    init(_ name: String) throws(VaultError) {
        let isPlain = name.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F
        }
        guard isPlain, (1...63).contains(name.utf8.count), !name.hasPrefix("pg_"), name.first?.isNumber == false else {
            throw .denied(
                what: "the schema of the PostgreSQL vault",
                reason: "its name has at most 63 lower-case letters, digits and _, and begins with a letter.")
        }
        self.name = name
    }

    /// A table's qualified name, as it stands in statements.
    func table(_ table: String) -> String { "\"\(name)\".\(table)" }

    static func missing(_ address: PostgresAddress) -> VaultError {
        .denied(
            what: "\(address)",
            reason: "there is no vault yet. Create it with: handshake vault migrate --vault \(address.quotedForShell)")
    }

    // MARK: Reading

    /// Reads whose tables these are, and changes nothing. Every statement is one that any version's tables answer.
    ///
    /// - Throws: `VaultError` for another application's or a newer version's; ``PostgresFailure``.
    func read(
        at address: PostgresAddress, _ run: (PostgresStatement) async throws(PostgresFailure) -> [PostgresRow]
    ) async throws -> Contents {
        let place = "\(address), table \(name).meta"
        // Before any column that a newer version may have changed.
        let head: [PostgresRow]
        do throws(PostgresFailure) {
            head = try await run(
                PostgresStatement(
                    "SELECT reads, schema, pg_catalog.left(application, 64) FROM \(table("meta")) WHERE one = 1"))
        } catch {
            // A table of that name with other columns.
            throw error.state == "42703" || error.state == "42883" ? foreign(address) : error
        }
        guard let row = head.first, (try? row.text(2)) == Self.application else {
            throw head.isEmpty
                ? VaultError.damaged(what: place, reason: "its one row is missing") : foreign(address)
        }
        let (reads, schema) = (try row.int(0), try row.int(1))
        guard reads <= Self.version else {
            throw VaultError.denied(
                what: "\(address)",
                reason:
                    "a newer version of this program made it (tables \(schema), this version has \(Self.version)). Update the program."
            )
        }
        let columns = "vault, lease_ms, renew_ms, observe_ms"
        let rest = try await run(PostgresStatement("SELECT \(columns) FROM \(table("meta")) WHERE one = 1"))
        guard let row = rest.first, let identifier = VaultIdentifier(stored: try row.uuid(0)) else {
            throw VaultError.damaged(what: place, reason: "its identifier is not 16 bytes")
        }
        let timing = try LeaseTiming(
            lease: .milliseconds(row.int(1)), renewal: .milliseconds(row.int(2)),
            observation: .milliseconds(row.int(3)))
        return Contents(identifier: identifier, timing: timing, keys: try await keys(at: address, run))
    }

    /// More keys than rotations leave behind; each is asked for at the key store.
    private static let maximumKeys = 1000

    /// The keys that are not retired.
    func keys(
        at address: PostgresAddress, _ run: (PostgresStatement) async throws(PostgresFailure) -> [PostgresRow]
    ) async throws -> [MasterKeyEntry] {
        let rows = try await run(
            PostgresStatement(
                "SELECT id, identifier, substring(proof FROM 1 FOR 64), substring(names FROM 1 FOR 256), state = 'active' FROM \(table("key")) WHERE state <> 'retired' "
                    + "ORDER BY id LIMIT \(Self.maximumKeys + 1)"))
        guard rows.count <= Self.maximumKeys else {
            throw VaultError.damaged(
                what: "\(address), table \(name).key",
                reason: "it names more than \(Self.maximumKeys) keys that are not retired")
        }
        return try rows.map { row in
            guard let identifier = VaultIdentifier(stored: try row.uuid(1)) else {
                throw VaultError.damaged(
                    what: "\(address), table \(name).key", reason: "an identifier is not 16 bytes")
            }
            return MasterKeyEntry(
                number: try row.int(0), identifier: identifier, proof: try row.bytes(2),
                names: row.isNull(3) ? nil : try row.bytes(3), isActive: try row.bool(4))
        }
    }

    /// Whether there are tables of a vault, or of another application, in this schema.
    ///
    /// - Returns: nil when the schema is missing or empty.
    func isVault(_ run: (PostgresStatement) async throws(PostgresFailure) -> [PostgresRow]) async throws -> Bool? {
        let rows = try await run(
            PostgresStatement(
                """
                SELECT count(*), count(*) FILTER (WHERE c.relname = 'meta') FROM pg_catalog.pg_class c
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1
                """, [.text(name)]))
        guard let row = rows.first, try row.int(0) > 0 else { return nil }
        return try row.int(1) > 0
    }

    private func foreign(_ address: PostgresAddress) -> VaultError {
        .denied(
            what: "\(address)",
            reason:
                "the schema “\(name)” is another application's and was left as it is. Name another schema or database.")
    }

    // MARK: Making

    /// Makes the tables of a new vault, or brings older ones to this version.
    ///
    /// - Parameter transaction: in which all of it happens. Other processes that do the same wait for its end.
    /// - Returns: whether the vault is new.
    func migrate(
        _ contents: Contents, at address: PostgresAddress, in transaction: PostgresTransaction
    ) async throws -> Bool {
        _ = try await transaction.run(
            PostgresStatement(
                "SELECT pg_catalog.pg_advisory_xact_lock($1::integer, pg_catalog.hashtext($2))",
                [.int(Self.lockClass), .text(name)]))
        switch try await isVault({ statement throws(PostgresFailure) in try await transaction.run(statement) }) {
        case false?: throw foreign(address)
        case true?:
            // Version 1 is the first: there is nothing to upgrade from yet.
            _ = try await read(at: address) { statement throws(PostgresFailure) in
                try await transaction.run(statement)
            }
            return false
        case nil: break
        }
        let exists = try await transaction.run(
            PostgresStatement("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", [.text(name)]))
        // The statement needs a right on the database even where it has nothing to do.
        if exists.isEmpty { try await transaction.run(PostgresStatement("CREATE SCHEMA \"\(name)\"")) }
        for sql in statements { try await transaction.run(PostgresStatement(sql)) }
        let (identifier, timing) = (contents.identifier, contents.timing)
        try await transaction.run(
            PostgresStatement(
                """
                INSERT INTO \(table("meta")) (one, application, vault, schema, reads, incarnation, lease_ms, renew_ms, observe_ms)
                VALUES (1, $1, $2, $3, $3, 1, $4, $5, $6)
                """,
                [
                    .text(Self.application), .uuid(identifier.bytes), .int(Self.version),
                    .int(timing.lease.milliseconds), .int(timing.renewal.milliseconds),
                    .int(timing.observation.milliseconds),
                ]))
        for key in contents.keys { try await transaction.run(insertion(of: key)) }
        return true
    }

    func insertion(of key: MasterKeyEntry) -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO \(table("key")) (id, identifier, proof, names, made_at, state)
            VALUES ($1, $2, $3, $4, pg_catalog.clock_timestamp(), $5)
            """,
            [
                .int(key.number), .uuid(key.identifier.bytes), .bytes(key.proof), .bytes(key.names),
                .text(key.isActive ? "active" : "old"),
            ])
    }

    private var statements: [String] {
        [
            """
            CREATE TABLE \(table("meta")) (one smallint PRIMARY KEY CHECK (one = 1), application text NOT NULL,
                vault uuid NOT NULL, schema integer NOT NULL, reads integer NOT NULL, incarnation bigint NOT NULL,
                lease_ms bigint NOT NULL, renew_ms bigint NOT NULL, observe_ms bigint NOT NULL)
            """,
            """
            CREATE TABLE \(table("key")) (id bigint PRIMARY KEY, identifier uuid NOT NULL, proof bytea NOT NULL, names bytea,
                made_at timestamptz NOT NULL, state text NOT NULL CHECK (state IN ('active', 'old', 'retired')))
            """,
            """
            CREATE TABLE \(table("record")) (name uuid PRIMARY KEY, kind text NOT NULL, key bigint NOT NULL,
                version bigint NOT NULL, label bytea NOT NULL, body bytea NOT NULL) WITH (fillfactor = 70)
            """,
            """
            CREATE TABLE \(table("lease")) (name uuid PRIMARY KEY, holder uuid, fence bigint NOT NULL, beat bigint NOT NULL,
                until timestamptz NOT NULL, taken boolean NOT NULL, wanted bigint NOT NULL, version bigint NOT NULL,
                lane integer, due_at timestamptz) WITH (fillfactor = 50)
            """,
            "CREATE INDEX record_kind ON \(table("record")) (kind, name)",
            "CREATE INDEX record_key ON \(table("record")) (key, name)",
            "CREATE INDEX lease_due ON \(table("lease")) (lane, due_at) WHERE due_at IS NOT NULL",
        ]
    }
}
#endif
