import AsyncSupport
import Beacons

/// Reads a recording line by line. The content of a line that is too long is dropped.
///
/// A class, because it is mutated while it waits for more.
final class LineReader {
    struct Line: Sendable {
        /// The number, from 1.
        let number: Int
        let content: Result<Advertisement?, BeaconsError>
    }

    /// How much of one line is read, most of it dropped, in bytes.
    static let maximumDropLength = 1 << 24

    private let source: RecordingReplay.Source
    private var file: InputFile?
    private var waiting: [UInt8] = []
    /// The index of the first unread byte.
    private var head = 0
    private var hasEnded = false
    private var number = 0

    init(_ source: RecordingReplay.Source) {
        self.source = source
    }

    /// - Throws: ``RadioError/file(name:reason:)``.
    func open() async throws {
        switch source {
        case .lines(let bytes):
            waiting = bytes
            hasEnded = true
        case .file(let name): file = try await Self.reported { try InputFile(name) }
        case .standardInput: file = try await Self.reported { try InputFile("-") }
        }
    }

    /// The next line; nil at the end. The last line needs no line feed.
    ///
    /// - Throws: ``RadioError/file(name:reason:)``; `CancellationError`.
    func next() async throws -> Line? {
        var isTooLong = false
        var dropped = 0
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
            if waiting.count > RecordingCodec.maximumLineLength {
                isTooLong = true
                dropped += waiting.count
                // A device that never ends a line is no recording, and would be read for ever.
                guard dropped <= Self.maximumDropLength else {
                    throw RadioError.file(name: name, reason: "it has a line that does not end")
                }
                waiting = []
                searched = 0
            }
            try await fill()
        }
    }

    private func fill() async throws {
        let file = file
        let bytes = try await Self.reported { try await file?.read() ?? [] }
        if bytes.isEmpty { hasEnded = true }
        waiting += bytes
    }

    private static func reported<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as InputFileError {
            throw RadioError.file(name: error.name, reason: error.reason)
        }
    }

    private var name: String {
        if case .file(let name) = source { name } else { "standard input" }
    }

    private func line(upTo end: Int, _ isTooLong: Bool) -> Line {
        number += 1
        guard !isTooLong else {
            let problem = "it is longer than \(RecordingCodec.maximumLineLength) bytes"
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
