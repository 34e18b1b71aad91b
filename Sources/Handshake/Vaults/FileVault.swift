/// A vault of encrypted files, one per record. Any number of processes can use it concurrently.
///
/// ```swift
/// let vault = try FileVault(directory: "\(data)/handshake/vault", keyFile: "\(config)/handshake/key")
/// ```
///
/// ### Guarantees
///
/// * **Exclusive** across tasks, across several vaults of one process, and across processes on one machine. Tasks
///   that wait for the same key of the same vault are served in the order they came; between processes there is no
///   order. A holder that dies releases the key.
/// * **Durable**: a replacement is written, synchronized, renamed and synchronized again before it returns.
///   **Atomic**: a reader sees the old record or the new one. When the storage fails in the very last step, the
///   replacement throws, and the record is whole and either of the two.
/// * **Confidential and bound**: AES-256-GCM, with a key for each record, derived from the master key
///   (HKDF-SHA256). File names are keyed digests. A record that was changed, renamed, swapped with another or brought
///   from another vault is ``VaultError/damaged(what:reason:)``. A record that was put back as it once was under the
///   same name is not noticed: nothing on the same disk could tell.
/// * **Careful**: folders have mode 0700 and files 0600, all belong to the effective user, files have one name, and
///   no symbolic link is followed in the vault's folder. Anything else is ``VaultError/denied(what:reason:)``,
///   whose reason says how to mend it.
/// * **Honest**: nothing is deleted because of an error. A vault whose key is missing is ``VaultError/locked(_:)``;
///   a new key is only ever made for a folder that is empty.
///
/// ### On disk
///
/// `vault.json` (format, random id, key check), `lock` (never removed: see ``update(_:_:)``), and up to 256 folders
/// of records. Moving the folder moves the vault; a copy of it is the same vault and opens with the same key. The
/// folder must be on a file system with working locks, so not on one that another machine shares by a protocol
/// without them.
public final class FileVault: Vault {
    private let store: RecordStore
    let seal: RecordSeal
    /// A failure where the lock file cannot be opened, as on a read-only file system: records can then be read, but not
    /// updated.
    private let locks: Result<FileLocks, VaultError>
    private let queue = ExclusiveQueue<Int64>()
    private let timeout: Duration
    private let clock: any Clock<Duration>

    /// Opens a vault, or makes it in an empty or missing folder. No record is read, so the vault's size does not matter.
    ///
    /// - Parameters:
    ///   - directory: the vault's folder. It is made with mode 0700, as are the folders above it that are missing.
    ///   - keyFile: the file with the master key, outside that folder. It is made together with the vault; several
    ///     vaults may share it.
    ///   - timeout: how long an update waits for those before it, until it fails as ``VaultError/busy(_:)``.
    ///   - clock: measures the timeout, and the pauses before a key that another process holds is tried again.
    /// - Throws: ``VaultError/locked(_:)`` when the key is missing or is another vault's;
    ///   ``VaultError/damaged(what:reason:)`` when `vault.json` is damaged, of an unknown format, or missing beside
    ///   other files; ``VaultError/denied(what:reason:)`` and ``VaultError/unavailable(_:)`` for what the operating
    ///   system says.
    public convenience init(
        directory: String, keyFile: String, timeout: Duration = .seconds(60),
        clock: any Clock<Duration> = .continuous
    ) throws(VaultError) {
        try self.init(directory: directory, key: .file(KeyFile(path: keyFile)), timeout: timeout, clock: clock)
    }

    /// Opens or makes a vault whose master key is kept elsewhere. It is made in an empty or missing folder.
    ///
    /// ```swift
    /// let key = try VaultMasterKey.credential(named: "handshake-key")
    /// let vault = try FileVault(directory: "\(data)/vault", masterKey: key)
    /// ```
    ///
    /// When two processes make the same vault concurrently, one of them succeeds; for the other the key is the wrong one, and
    /// ``VaultIdentifier/ofVault(in:)`` says under which identifier the right one is kept.
    ///
    /// - Parameters:
    ///   - directory: the vault's folder, as for the other initialiser.
    ///   - identifier: the identifier under which the key is stored. A new vault gets it; an existing one keeps its own.
    ///   - masterKey: the key.
    ///   - timeout: as for the other initialiser.
    ///   - clock: as for the other initialiser.
    /// - Throws: as the other initialiser; ``VaultError/locked(_:)`` when the key is another vault's.
    public convenience init(
        directory: String, identifier: VaultIdentifier = .random(), masterKey: VaultMasterKey,
        timeout: Duration = .seconds(60),
        clock: any Clock<Duration> = .continuous
    ) throws(VaultError) {
        try self.init(
            directory: directory, key: .given(masterKey.key, id: identifier.bytes), timeout: timeout, clock: clock)
    }

