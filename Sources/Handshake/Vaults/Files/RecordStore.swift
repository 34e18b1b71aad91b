import Synchronization

/// The sealed records of a vault on disk: one file each, in 256 folders by the first two digits of their names.
///
/// A class, because it owns the open folder that everyone who uses the vault shares.
final class RecordStore: Sendable {
    /// The vault's own folder.
    let folder: Folder

    /// The folders of records whose own names are known to be on the storage.
    private let durableShards = Mutex<Set<String>>([])

    init(in folder: consuming Folder) {
        self.folder = folder
    }

    /// Where a record lies, for messages.
    func path(of name: RecordName) -> String {
        "\(folder.path)/\(name.shard)/\(name.text)"
    }

    /// A sealed record; nil when there is none.
    func read(_ name: RecordName) throws(VaultError) -> [UInt8]? {
        try folder.requireOurs()
        guard let shard = try folder.folder(name.shard) else { return nil }
        return try shard.contents(of: name.text, limit: RecordSeal.sealedLimit)
    }

    /// Replaces a sealed record, atomically and durably. The caller holds its lock.
    func replace(_ name: RecordName, with sealed: [UInt8]) throws(VaultError) {
        try folder.requireOurs()
        // The record is as durable as its folder's name. Another process may have made that and died before it was.
        if !durableShards.withLock({ $0.contains(name.shard) }) {
            try folder.makeFolder(name.shard)
            _ = durableShards.withLock { $0.insert(name.shard) }
        }
        guard let shard = try folder.folder(name.shard) else {
            throw .unavailable(
                "\(folder.path(of: name.shard)) was removed while the vault was open; open the vault again")
        }
        try shard.replace(name.text, with: sealed)
    }

    /// Removes a sealed record durably. The caller holds its lock.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    func remove(_ name: RecordName) throws(VaultError) -> Bool {
        try folder.requireOurs()
        guard let shard = try folder.folder(name.shard) else { return false }
        return try shard.remove(name.text)
    }

    /// Removes what a dead writer left of a record's next contents. The caller holds its lock.
    func removeUnfinished(_ name: RecordName) throws(VaultError) {
        guard let shard = try folder.folder(name.shard) else { return }
        try shard.removeUnfinished(name.text)
    }

    /// The names of the folders that hold records.
    func shards() throws(VaultError) -> [String] {
        try folder.requireOurs()
        return try folder.names().filter { $0.utf8.count == 2 && Hexadecimal.bytes(of: $0) != nil }
    }

    /// The names of the records in a folder, and of those whose next contents were begun. Foreign files are no
    /// business of ours.
    func names(in shard: String) throws(VaultError) -> (records: [RecordName], unfinished: [RecordName]) {
        guard let folder = try folder.folder(shard) else { return ([], []) }
        let names = try folder.names()
        let unfinished = names.filter { $0.hasSuffix(Folder.unfinishedSuffix) }
        return (
            names.compactMap { RecordName($0) },
            unfinished.compactMap { RecordName(String($0.dropLast(Folder.unfinishedSuffix.utf8.count))) }
        )
    }
}
