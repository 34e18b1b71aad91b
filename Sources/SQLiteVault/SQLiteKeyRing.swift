#if SQLite
import Foundation
import GRDB
import Handshake

/// A master key as its table shows it, without the key itself (`vault-lease.md` 3, 8).
struct SQLiteKey: Sendable {
    let number: Int64
    /// Under what a key store keeps it.
    let identifier: VaultIdentifier
    /// ``RecordSeal/check`` with the right key.
    let proof: [UInt8]
    /// The key of records' names, sealed with this key; nil for the first one, which it is derived from.
    let names: [UInt8]?
    /// Whether new records are sealed with it. The others only open what they sealed.
    let isActive: Bool

    /// The keys that are not retired.
    static func all(_ db: Database, path: String) throws -> [SQLiteKey] {
        let keys = try Row.fetchAll(
            db, sql: "SELECT id, identifier, proof, names, state FROM key WHERE state <> 'retired' ORDER BY id"
        )
        .map { row in
            guard let identifier = VaultIdentifier(stored: Array(try row.stored("identifier") as Data)) else {
                throw VaultError.damaged(what: "\(path), table key", reason: "an identifier is not 16 bytes")
            }
            return SQLiteKey(
                number: try row.stored("id"), identifier: identifier, proof: Array(try row.stored("proof") as Data),
                names: Data.fromDatabaseValue(row["names"]).map { Array($0) },
                isActive: try row.stored("state") == "active")
        }
        guard keys.filter(\.isActive).count == 1 else {
            throw VaultError.damaged(what: "\(path), table key", reason: "it has no active key, or several")
        }
        return keys
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
            throw VaultError.denied(
                what: file.path,
                reason: "its key comes from a place where no new one can be put. "
                    + "Make a vault with another key, and copy the records to it")
        }
    }

    static func path(_ path: String, _ number: Int64, _ identifier: VaultIdentifier) -> String {
        number == SQLiteSchema.firstKey ? path : "\(path).\(identifier)"
    }

    /// What errors say when the key is missing that a vault needs to be opened.
    func missing(_ key: SQLiteKey, of path: String) -> VaultError {
        let loss = "If it is lost, so are the records: move \(path) away and sign in again"
        return switch self {
        case .file(let file):
            .locked("its key file \(Self.path(file, key.number, key.identifier)) is missing; put it back. \(loss)")
        case .store(_, let name): .locked("the \(name) does not have the key of \(path). \(loss)")
        case .given: .locked("the key of \(path) was not given. \(loss)")
        }
    }
}

/// The master keys of a vault that are in use: one seals, and any of them opens what it sealed.
struct SQLiteKeyRing: Sendable {
    /// The key that seals.
    let active: SQLiteKey
    /// What seals with it. All seals give records the same names.
    let seal: RecordSeal
    private let seals: [Int64: RecordSeal]

    /// - Parameters:
    ///   - masters: the keys that were found, by their numbers. An old one may be missing: its records are then locked.
    ///   - former: the ring as it was before. What it opens, this one opens too: a listing may still hold records of a key that was retired
    ///     meanwhile.
    init(
        _ contents: SQLiteSchema.Contents, _ masters: [Int64: VaultMasterKey], after former: SQLiteKeyRing? = nil,
        _ source: SQLiteKeySource, path: String
    ) throws(VaultError) {
        var seals = former?.seals ?? [:]
        for key in contents.keys {
            if let known = seals[key.number] {
                guard known.check == key.proof else {
                    throw .damaged(
                        what: "\(path), table key",
                        reason: "key \(key.number) is another one now; open the vault again if a copy was put back")
                }
                continue
            }
            guard let master = masters[key.number] else { continue }
            let seal = RecordSeal(vault: contents.identifier, master: master)
            guard seal.check == key.proof else {
                guard key.isActive else { continue }
                throw .locked("the key is not the one that \(path) was made with; put the right one back")
            }
            if let names = key.names {
                seals[key.number] = try seal.withNames(names, path: "\(path), table key")
            } else {
                seals[key.number] = seal
            }
        }
        guard var active = contents.keys.first(where: \.isActive) else {
            throw .damaged(what: "\(path), table key", reason: "it has no active key")
        }
        // Numbers only grow: this was read before the former ring was.
        if let former, former.active.number > active.number { active = former.active }
        guard let seal = seals[active.number] else { throw source.missing(active, of: path) }
        self.active = active
        self.seal = seal
        self.seals = seals
    }

    /// What opens the records of a key; nil when the key is not there.
    subscript(number: Int64) -> RecordSeal? { seals[number] }
}
#endif
