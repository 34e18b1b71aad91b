#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A small file of the user outside a vault: settings, a client's secret, a token.
///
/// It is refused when another user could have written it or, for a secret, can read it (`oauth-security.md` E5).
package enum TrustedFile {
    /// What other users may do with the file.
    package enum Others: Sendable {
        /// Nothing: it holds a secret.
        case mayDoNothing
        /// Read it, but not write it.
        case mayRead
        /// Own it, if they are root, and read it by an access list, as systemd grants it. The mode does not show that list.
        case mayReadAndRootMayOwn
    }

    /// The contents of a file; nil when there is none.
    ///
    /// The checks are made on the open file, so that it cannot change between the check and the reading: a regular file, no
    /// symbolic link, one name, owned by this user. Its folder must be one where other users cannot replace it.
    ///
    /// - Throws: ``VaultError/denied(what:reason:)`` with the cure; ``VaultError/damaged(what:reason:)`` when it is longer than
    ///   `limit`; ``VaultError/unavailable(_:)``.
    package static func contents(
        of path: String, limit: Int, others: Others
    ) throws(VaultError) -> [UInt8]? {
        let (above, name) = Folder.split(path)
        guard let folder = try Folder.open(above, isOurs: false) else { return nil }
        guard let file = try folder.existing(name, O_RDONLY) else { return nil }
        let status = try folder.describing(path) { () throws(SystemFailure) in try file.status() }
        try status.requireTrusted(at: path, others: others)
        try folder.describing(above) { () throws(SystemFailure) in try folder.descriptor.status() }
            .requireTrustedFolder(at: above)
        guard status.size <= limit else {
            throw .damaged(what: path, reason: "it has \(status.size) bytes; the most that is read is \(limit)")
        }
        do throws(SystemFailure) { return try file.readAll(capacity: limit) } catch { throw error.vaultError(at: path) }
    }
}

extension FileStatus {
    private static let groupAndOthersWrite: UInt32 = 0o022
    private static let othersRead: UInt32 = 0o004
    private static let sticky: UInt32 = 0o1000

    fileprivate func requireTrusted(at path: String, others: TrustedFile.Others) throws(VaultError) {
        switch (others, kind) {
        case (.mayDoNothing, _): try requireOurFile(at: path)
        case (_, .file):
            if owner != 0 || others != .mayReadAndRootMayOwn { try requireOwner(at: path) }
            guard mode & Self.groupAndOthersWrite == 0 else {
                throw .denied(
                    what: path,
                    reason:
                        "other users can write it (mode 0\(String(mode, radix: 8))). Fix it with: chmod go-w \(path)"
                )
            }
            guard others != .mayReadAndRootMayOwn || mode & Self.othersRead == 0 else {
                throw .denied(
                    what: path,
                    reason: "everyone can read it (mode 0\(String(mode, radix: 8))). Fix it with: chmod o-r \(path)")
            }
            guard names <= 1 else {
                throw .denied(
                    what: path, reason: "it has \(names) names (hard links); copy it to a new file and replace it")
            }
        case (_, .folder): throw .denied(what: path, reason: "it is a folder, not a file; move it away")
        case (_, .other(let kind)):
            throw .denied(what: path, reason: "it is \(kind), not a file; put the file itself there")
        }
    }

    /// Refuses a folder in which other users can replace files. With the sticky bit, as in `/tmp`, they cannot.
    func requireTrustedFolder(at path: String) throws(VaultError) {
        guard owner == UInt32(geteuid()) || owner == 0 else {
            throw .denied(what: path, reason: "this folder belongs to user \(owner), who can replace what is in it")
        }
        guard mode & Self.groupAndOthersWrite == 0 || mode & Self.sticky != 0 else {
            throw .denied(
                what: path,
                reason:
                    "other users can write to this folder (mode 0\(String(mode, radix: 8))). Fix it with: chmod go-w \(path)"
            )
        }
    }

    func requireOwner(at path: String) throws(VaultError) {
        let user = UInt32(geteuid())
        guard owner == user else {
            throw .denied(
                what: path,
                reason:
                    "it belongs to user \(owner), but this process runs as user \(user). Fix it with: chown \(user) \(path)"
            )
        }
    }
}
