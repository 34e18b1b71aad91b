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
    private let linking: @Sendable (_ path: String, _ name: String) -> CInt
    private let descriptor: Mutex<CInt?>

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: the final name.
    ///   - replacing: whether a file of that name may be replaced.
    ///   - linking: makes a hard link, and returns 0 or the number of the error.
    /// - Throws: ``SequencingError/disk(path:reason:)``, also when the final name exists and must not be
    ///   replaced.
    init(
        for path: String, replacing: Bool,
        linking: @escaping @Sendable (_ path: String, _ name: String) -> CInt = systemLink
    ) throws(SequencingError) {
        var status = stat()
        if !replacing, lstat(path, &status) == 0 { throw .disk(path: path, reason: "it already exists") }
        let suffix = String(UInt64.random(in: .min ... .max), radix: 16)
        partialPath = "\(path).\(suffix).part"
        self.path = path
        self.replacing = replacing
        self.linking = linking
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
        let refusal = replacing ? renamed() : nameExclusively()
        guard refusal == 0 else { throw SequencingError.disk(path: path, reason: Self.reason(refusal)) }
        _ = close()
        if !replacing { unlink(partialPath) }
        syncFolder()
    }

    /// Gives the file its final name, in place of any other file.
    ///
    /// - Returns: 0, or the number of the error.
    private func renamed() -> CInt { rename(partialPath, path) == 0 ? 0 : errno }

    /// Gives the file its final name, unless another file has it.
    ///
    /// - Returns: 0, or the number of the error.
    private func nameExclusively() -> CInt {
        // A link fails if the file was created meanwhile; a rename replaces it.
        let refusal = linking(partialPath, path)
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(refusal) else { return refusal }
        // Without hard links, as on FAT, an empty file holds the name until the rename.
        let claim = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard claim >= 0 else { return errno }
        _ = systemClose(claim)
        let failure = renamed()
        if failure != 0 { unlink(path) }
        return failure
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

private func systemLink(_ path: String, _ name: String) -> CInt {
    link(path, name) == 0 ? 0 : errno
}
