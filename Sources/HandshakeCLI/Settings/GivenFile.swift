#if CommandLine
import AsyncSupport
import Foundation
import OAuth
import Synchronization

/// A file that the user names on the command line; `-` is standard input.
enum GivenFile {
    /// What a sentence calls the file at its beginning.
    static func name(_ path: String) -> String {
        path == "-" ? "Standard input" : "“\(quoted(path, limit: 200))”"
    }

    private static let reading = Mutex<String?>(nil)

    /// What a sentence calls the file that is being read; nil for none. The end of `--timeout` asks for it.
    static var current: String? { reading.withLock { $0 } }

    /// Reads a file in `body`, which may have to wait for its writer.
    static func whileReading<Result>(_ path: String, _ body: () async throws -> Result) async rethrows -> Result {
        reading.withLock { $0 = name(path) }
        // Not after a failure: the end of the time is a cancellation here, and then the name is asked for.
        let result = try await body()
        reading.withLock { $0 = nil }
        return result
    }

    /// The contents, of at most `limit` bytes.
    ///
    /// - Throws: ``CommandError`` for a file that cannot be read or is longer; `CancellationError`.
    static func read(_ path: String, limit: Int) async throws -> [UInt8] {
        let contents: [UInt8]?
        do {
            contents = try await whileReading(path) {
                try await InputFile(path == "-" ? path : Settings.absolute(path)).contents(limit: limit)
            }
        } catch is InputFileError {
            throw CommandError.unreadable(path)
        }
        guard let contents else {
            throw CommandError(
                status: .usage, code: "file_too_long",
                message: "\(name(path)) is longer than \(limit) bytes. Split it.")
        }
        return contents
    }

    /// Writes a new file that only its owner can read and write.
    ///
    /// - Throws: ``CommandError`` for a file that exists or cannot be written.
    static func create(_ path: String, _ contents: [UInt8]) throws {
        guard let failure = writeNewFile(contents, at: Settings.absolute(path)) else { return }
        throw CommandError.unwritable(path, isTaken: failure == EEXIST)
    }
}
#endif
