import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that could not be opened or read, and the system's reason.
package struct InputFileError: Error {
    package let name: String
    package let reason: String
}

/// A file, a pipe or standard input, read piece by piece. Neither opening nor reading keeps a cancelled task waiting.
package final class InputFile: Sendable {
    private let path: String
    private let descriptor: CInt

    private static let pieceLength = 65_536

    /// Opens a file; `-` is standard input.
    ///
    /// - Throws: ``InputFileError``.
    package init(_ path: String) throws(InputFileError) {
        self.path = path
        // Opening a named pipe would otherwise wait for its writer, where nothing can cancel it.
        descriptor = path == "-" ? 0 : systemOpen(path)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    deinit {
        if descriptor > 0 { close(descriptor) }
    }

    /// The next bytes; empty at the end.
    ///
    /// - Throws: ``InputFileError``; `CancellationError`.
    package func read() async throws -> [UInt8] {
        let isCancelled = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[UInt8], any Error>) in
                // On a thread that may block.
                DispatchQueue(label: "input file").async { [self] in
                    continuation.resume(with: Result { try piece(isCancelled) })
                }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    /// The whole file; nil when it is longer than the limit, in bytes.
    ///
    /// - Throws: as ``read()``.
    package func contents(limit: Int) async throws -> [UInt8]? {
        var contents: [UInt8] = []
        while case let piece = try await read(), !piece.isEmpty {
            guard contents.count + piece.count <= limit else { return nil }
            contents += piece
        }
        return contents
    }

    private func piece(_ isCancelled: CancellationFlag) throws -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: Self.pieceLength)
        while !isCancelled.isSet {
            var item = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
            guard poll(&item, 1, 100) > 0 else { continue }
            let count = piece.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return Array(piece.prefix(count)) }
            guard errno == EAGAIN || errno == EINTR else { throw Self.failure(path) }
        }
        throw CancellationError()
    }

    private static func failure(_ path: String) -> InputFileError {
        InputFileError(name: path == "-" ? "standard input" : path, reason: String(cString: strerror(errno)))
    }
}

/// Whether the reading task was cancelled. A class, because the reading thread and the task share it.
package final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package func set() { flag.store(true, ordering: .relaxed) }
    package var isSet: Bool { flag.load(ordering: .relaxed) }
}

// The system's functions under names that the methods above do not hide.
private func systemOpen(_ path: String) -> CInt { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }

private func systemRead(_ descriptor: CInt, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}
