#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What the operating system says of an open file or folder, and whether a vault may trust it (`oauth-security.md` E5).
struct FileStatus {
    /// What distinguishes one file from every other on the machine, whatever it is called.
    struct Identity: Hashable {
        let device: UInt64
        let number: UInt64
    }

    enum Kind: Hashable {
        case file, folder
        case other(String)
    }

    let kind: Kind
    var owner: UInt32
    /// The permission bits, with set-id and sticky bits.
    let mode: UInt32
    /// How many names the file has. Zero when it was removed or replaced after it was opened.
    let names: UInt64
    let size: Int
    let identity: Identity

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .other("a symbolic link")
            case S_IFIFO: .other("a named pipe")
            case S_IFSOCK: .other("a socket")
            default: .other("a device")
            }
        owner = UInt32(status.st_uid)
        mode = UInt32(status.st_mode) & 0o7777
        names = UInt64(status.st_nlink)
        size = Int(status.st_size)
        identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino))
    }

    /// Refuses what is not a regular file of ours, closed to others, with one name.
    ///
    /// No name at all is well: the file was replaced after it was opened, and holds what was there before.
    func requireOurFile(at path: String) throws(VaultError) {
        switch kind {
        case .file: break
        case .folder: throw .denied(what: path, reason: "it is a folder, not a file; move it away")
        case .other(let kind): throw .denied(what: path, reason: "it is \(kind), not a file; move it away")
        }
        try requireOurs(at: path, cure: "chmod 600")
        guard names <= 1 else {
            throw .denied(
                what: path,
                reason:
                    "it has \(names) names, so another user may keep a copy. Find the others with: find -samefile. Then remove them"
            )
        }
    }

    /// Refuses what is not a folder of ours, closed to others.
    func requireOurFolder(at path: String) throws(VaultError) {
        guard kind == .folder else { throw .denied(what: path, reason: "it is not a folder; move it away") }
        try requireOurs(at: path, cure: "chmod 700")
    }

    private func requireOurs(at path: String, cure: String) throws(VaultError) {
        try requireOwner(at: path)
        guard mode & 0o077 == 0 else {
            throw .denied(
                what: path,
                reason: "other users have access to it (mode 0\(String(mode, radix: 8))). Fix it with: \(cure) \(path)")
        }
    }
}
