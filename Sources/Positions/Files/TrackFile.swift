import Dispatch
import Geofences

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file or pipe of which a piece at a time is read, when its fixes have been taken. An actor, because the reading is one after another.
actor TrackFile {
    private let path: String
    private var format: TrackFormat?
    private var reader: (any TrackReader)?
    private var descriptor: CInt?
    private var fixes: ArraySlice<Fix> = []
    private var isAtEnd = false

    private static let pieceLength = 65_536

    init(_ path: String, as format: TrackFormat?) {
        self.path = path
        self.format = format
    }

    deinit {
        if let descriptor, path != "-" { close(descriptor) }
    }

    func next() async throws -> Fix? {
        while fixes.isEmpty, !isAtEnd {
            let piece = try await Self.read(from: try open(), path)
            var found: [Fix] = []
            // The fixes before a fault are of use; the fault comes again when they have been taken.
            do { try take(piece, into: &found) } catch {
                guard !found.isEmpty else { throw error }
                fault = error
            }
            fixes = found[...]
        }
        if let fix = fixes.popFirst() { return fix }
        if let fault { throw fault }
        return nil
    }

    private var fault: PositionsError? {
        didSet { isAtEnd = fault != nil }
    }

    private func take(_ piece: [UInt8], into found: inout [Fix]) throws(PositionsError) {
        if reader == nil {
            format = format ?? TrackFormat(beginningOf: piece)
            // Nothing but space so far; a file without anything is a track without a sentence.
            guard format != nil || piece.isEmpty else { return }
            reader = (format ?? .nmea).reader
        }
        guard piece.isEmpty else { return try reader?.read(piece[...], into: &found) ?? () }
        isAtEnd = true
        try reader?.end(into: &found)
    }

    private func open() throws(PositionsError) -> CInt {
        if let descriptor { return descriptor }
        let opened = path == "-" ? 0 : systemOpen(path)
        guard opened >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
        descriptor = opened
        return opened
    }

    /// Reads a piece on a thread that may block, as a pipe does; empty at the end.
    private static func read(from descriptor: CInt, _ path: String) async throws -> [UInt8] {
        let isCancelled = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[UInt8], any Error>) in
                DispatchQueue(label: "positions.track").async {
                    continuation.resume(with: Result { try readPiece(from: descriptor, path, isCancelled) })
                }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    private static func readPiece(
        from descriptor: CInt, _ path: String, _ isCancelled: CancellationFlag
    ) throws -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: pieceLength)
        while !isCancelled.isSet {
            var item = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
            guard poll(&item, 1, 100) > 0 else { continue }
            let count = piece.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return Array(piece.prefix(count)) }
            guard errno == EAGAIN || errno == EINTR else {
                throw PositionsError.unreadable(path: path, reason: String(cString: strerror(errno)))
            }
        }
        throw CancellationError()
    }
}

// The system's functions under names that the methods above do not hide.
// A named pipe without a writer would keep the opening thread where nothing can cancel it.
private func systemOpen(_ path: String) -> CInt { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }

private func systemRead(_ descriptor: CInt, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}
