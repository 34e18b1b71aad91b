#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

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
