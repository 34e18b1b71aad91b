#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Locks on single bytes of one file, each standing for a record, against every other process and every other opener
/// in this one.
///
/// Open-file-description locks belong to the opening, not to the process: two vaults in one process exclude each
/// other, closing some other descriptor of the file releases nothing (as it does with POSIX record locks), and the
/// kernel releases all of a holder that dies. They do *not* exclude two uses of the same opening; ``ExclusiveQueue``
/// does.
///
/// The same commands exist on Linux since 3.15 and in Darwin's kernel since 2015. glibc hides their names from Swift,
/// and older Apple SDKs do not have them, hence the numbers.
package final class FileLocks: Sendable {
    /// The byte that is held while a vault is set up: beyond all that stand for records, which have 62 bits.
    package static let setup: Int64 = 1 << 62
    /// The byte that is held while a vault gets a new key.
    package static let rotation: Int64 = setup + 1

    static let fileName = "lock"
    #if canImport(Darwin)
    private static let setLock: Int32 = 90
    #else
    private static let setLock: Int32 = 37
    #endif

    private let file: Descriptor
    private let identity: FileStatus.Identity
    private let path: String
    private let name: String

    /// Opens the lock file of a folder; makes it when it is missing.
    init(in folder: borrowing Folder, named name: String = FileLocks.fileName) throws(VaultError) {
        self.name = name
        path = folder.path(of: name)
        let status: FileStatus
        do throws(SystemFailure) {
            file = try Descriptor(name, in: folder.descriptor, O_RDWR | O_CREAT, mode: 0o600)
            status = try file.status()
        } catch {
            throw error.vaultError(at: path)
        }
        identity = status.identity
        try status.requireOurFile(at: path)
    }

    /// Takes a byte if it is free, without waiting.
    package func take(_ byte: Int64) throws(VaultError) -> Bool {
        do throws(SystemFailure) {
            try change(byte, to: Int32(F_WRLCK))
            return true
        } catch {
            if error.code == EAGAIN || error.code == EACCES { return false }
            throw error.vaultError(at: path)
        }
    }

    /// Releases a byte.
    package func giveBack(_ byte: Int64) {
        // It cannot fail for a byte that is held; and if it did, closing the file would release it.
        try? change(byte, to: Int32(F_UNLCK))
    }

    /// Throws when the lock file was removed or replaced: other processes would then lock another file.
    func requireShared(in folder: borrowing Folder) throws(VaultError) {
        do throws(SystemFailure) {
            guard try folder.descriptor.status(of: name)?.identity != identity else { return }
        } catch {
            throw error.vaultError(at: path)
        }
        throw .unavailable("\(path) was removed or replaced while the vault was open; open the vault again")
    }

    private func change(_ byte: Int64, to kind: Int32) throws(SystemFailure) {
        var range = flock()
        range.l_type = Int16(kind)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = off_t(byte)
        range.l_len = 1
        _ = try uninterrupted { fcntl(file.number, Self.setLock, &range) }
    }
}
