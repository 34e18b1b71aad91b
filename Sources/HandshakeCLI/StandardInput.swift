import Foundation

/// What the user types or pipes in.
enum StandardInput {
    /// The next line, without the space around it; nil at the end.
    ///
    /// - Throws: `CancellationError`. `readLine` alone would wait on, whatever deadline passes or signal comes.
    static func line() async throws -> String? {
        while true {
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            if poll(&input, 1, 0) != 0 { return readLine()?.trimmingCharacters(in: .whitespaces) }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
