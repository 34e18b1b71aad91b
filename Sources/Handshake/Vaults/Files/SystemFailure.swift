#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A system call's refusal, before it is known which file or folder it was about.
struct SystemFailure: Error, Hashable {
    /// The value of `errno`.
    let code: Int32

    /// Says what the refusal means for a vault.
    ///
    /// *Denied* is what a user must permit; *unavailable* is storage that failed. Nothing here is *damaged*: the
    /// contents were never seen.
    func vaultError(at path: String) -> VaultError {
        switch code {
        case EACCES, EPERM:
            .denied(what: path, reason: "the operating system refuses access; check owner and mode, there and above")
        case EROFS:
            .denied(what: path, reason: "the file system is mounted read-only; use another folder")
        case ELOOP:
            .denied(
                what: path, reason: "it is a symbolic link, which a vault never follows; replace it with the original")
        case ENOTDIR:
            .denied(what: path, reason: "it is not a folder, or a symbolic link to one; put a real folder there")
        case EISDIR, ENXIO, ENODEV:
            .denied(what: path, reason: "it is not a regular file; move it away")
        case ENAMETOOLONG:
            .denied(what: path, reason: "its name is too long for the file system; choose a shorter one")
        case ENOENT:
            .unavailable("\(path) or a folder above it was removed; put it back")
        case ENOSPC, EDQUOT:
            .unavailable("no space is left to write \(path); free some")
        case EMFILE, ENFILE:
            .unavailable("too many files are open to open \(path); close some, or raise the limit")
        default:
            .unavailable("\(path): \(String(cString: strerror(code))) (errno \(code))")
        }
    }
}

/// Repeats a system call for as long as signals interrupt it.
///
/// - Returns: the call's answer, which is not negative.
/// - Throws: ``SystemFailure`` with the `errno` of any other refusal.
func uninterrupted<Answer: SignedInteger>(_ call: () -> Answer) throws(SystemFailure) -> Answer {
    while true {
        let answer = call()
        if answer >= 0 { return answer }
        let code = errno
        if code != EINTR { throw SystemFailure(code: code) }
    }
}
