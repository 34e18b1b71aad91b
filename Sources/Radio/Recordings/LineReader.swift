import Beacons
import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads a recording line by line. The content of a line that is too long is dropped.
///
/// A class, because it is mutated while it waits for more.
final class LineReader {
    struct Line: Sendable {
        /// The number, from 1.
        let number: Int
        let content: Result<Advertisement?, BeaconsError>
    }

    private let source: Replay.Source
    private var file: InputFile?
    private var waiting: [UInt8] = []
    /// The index of the first unread byte.
    private var head = 0
    private var hasEnded = false
    private var number = 0

    init(_ source: Replay.Source) {
        self.source = source
    }

    /// - Throws: ``RadioError/file(name:reason:)``.
    func open() async throws {
        switch source {
        case .lines(let bytes):
            waiting = bytes
            hasEnded = true
        case .file(let name): file = try await InputFile(name)
        case .standardInput: file = InputFile.standardInput
        }
    }

    /// The next line; nil at the end. The last line needs no line feed.
    ///
    /// - Throws: ``RadioError/file(name:reason:)``; `CancellationError`.
    func next() async throws -> Line? {
        var isTooLong = false
        var searched = 0
        while true {
            if let end = waiting[(head + searched)...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { head = end + 1 }
                return line(upTo: end, isTooLong)
            }
            searched = waiting.count - head
            guard !hasEnded else {
                guard searched > 0 || isTooLong else { return nil }
                defer { head = waiting.count }
                return line(upTo: waiting.count, isTooLong)
            }
            waiting.removeFirst(head)
            head = 0
            if waiting.count > RecordingCodec.longestLine {
                isTooLong = true
                waiting = []
                searched = 0
            }
            try await fill()
        }
    }

    private func fill() async throws {
        let bytes = try await file?.read() ?? []
        if bytes.isEmpty { hasEnded = true }
        waiting += bytes
    }

    private func line(upTo end: Int, _ isTooLong: Bool) -> Line {
        number += 1
        guard !isTooLong else {
            let problem = "it is longer than \(RecordingCodec.longestLine) bytes"
            return Line(number: number, content: .failure(.recording(line: number, problem: problem)))
        }
        let bytes = waiting[head..<end]
        let number = number
        return Line(
            number: number,
            content: Result { () throws(BeaconsError) in
                try RecordingCodec.advertisement(line: bytes, number: number)
            })
    }
}

/// Reads a file without blocking a thread of the cooperative pool.
///
/// A class, because it closes its descriptor.
final class InputFile: Sendable {
    private let descriptor: CInt
    private let name: String
    private let isOwned: Bool

    /// How long a cancelled reader may keep waiting for a pipe, in milliseconds.
    private static let pollTimeout: CInt = 100
    private static let chunk = 1 << 16

    static let standardInput = InputFile(descriptor: STDIN_FILENO, name: "standard input", isOwned: false)

    private init(descriptor: CInt, name: String, isOwned: Bool) {
        self.descriptor = descriptor
        self.name = name
        self.isOwned = isOwned
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    /// Opens a file.
    ///
    /// - Throws: ``RadioError/file(name:reason:)``.
    convenience init(_ name: String) async throws {
        // A named pipe opens when a writer opens it, so this can take long.
        let descriptor = try await Self.aside { _ in
            let descriptor = Self.repeating { systemOpen(name, O_RDONLY | O_CLOEXEC) }
            guard descriptor >= 0 else { throw RadioError.file(name: name, reason: RadioError.systemReason) }
            return descriptor
        }
        self.init(descriptor: descriptor, name: name, isOwned: true)
    }

    /// The next bytes; empty at the end.
    ///
    /// - Throws: ``RadioError/file(name:reason:)``; `CancellationError`.
    func read() async throws -> [UInt8] {
        try await Self.aside { [self] isCancelled in
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while Self.repeating({ poll(&waiting, 1, Self.pollTimeout) }) == 0 {
                if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
            }
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, initialized in
                count = Self.repeating { systemRead(descriptor, buffer.baseAddress, buffer.count) }
                initialized = max(count, 0)
            }
            guard count >= 0 else { throw RadioError.file(name: name, reason: RadioError.systemReason) }
            return bytes
        }
    }

    /// Runs a blocking call on a thread of its own.
    private static func aside<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing Atomic<Bool>) throws -> Result
    ) async throws -> Result {
        let flag = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(with: Swift.Result { try body(flag.isCancelled) })
                }
            }
        } onCancel: {
            flag.isCancelled.store(true, ordering: .relaxed)
        }
    }

    /// Repeats a call that a signal interrupted.
    private static func repeating<Number: SignedInteger>(_ call: () -> Number) -> Number {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}

/// A class, because a task and a thread share it.
private final class CancellationFlag: Sendable {
    let isCancelled = Atomic(false)
}

extension RadioError {
    /// The system's message for `errno`.
    static var systemReason: String { String(cString: strerror(errno)) }
}

// The system's functions, under names that the methods above do not shadow.
func systemOpen(_ name: String, _ flags: CInt, _ mode: mode_t = 0) -> CInt { open(name, flags, mode) }
func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
