#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Whole files in a folder: read, replaced, removed.
extension Folder {
    /// The contents of a file, after its kind, owner, mode, links and size were checked; nil when there is none.
    ///
    /// - Throws: ``VaultError/damaged(what:reason:)`` when it is larger than `limit`,
    ///   ``VaultError/denied(what:reason:)`` when it may not be trusted.
    func contents(of name: String, limit: Int) throws(VaultError) -> [UInt8]? {
        guard let file = try existing(name, O_RDONLY) else { return nil }
        let path = path(of: name)
        let status: FileStatus
        let bytes: [UInt8]
        do throws(SystemFailure) { status = try file.status() } catch { throw error.vaultError(at: path) }
        try status.requireOurFile(at: path)
        guard status.size <= limit else {
            throw .damaged(what: path, reason: "it has \(status.size) bytes, and no such file has more than \(limit)")
        }
        // One byte more than there should be, so that the end is seen and not assumed.
        do throws(SystemFailure) { bytes = try file.readAll(capacity: status.size + 1) } catch {
            throw error.vaultError(at: path)
        }
        guard bytes.count == status.size else {
            throw .damaged(what: path, reason: "its length changed while it was read")
        }
        return bytes
    }

    /// Replaces a file as a whole and durably; the caller holds the lock that covers the name.
    ///
    /// Readers see the old contents or the new. When this throws, the old contents are untouched, but for one case
    /// that no file system lets us undo: when the very last step fails, putting the name on the storage, the file is
    /// whole and either of the two.
    func replace(_ name: String, with bytes: [UInt8]) throws(VaultError) {
        let unfinished = name + Self.unfinishedSuffix
        let path = path(of: name)
        try removeUnfinished(name)
        do throws(SystemFailure) {
            let file = try Descriptor(unfinished, in: descriptor, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            try file.writeAll(bytes)
            try file.synchronize()
            _ = try uninterrupted { renameat(descriptor.number, unfinished, descriptor.number, name) }
        } catch {
            unlinkat(descriptor.number, unfinished, 0)
            throw error.vaultError(at: path)
        }
        try synchronize()
    }

    /// Removes a file and what a dead writer left of its next contents, durably; the caller holds the lock that
    /// covers the name.
    func remove(_ name: String) throws(VaultError) -> Bool {
        try removeUnfinished(name)
        let existed = try removeName(name)
        try synchronize()
        return existed
    }

    /// Removes what a dead writer left of a file's next contents; the caller holds the lock that covers the name.
    ///
    /// Only the holder of that lock writes this file, so while we hold it no other process does.
    func removeUnfinished(_ name: String) throws(VaultError) {
        _ = try removeName(name + Self.unfinishedSuffix)
    }

    private func removeName(_ name: String) throws(VaultError) -> Bool {
        do throws(SystemFailure) {
            _ = try uninterrupted { unlinkat(descriptor.number, name, 0) }
            return true
        } catch {
            if error.code != ENOENT { throw error.vaultError(at: path(of: name)) }
            return false
        }
    }
}