    private init(
        directory: String, key: KeySource, timeout: Duration, clock: any Clock<Duration>
    ) throws(VaultError) {
        self.timeout = timeout
        self.clock = clock
        store = RecordStore(in: try Folder.openOrMake(Folder.trimmed(directory), isOurs: true))
        locks = Self.openLocks(in: store.folder)
        seal =
            if let description = try VaultDescription.read(in: store.folder) {
                try description.seal(with: key, in: store.folder)
            } else {
                try Self.setUp(store.folder, with: key, holding: locks.get(), timeout: timeout)
            }
    }

    /// The record under a key as it is now. It does not wait for another task or process that is changing it.
    ///
    /// It reads one small file on the caller's executor: switching to another would take longer than the reading.
    ///
    /// - Throws: ``VaultError/damaged(what:reason:)``, ``VaultError/denied(what:reason:)``,
    ///   ``VaultError/unavailable(_:)``.
    public func record(_ key: VaultKey) async throws -> [UInt8]? {
        try contents(of: seal.name(of: key))
    }

    /// The keys of all records of a kind, in no order. Every record of the vault is decrypted to learn its key.
    ///
    /// Records that are damaged or denied are left out and reported beside, whatever kind they had. Files that
    /// writers left unfinished when they died are removed, if the record's key is free.
    ///
    /// - Throws: `CancellationError`, and ``VaultError`` when the vault's own folder cannot be read.
    @concurrent
    public func keys(of kind: VaultKey.Kind) async throws -> VaultListing {
        var keys: [VaultKey] = []
        var damaged: [VaultError] = []
        for shard in try store.shards() {
            try Task.checkCancellation()
            let page = listing(of: kind, in: shard)
            keys += page.keys
            damaged += page.damaged
            await Task.yield()
        }
        return VaultListing(keys: keys, damaged: damaged)
    }

    /// Hands over the keys of all records of a kind, about a 256th of them at a time.
    ///
    /// - Throws: as ``keys(of:)``, and what `body` throws.
    @concurrent
    public func forEachPage(
        of kind: VaultKey.Kind, _ body: @Sendable (VaultListing) async throws -> Void
    ) async throws {
        for shard in try store.shards() {
            try Task.checkCancellation()
            try await body(listing(of: kind, in: shard))
        }
    }

    /// Runs `body` while holding this key. It is held against every task and every process that uses the vault.
    ///
    /// The key is held by a lock on one byte of the file `lock`. Waiting for another process means looking again
    /// after 1 to 10 ms, which one task a key does; the others queue behind it.
    ///
    /// - Throws: ``VaultError/busy(_:)`` when callers before took longer than the vault's timeout;
    ///   `CancellationError` when the task was cancelled before it had the key; another ``VaultError`` when the
    ///   record cannot be read, in which case `body` does not run; and whatever `body` throws. A replacement made
    ///   before `body` throws stays.
    @concurrent
    public func update<Result: Sendable>(
        _ key: VaultKey, _ body: @Sendable (any LockedRecord) async throws -> Result
    ) async throws -> Result {
        try await holding(key) { name, locks in
            let path = store.path(of: name)
            let record = HeldRecord(path, contents: try contents(of: name)) { [self] contents throws(VaultError) in
                try locks.requireShared(in: store.folder)
                if let contents {
                    try store.replace(name, with: seal.seal(contents, of: key, as: name, path: path))
                } else {
                    try store.remove(name)
                }
            }
            return try await record.use(by: body)
        }
    }

    /// Removes a record durably while holding its key, whatever its file holds.
    ///
    /// - Returns: whether there was a record.
    /// - Throws: as ``update(_:_:)``, but never ``VaultError/damaged(what:reason:)``.
    @concurrent @discardableResult
    public func remove(_ key: VaultKey) async throws -> Bool {
        try await holding(key) { name, _ in try store.remove(name) }
    }

    /// Runs a body while holding a key.
    private func holding<Result: Sendable>(
        _ key: VaultKey, _ body: (RecordName, FileLocks) async throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        let name = seal.name(of: key)
        let locks = try locks.get()
        try await take(name, locks, on: clock)
        defer { giveBack(name, locks) }
        try locks.requireShared(in: store.folder)
        return try await body(name, locks)
    }
}

