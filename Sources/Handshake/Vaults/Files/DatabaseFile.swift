#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The file of a database vault, as its vault may trust it: the folder, the file, and the locks beside it.
///
/// The file itself is never opened here, apart from making it. SQLite's own locks belong to the process, and closing any descriptor of
/// the file would release them.
package final class DatabaseFile: Sendable {
    /// The path that the caller named.
    package let path: String
    /// Where each byte stands for a record: a file named after the database with `-lock` behind.
    package let locks: FileLocks

    private let folder: Folder
    private let name: String
    private let identity: FileStatus.Identity

    /// What SQLite keeps beside the file.
    private static let companions = ["-wal", "-shm", "-journal"]

    /// Finds a database, and checks that it is this user's alone.
    ///
    /// - Returns: nil when there is no such file.
    /// - Throws: ``VaultError/denied(what:reason:)`` with the cure; ``VaultError/unavailable(_:)``.
    package static func open(_ path: String) throws(VaultError) -> DatabaseFile? {
        let (above, name) = Folder.split(path)
        guard let folder = try Folder.open(above, isOurs: false) else { return nil }
        guard let status = try status(of: name, in: folder) else { return nil }
        return try DatabaseFile(name, in: folder, status)
    }

    /// As ``open(_:)``; makes an empty file with mode 0600 when it is missing, and the folders above with mode 0700.
    package static func openOrMake(_ path: String) throws(VaultError) -> DatabaseFile {
        let (above, name) = Folder.split(path)
        let folder = try Folder.openOrMake(above, isOurs: false)
        if try status(of: name, in: folder) == nil {
            do throws(SystemFailure) {
                _ = try Descriptor(name, in: folder.descriptor, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            } catch {
                // Another process may have made it meanwhile.
                guard error.code == EEXIST else { throw error.vaultError(at: folder.path(of: name)) }
            }
            try folder.synchronize()
        }
        guard let status = try status(of: name, in: folder) else {
            throw SystemFailure(code: ENOENT).vaultError(at: folder.path(of: name))
        }
        return try DatabaseFile(name, in: folder, status)
    }

    private init(_ name: String, in folder: consuming Folder, _ status: FileStatus) throws(VaultError) {
        path = folder.path(of: name)
        self.name = name
        try folder.describing(folder.path) { () throws(SystemFailure) in try folder.descriptor.status() }
            .requireTrustedFolder(at: folder.path)
        try status.requireDatabase(at: path)
        for companion in Self.companions {
            try Self.status(of: name + companion, in: folder)?.requireOurFile(at: path + companion)
        }
        try Self.requireLocal(folder)
        identity = status.identity
        locks = try FileLocks(in: folder, named: name + "-lock")
        self.folder = folder
    }

    /// Refuses to go on when the file or its lock was removed or replaced, since others then use another one, or when others may use it.
    package func requireSame() throws(VaultError) {
        let status = try Self.status(of: name, in: folder)
        guard let status, status.identity == identity else {
            throw .unavailable("\(path) was removed or replaced while the vault was open; open the vault again")
        }
        try status.requireDatabase(at: path)
        try locks.requireShared(in: folder)
    }

    /// The master key in a file, which may not lie in the folder of the database; nil when there is no such file.
    package func key(in keyFile: String) throws(VaultError) -> VaultMasterKey? {
        try KeyFile(path: keyFile).read(protecting: folder).map { VaultMasterKey($0) }
    }

    /// As ``key(in:)``, but a key that is missing is made.
    package func keyOrNew(in keyFile: String, timeout: Duration) throws(VaultError) -> VaultMasterKey {
        VaultMasterKey(try KeyFile(path: keyFile).readOrMake(protecting: folder, timeout: timeout))
    }

    private static func status(of name: String, in folder: borrowing Folder) throws(VaultError) -> FileStatus? {
        do throws(SystemFailure) { return try folder.descriptor.status(of: name) } catch {
            throw error.vaultError(at: folder.path(of: name))
        }
    }

    private static func requireLocal(_ folder: borrowing Folder) throws(VaultError) {
        #if os(Linux)
        guard let mounts = try? Descriptor(path: "/proc/self/mountinfo", O_RDONLY).readAll(capacity: 1 << 20) else {
            return
        }
        let device = try folder.identity().device
        guard let name = NetworkFileSystem.name(ofDevice: device, in: String(decoding: mounts, as: UTF8.self)) else {
            return
        }
        throw .denied(
            what: folder.path,
            reason:
                "it is on a network file system (\(name)), where locks do not exclude other machines. Use a local folder"
        )
        #endif
    }
}

extension FileStatus {
    /// Refuses what a database vault cannot use, also a file that its owner may not write.
    fileprivate func requireDatabase(at path: String) throws(VaultError) {
        try requireOurFile(at: path)
        guard mode & 0o600 == 0o600 else {
            throw .denied(what: path, reason: "it is read-only. Fix it with: chmod 600 \(path)")
        }
    }
}

/// The file systems that several machines may share.
package enum NetworkFileSystem {
    private static let names: Set<Substring> = [
        "9p", "afs", "beegfs", "ceph", "cifs", "coda", "fuse.ceph", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
        "fuse.sshfs", "gfs2",
        "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "smb3", "smbfs",
    ]

    /// The type of the network file system on a device; nil when it is another one, or unknown.
    ///
    /// - Parameters:
    ///   - device: the number as `stat(2)` has it.
    ///   - mounts: the lines of `/proc/self/mountinfo` (`proc(5)`).
    package static func name(ofDevice device: UInt64, in mounts: String) -> String? {
        let major = device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000
        let minor = device & 0xFF | device >> 12 & 0xFFFF_FF00
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2, fields[2] == "\(major):\(minor)",
                let dash = fields.dropFirst(6).firstIndex(of: "-"),
                let type = fields[dash...].dropFirst().first
            else { continue }
            return names.contains(type) ? String(type) : nil
        }
        return nil
    }
}
