import AsyncSupport
import Beacons
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A radio that records what another one receives, for ``RecordingReplay``.
///
/// The file is created when a scan starts, readable by its owner only: it contains who was near. An existing file is never
/// overwritten, so a recorder records one scan. Each line is written before its advertisement is returned, so the recording is
/// complete wherever the reader stops.
public struct Recorder: Radio {
    private let radio: any Radio
    private let file: String

    /// - Parameters:
    ///   - radio: The radio to record.
    ///   - file: The name of the file to create.
    public init(_ radio: any Radio, to file: String) {
        self.radio = radio
        self.file = file
    }

    /// The other radio's events. In addition to its errors, throws ``RadioError/file(name:reason:)`` when the file exists, or
    /// cannot be created or written.
    public func scan(for interest: ScanInterest) -> Scan {
        let scan = radio.scan(for: interest)
        return Scan(asking: { [file] in
            let recording = RecordingPass(scan: scan, file: file)
            return { try await recording.next() }
        })
    }

    public func advertise<Source: AsyncSequence & Sendable>(
        _ broadcasts: Source, status: @escaping @Sendable (RadioStatus) -> Void
    ) async throws where Source.Element == Broadcast {
        try await radio.advertise(broadcasts, status: status)
    }
}

/// One recorded scan.
private actor RecordingPass {
    private let scan: Scan
    private let name: String
    private var iterator: Scan.AsyncIterator?
    private var file: RecordingFile?

    init(scan: Scan, file: String) {
        self.scan = scan
        name = file
    }

    func next() async throws -> ScanEvent? {
        let file = try file ?? RecordingFile(creating: name)
        self.file = file
        var iterator = iterator ?? scan.makeAsyncIterator()
        let event = try await iterator.next()
        self.iterator = iterator
        if case .advertisement(let advertisement) = event { try file.write(RecordingCodec.line(advertisement)) }
        return event
    }
}

/// A file to which lines are appended.
///
/// A class, because it closes its descriptor.
final class RecordingFile: Sendable {
    private let descriptor: CInt
    private let name: String

    /// Creates a file that only its owner can read and write.
    ///
    /// - Throws: ``RadioError/file(name:reason:)``, also when the file exists.
    init(creating name: String) throws(RadioError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC
        descriptor = systemOpen(name, flags, 0o600)
        self.name = name
        guard descriptor >= 0 else { throw .file(name: name, reason: RadioError.systemReason) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Appends a line.
    ///
    /// - Throws: ``RadioError/file(name:reason:)``.
    func write(_ line: String) throws(RadioError) {
        if let failure = writeAll(Array((line + "\n").utf8), to: descriptor) {
            throw .file(name: name, reason: String(cString: strerror(failure)))
        }
    }
}

extension RadioError {
    /// The system's message for `errno`.
    static var systemReason: String { String(cString: strerror(errno)) }
}

// The system's function, under a name that the methods above do not shadow.
private func systemOpen(_ name: String, _ flags: CInt, _ mode: mode_t) -> CInt { open(name, flags, mode) }
