#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes a new file that only its owner can read and write.
///
/// - Returns: nil, or the system's error number: `EEXIST` where the name is taken, also by a symbolic link. A file that
///   could not be written whole is removed.
package func writeNewFile(_ bytes: [UInt8], at path: String) -> CInt? {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return errno }
    let failure = writeAll(bytes, to: descriptor)
    close(descriptor)
    if failure != nil { unlink(path) }
    return failure
}

/// Writes all bytes to a descriptor, however few the system takes at a time.
///
/// - Returns: nil, or the system's error number; what was written until then stays.
package func writeAll(_ bytes: [UInt8], to descriptor: CInt) -> CInt? {
    var done = 0
    while done < bytes.count {
        let count = bytes.withUnsafeBytes { buffer in
            let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
            return write(descriptor, rest.baseAddress, rest.count)
        }
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { return errno }
        // A device that takes nothing would be asked forever.
        guard count > 0 else { return EIO }
        done += count
    }
    return nil
}
