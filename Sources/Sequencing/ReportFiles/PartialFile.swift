import AsyncSupport
import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that is written under a temporary name, and renamed when it is complete.
///
/// A class, because it owns a descriptor. Only the owner can read the file (0600): it contains genetic data.
final class PartialFile: Sendable {
    private let path: String
    private let partialPath: String
    private let replacing: Bool
    private let descriptor: Mutex<CInt?>

    /// Creates the file.
    ///
    /// - Throws: ``SequencingError/disk(path:reason:)``, also when the final name exists and must not be
    ///   replaced.
    init(for path: String, replacing: Bool) throws(SequencingError) {
        var status = stat()
        if !replacing, lstat(path, &status) == 0 { throw .disk(path: path, reason: "it already exists") }
        let suffix = String(UInt64.random(in: .min ... .max), radix: 16)
        partialPath = "\(path).\(suffix).part"
        self.path = path
        self.replacing = replacing
        let opened = open(partialPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw .disk(path: path, reason: Self.reason(errno)) }
        descriptor = Mutex(opened)
    }

    deinit {
        discard()
    }

    /// Writes the next chunk.
    func append(_ piece: [UInt8]) throws(SequencingError) {
        let failure = descriptor.withLock { descriptor -> CInt? in
            guard let descriptor else { return EBADF }
            return writeAll(piece, to: descriptor)
        }
        if let failure { throw .disk(path: path, reason: Self.reason(failure)) }
    }

    /// Synchronises the file to storage and renames it, on a thread that may block.
    func complete() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try self.settle() })
            }
        }
    }

    /// Deletes the temporary file. Does nothing after ``complete()``.
    func discard() {
        guard close() else { return }
        unlink(partialPath)
    }

    private func settle() throws {
        let isStored = descriptor.withLock { descriptor in descriptor.map { fsync($0) == 0 } ?? false }
        let failure = isStored ? 0 : errno
        guard isStored else { throw SequencingError.disk(path: path, reason: Self.reason(failure)) }
        // A link fails if the file was created meanwhile; a rename replaces it.
        let isNamed = replacing ? rename(partialPath, path) == 0 : link(partialPath, path) == 0
        guard isNamed else { throw SequencingError.disk(path: path, reason: Self.reason(errno)) }
        _ = close()
        if !replacing { unlink(partialPath) }
        syncFolder()
    }

    /// Makes the name durable where the file system supports it.
    private func syncFolder() {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        _ = systemClose(descriptor)
    }

    /// Closes the descriptor; false when it was closed before.
    private func close() -> Bool {
        guard let open = descriptor.withLock({ $0.take() }) else { return false }
        _ = systemClose(open)
        return true
    }

    private static func reason(_ code: CInt) -> String {
        String(cString: strerror(code))
    }
}

private func systemClose(_ descriptor: CInt) -> CInt {
    close(descriptor)
}
