#if CommandLine
import AsyncSupport
import OAuth

/// A file that the user names on the command line; `-` is standard input.
enum GivenFile {
    /// What a sentence calls the file at its beginning.
    static func name(_ path: String) -> String {
        path == "-" ? "Standard input" : "“\(quoted(path, limit: 200))”"
    }

    /// The contents, of at most `limit` bytes.
    ///
    /// - Throws: ``CommandError`` for a file that cannot be read or is longer; `CancellationError`.
    static func read(_ path: String, limit: Int) async throws -> [UInt8] {
        let contents: [UInt8]?
        do {
            contents = try await InputFile(path == "-" ? path : Settings.absolute(path)).contents(limit: limit)
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
}
#endif
