/// A folder of small files that only its owner can read, for what can be fetched again: mode 0700, files 0600.
///
/// Files are replaced atomically, but not synchronised to storage: a cache lost in a power cut is fetched again, and readers
/// validate what they read.
///
/// A class, because it owns the open folder, which cannot be copied.
package final class CacheFolder<Failure: Error>: Sendable {
    private let folder: Folder
    private let failure: @Sendable (_ path: String, _ reason: String) -> Failure

    /// Opens the folder, and closes it to other users; creates it and its missing parents.
    ///
    /// - Parameters:
    ///   - path: the folder.
    ///   - failure: the library's own error for a file or folder that cannot be used.
    /// - Throws: `failure`, also when the folder is a symbolic link or belongs to another user.
    package init(_ path: String, failure: @escaping @Sendable (_ path: String, _ reason: String) -> Failure)
        throws(Failure)
    {
        self.failure = failure
        do {
            folder = try Folder.openOrMake(Folder.trimmed(path), isOurs: true, narrows: true)
        } catch {
            throw failure(path, error.reason)
        }
    }

    /// The names of the files, unordered, without unfinished ones.
    package func names() throws(Failure) -> [String] {
        try placing(folder.path) { () throws(VaultError) in try folder.names().filter { !$0.hasPrefix(".") } }
    }

    /// A file's contents; nil when there is none, it is longer than `limit`, or other users have access to it.
    package func contents(_ name: String, limit: Int) -> [UInt8]? {
        try? folder.contents(of: name, limit: limit)
    }

    /// Replaces a file.
    package func write(_ bytes: [UInt8], to name: String) throws(Failure) {
        try placing(file(name)) { () throws(VaultError) in try folder.replaceUnlocked(name, with: bytes) }
    }

    /// Removes a file. Idempotent.
    package func remove(_ name: String) throws(Failure) {
        try placing(file(name)) { () throws(VaultError) in try folder.removeUnlocked(name) }
    }

    package func file(_ name: String) -> String {
        folder.path(of: name)
    }

    private func placing<Value>(
        _ path: String, _ body: () throws(VaultError) -> Value
    ) throws(Failure) -> Value {
        do {
            return try body()
        } catch {
            throw failure(path, error.reason)
        }
    }
}

extension VaultError {
    /// The cause alone, for an error that names the file itself.
    fileprivate var reason: String {
        switch self {
        case .damaged(_, let reason), .denied(_, let reason), .locked(let reason), .busy(let reason),
            .unavailable(let reason):
            reason
        }
    }
}
