import AsyncSupport

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// An open file or folder, closed when it goes out of scope.
///
/// Every descriptor is closed on `exec`. Nothing here judges what it opened; that is ``FileStatus``.
struct Descriptor: ~Copyable, Sendable {
    let number: Int32

    /// Opens a path as the caller named it.
    init(path: String, _ flags: Int32) throws(SystemFailure) {
        number = try uninterrupted { open(path, flags | O_CLOEXEC) }
    }

    /// Opens a name in a folder, and refuses to follow it when it is a symbolic link.
    ///
    /// `O_NONBLOCK` keeps a named pipe that another user put there from holding us up; for files and folders it means
    /// nothing.
    init(_ name: String, in folder: borrowing Descriptor, _ flags: Int32, mode: mode_t = 0) throws(SystemFailure) {
        let folder = folder.number
        number = try uninterrupted {
            openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)
        }
    }

    /// Takes over an open file that nothing else closes.
    init(adopting number: Int32) {
        self.number = number
    }

    deinit { close(number) }

    /// What was opened: taken from the open file, so that it cannot change between the look and the use.
    func status() throws(SystemFailure) -> FileStatus {
        var status = stat()
        _ = try uninterrupted { fstat(number, &status) }
        return FileStatus(status)
    }

    /// What a name in this folder is, not following it; nil when there is nothing of that name.
    func status(of name: String) throws(SystemFailure) -> FileStatus? {
        var status = stat()
        do {
            _ = try uninterrupted { fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) }
        } catch  where error.code == ENOENT {
            return nil
        }
        return FileStatus(status)
    }

    /// Reads to the end, but never more than `capacity` bytes.
    func readAll(capacity: Int) throws(SystemFailure) -> [UInt8] {
        var failure: SystemFailure?
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            do throws(SystemFailure) {
                while count < capacity {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                    let got = try uninterrupted { read(number, rest.baseAddress, rest.count) }
                    if got == 0 { return }
                    count += got
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all bytes, however few the system takes at a time.
    func writeAll(_ bytes: [UInt8]) throws(SystemFailure) {
        if let code = AsyncSupport.writeAll(bytes, to: number) { throw SystemFailure(code: code) }
    }

    /// Waits until what was written is on the storage itself.
    ///
    /// On Apple's platforms `fsync` stops at the drive's own cache; `F_FULLFSYNC` does not. Where a file system does
    /// not know it, `fsync` is all there is.
    func synchronize() throws(SystemFailure) {
        #if canImport(Darwin)
        if fcntl(number, F_FULLFSYNC) != -1 { return }
        #endif
        _ = try uninterrupted { fsync(number) }
    }
}
