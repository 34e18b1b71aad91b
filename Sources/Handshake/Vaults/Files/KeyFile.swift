import Crypto

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The file that holds a vault's master key: 32 random bytes, mode 0600, apart from what they protect.
struct KeyFile: Sendable {
    static let length = 32

    let path: String

    init(path: String) {
        self.path = Folder.trimmed(path)
    }

    /// The key; nil when there is no such file.
    ///
    /// - Throws: ``VaultError/damaged(what:reason:)`` when it has another length,
    ///   ``VaultError/denied(what:reason:)`` when the file may not be trusted, or lies in the folder that it
    ///   protects.
    func read(protecting vault: borrowing Folder) throws(VaultError) -> SymmetricKey? {
        let (above, name) = Folder.split(path)
        guard let folder = try Folder.open(above, isOurs: false) else { return nil }
        return try read(name, in: folder, protecting: vault)
    }

    /// The key, which is made if it is missing. Concurrent callers, in any process, get the same key.
    func readOrMake(protecting vault: borrowing Folder, timeout: Duration) throws(VaultError) -> SymmetricKey {
        let (above, name) = Folder.split(path)
        let folder = try Folder.openOrMake(above, isOurs: false)
        if let key = try read(name, in: folder, protecting: vault) { return key }
        // A process that makes a key in this folder holds the folder itself; it is let go when it is closed.
        try folder.lock(for: path, timeout: timeout)
        if let key = try read(name, in: folder, protecting: vault) { return key }
        let key = SymmetricKey(size: .bits256)
        var bytes = key.withUnsafeBytes { Array($0) }
        defer { bytes.resetBytes() }
        try folder.replace(name, with: bytes)
        return key
    }

    private func read(
        _ name: String, in folder: borrowing Folder, protecting vault: borrowing Folder
    ) throws(VaultError) -> SymmetricKey? {
        guard try folder.identity() != vault.identity() else {
            throw .denied(what: path, reason: "a key may not lie in the folder that it protects; name another place")
        }
        guard var bytes = try folder.contents(of: name, limit: 4096) else { return nil }
        defer { bytes.resetBytes() }
        guard bytes.count == Self.length else {
            throw .damaged(
                what: path,
                reason:
                    "a key has \(Self.length) bytes and this file has \(bytes.count). Without the right key the accounts cannot be read: if you have no copy, move “\(vault.path)” away and sign in again"
            )
        }
        return SymmetricKey(data: bytes)
    }
}

extension [UInt8] {
    /// Overwrites the bytes, in a way that no compiler leaves out.
    mutating func resetBytes() {
        withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            #if canImport(Darwin)
            _ = memset_s(start, buffer.count, 0, buffer.count)
            #else
            explicit_bzero(start, buffer.count)
            #endif
        }
    }
}

extension Folder {
    /// Takes the lock that processes share on the folder itself. It is let go when the folder is closed.
    ///
    /// - Parameter what: what is being made, for the error.
    /// - Throws: ``VaultError/busy(_:)`` after `timeout`.
    func lock(for what: String, timeout: Duration) throws(VaultError) {
        try awaitBriefly(timeout, for: what) { () throws(VaultError) in
            do throws(SystemFailure) {
                _ = try uninterrupted { flock(descriptor.number, LOCK_EX | LOCK_NB) }
                return true
            } catch {
                if error.code == EWOULDBLOCK { return false }
                throw error.vaultError(at: path)
            }
        }
    }
}

/// Tries until it succeeds, a millisecond apart, on the calling thread.
///
/// Only for the making of a vault, which happens once in its life, cannot suspend, and whose rivals are done within
/// milliseconds.
package func awaitBriefly(
    _ timeout: Duration, for what: String, _ attempt: () throws(VaultError) -> Bool
) throws(VaultError) {
    let deadline = ContinuousClock.now.advanced(by: timeout)
    while try !attempt() {
        guard ContinuousClock.now < deadline else { throw .busy(what) }
        usleep(1000)
    }
}
