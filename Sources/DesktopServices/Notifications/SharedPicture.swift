#if Desktop && os(Linux)
import Foundation
import Glibc

/// A picture in memory that other programs of the user can read under a path, while this value exists.
///
/// Notifications name a picture by its path. This one has no name in any folder: it is gone with the process, and never on a
/// disk. A class, because it owns the open memory.
package final class SharedPicture: Sendable {
    private let descriptor: CInt
    /// The path, `/proc/PID/fd/NUMBER`.
    package let path: String

    /// Nil when there is no memory for it.
    package init?(_ bytes: [UInt8]) {
        let name = "/handshake-\(UUID().uuidString)"
        let descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { return nil }
        shm_unlink(name)
        self.descriptor = descriptor
        path = "/proc/\(getpid())/fd/\(descriptor)"
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let isWhole = bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let count = write(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
        guard isWhole else { return nil }
    }

    deinit { close(descriptor) }
}
#endif
