#if CommandLine
import Foundation
import Synchronization

/// What the user types or pipes in.
enum StandardInput {
    /// Whether standard input is a terminal, so that a user can answer.
    static let isTerminal = isatty(STDIN_FILENO) == 1

    /// The longest line that is read, in bytes.
    private static let maximumLineLength = 1 << 20

    /// The bytes after the last line: a pipe can deliver several lines together.
    private static let unread = Mutex<[UInt8]>([])

    /// The next line without its end; nil when there is no more.
    ///
    /// - Throws: `CancellationError`; ``CommandError`` for what is no text or cannot be read. `readLine` alone would wait on,
    ///   whatever deadline passes or signal comes.
    static func line() async throws -> String? {
        while true {
            if let line = takeLine() { return try text(line) }
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&input, 1, 0) != 0 else {
                try await Task.sleep(for: .milliseconds(20))
                continue
            }
            guard try readMore() else { return try takeRest().map(text) }
        }
    }

    /// All lines that are left, each with its end.
    ///
    /// - Throws: as ``line()``.
    static func rest() async throws -> String {
        var text = ""
        while let line = try await line() { text += line + "\n" }
        return text
    }

    private static func takeLine() -> [UInt8]? {
        unread.withLock { unread in
            guard let end = unread.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { unread.removeFirst(end + 1) }
            return Array(unread[..<end])
        }
    }

    /// A last line that has no end; nil when there is nothing.
    private static func takeRest() -> [UInt8]? {
        unread.withLock { unread in
            defer { unread = [] }
            return unread.isEmpty ? nil : unread
        }
    }

    /// Reads a piece; false at the end.
    private static func readMore() throws -> Bool {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = read(STDIN_FILENO, &piece, piece.count)
        if count < 0 && (errno == EINTR || errno == EAGAIN) { return true }
        guard count >= 0 else { throw CommandError.unreadable("-") }
        guard count > 0 else { return false }
        let length = unread.withLock { unread in
            unread += piece[..<count]
            return unread.count
        }
        guard length <= maximumLineLength else {
            throw CommandError.usage("Standard input, or a line of it, is longer than \(maximumLineLength >> 20) MiB.")
        }
        return true
    }

    private static func text(_ line: [UInt8]) throws -> String {
        guard let text = String(validating: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        else { throw CommandError.usage("Standard input is not text in UTF-8.") }
        return text
    }
}
#endif
