#if SQLite
import Foundation
import GRDB
import Handshake

extension MasterKeyEntry {
    /// The keys that are not retired.
    static func all(_ db: Database, path: String) throws -> [MasterKeyEntry] {
        try Row.fetchAll(
            db, sql: "SELECT id, identifier, proof, names, state FROM key WHERE state <> 'retired' ORDER BY id"
        )
        .map { row in
            guard let identifier = VaultIdentifier(stored: Array(try row.stored("identifier") as Data)) else {
                throw VaultError.damaged(what: "\(path), table key", reason: "an identifier is not 16 bytes")
            }
            return MasterKeyEntry(
                number: try row.stored("id"), identifier: identifier, proof: Array(try row.stored("proof") as Data),
                names: Data.fromDatabaseValue(row["names"]).map { Array($0) },
                isActive: try row.stored("state") == "active")
        }
    }

    func insert(_ db: Database, at now: Int64) throws {
        try db.execute(
            sql: "INSERT INTO key (id, identifier, proof, names, made_at, state) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [number, identifier.bytes.data, proof.data, names?.data, now, isActive ? "active" : "old"])
    }
}

/// Where the master keys of a vault lie.
enum SQLiteKeySource: Sendable {
    /// The first one in this file, which several vaults may share, and each later one in a file with its identifier behind the name.
    case file(String)
    /// Under their identifiers.
    case store(any VaultKeyStore, called: String)
    /// One that the caller has, from where no other can be put.
    case given(VaultMasterKey)

    /// The key; nil when it is missing.
    func master(_ number: Int64, _ identifier: VaultIdentifier, of file: DatabaseFile) async throws -> VaultMasterKey? {
        switch self {
        case .file(let path): try file.key(in: Self.path(path, number, identifier))
        case .store(let store, _): try await store.key(of: identifier)
        case .given(let key): key
        }
    }

    /// A new key, which is durable when this returns.
    func make(
        _ number: Int64, _ identifier: VaultIdentifier, of file: DatabaseFile, timeout: Duration
    ) async throws -> VaultMasterKey {
        switch self {
        case .file(let path): return try file.keyOrNew(in: Self.path(path, number, identifier), timeout: timeout)
        case .store(let store, _):
            let key = VaultMasterKey.random()
            try await store.store(key, of: identifier, label: "Handshake: key \(number) of \(file.path)")
            return key
        case .given:
            throw VaultError.keyCannotChange(of: file.path)
        }
    }

    /// Removes a key that ``make(_:_:of:timeout:)`` made.
    func remove(_ number: Int64, _ identifier: VaultIdentifier) async throws {
        switch self {
        case .file(let path):
            // The first one may be other vaults' too.
            guard number != SQLiteSchema.firstKey else { return }
            unlink(Self.path(path, number, identifier))
        case .store(let store, _): try await store.remove(identifier)
        case .given: break
        }
    }

    static func path(_ path: String, _ number: Int64, _ identifier: VaultIdentifier) -> String {
        number == SQLiteSchema.firstKey ? path : "\(path).\(identifier)"
    }

    /// The keys that are in use, of which these were found.
    func ring(
        _ contents: SQLiteSchema.Contents, _ masters: [Int64: VaultMasterKey], after former: MasterKeyRing? = nil,
        path: String
    ) throws(VaultError) -> MasterKeyRing {
        try MasterKeyRing(vault: contents.identifier, contents.keys, masters, after: former, path: path) {
            missing($0, of: path)
        }
    }

    /// What errors say when the key is missing that a vault needs to be opened.
    func missing(_ key: MasterKeyEntry, of path: String) -> VaultError {
        let loss = "If it is lost, so are the records: move \(path) away and sign in again"
        return switch self {
        case .file(let file):
            .locked("its key file \(Self.path(file, key.number, key.identifier)) is missing. Put it back. \(loss)")
        case .store(_, let name): .locked("the \(name) does not have the key of \(path). \(loss)")
        case .given: .locked("the key of \(path) was not given. \(loss)")
        }
    }
}
#endif