extension FileVault {
    private func listing(of kind: VaultKey.Kind, in shard: String) -> VaultListing {
        var keys: [VaultKey] = []
        var damaged: [VaultError] = []
        do throws(VaultError) {
            let (records, unfinished) = try store.names(in: shard)
            for name in records {
                do throws(VaultError) {
                    if let key = try self.key(of: name, in: shard), key.kind == kind { keys.append(key) }
                } catch {
                    damaged.append(error)
                }
            }
            for name in unfinished { removeUnfinished(name) }
        } catch {
            damaged.append(error)
        }
        return VaultListing(keys: keys, damaged: damaged)
    }

    private func contents(of name: RecordName) throws(VaultError) -> [UInt8]? {
        guard let sealed = try store.read(name) else { return nil }
        return try seal.open(sealed, as: name, path: store.path(of: name)).contents
    }

    /// The key of a record that lies in a folder; nil when it was removed meanwhile, or is of a kind that this
    /// version does not know.
    private func key(of name: RecordName, in shard: String) throws(VaultError) -> VaultKey? {
        guard name.shard == shard else {
            throw .damaged(
                what: "\(store.folder.path)/\(shard)/\(name.text)", reason: "it lies in another record's folder")
        }
        guard let sealed = try store.read(name) else { return nil }
        return VaultKey(canonical: try seal.open(sealed, as: name, path: store.path(of: name)).canonical)
    }

    /// Takes a record's key: first in this vault, in order, then against other users of the same folder.
    private func take<C: Clock<Duration>>(_ name: RecordName, _ locks: FileLocks, on clock: C) async throws {
        let deadline = clock.now.advanced(by: timeout)
        guard try await queue.acquire(name.lock, until: deadline, on: clock) else {
            throw VaultError.busy(store.path(of: name))
        }
        do {
            var pause = Duration.milliseconds(1)
            while try !locks.take(name.lock) {
                guard clock.now < deadline else { throw VaultError.busy(store.path(of: name)) }
                try await clock.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(10))
            }
        } catch {
            queue.release(name.lock)
            throw error
        }
    }

    private func giveBack(_ name: RecordName, _ locks: FileLocks) {
        locks.giveBack(name.lock)
        queue.release(name.lock)
    }

    /// Removes what a dead writer left, if the record's key is free: then no process is writing.
    private func removeUnfinished(_ name: RecordName) {
        guard case .success(let locks) = locks, queue.tryAcquire(name.lock) else { return }
        defer { queue.release(name.lock) }
        // Leftovers do no harm, so a failure to remove them is ignored.
        guard (try? locks.take(name.lock)) == true else { return }
        defer { locks.giveBack(name.lock) }
        try? store.removeUnfinished(name)
    }

    private static func openLocks(in folder: borrowing Folder) -> Result<FileLocks, VaultError> {
        do throws(VaultError) {
            return .success(try FileLocks(in: folder))
        } catch {
            return .failure(error)
        }
    }

    /// Makes a vault in an empty folder, unless another process did so first.
    private static func setUp(
        _ folder: borrowing Folder, with key: KeySource, holding locks: FileLocks, timeout: Duration
    ) throws(VaultError) -> RecordSeal {
        let path = folder.path(of: VaultDescription.fileName)
        try awaitBriefly(timeout, for: path) { () throws(VaultError) in try locks.take(FileLocks.setup) }
        defer { locks.giveBack(FileLocks.setup) }
        if let description = try VaultDescription.read(in: folder) {
            return try description.seal(with: key, in: folder)
        }
        // Without this, a vault that lost its description would get a new id, and perhaps a new key, over its old
        // records.
        let ours = [FileLocks.fileName, VaultDescription.fileName + Folder.unfinishedSuffix]
        guard try folder.names().allSatisfy(ours.contains) else {
            throw .damaged(
                what: path, reason: "it is missing, and the folder is not empty; put it back, or name another folder")
        }
        // A vault is as durable as its folder's own name, which another process may have made this moment and died.
        try Folder.open(Folder.split(folder.path).folder, isOurs: false)?.synchronize()
        let (id, master) = try key.make(protecting: folder, timeout: timeout)
        let seal = RecordSeal(vault: id, master: master)
        try VaultDescription(id: id, check: seal.check).write(in: folder)
        return seal
    }
}

extension VaultDescription {
    /// The seal of the vault that this describes.
    ///
    /// - Throws: ``VaultError/locked(_:)`` when the key is missing or is another one's.
    func seal(with key: KeySource, in folder: borrowing Folder) throws(VaultError) -> RecordSeal {
        guard let master = try key.read(protecting: folder) else {
            throw .locked(key.missing(from: folder.path))
        }
        let seal = RecordSeal(vault: id, master: master)
        guard seal.check == check else {
            throw .locked("\(key.name) is not the one that \(folder.path) was made with; put the right one back")
        }
        return seal
    }
}
