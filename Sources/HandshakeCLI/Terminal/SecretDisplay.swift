#if CommandLine
import Foundation

/// Asks before a secret appears on a terminal, whose history keeps it (`oauth-security.md` L4).
enum SecretDisplay {
    /// Returns when the secret may be printed: to a pipe or a file, or when the user says so.
    ///
    /// - Parameters:
    ///   - secret: what would be shown, as in `the access token`.
    ///   - isWanted: whether the user has said so on the command line.
    /// - Throws: ``CommandError`` when the user declines, or cannot be asked.
    static func confirm(_ secret: String, isWanted: Bool) async throws {
        guard !isWanted, isatty(STDOUT_FILENO) == 1 else { return }
        guard StandardInput.isTerminal else {
            throw CommandError.usage(
                "The command would show \(secret) on this terminal. Send it through a pipe, or add --show.")
        }
        let answer = try await Prompt.line(
            "Show \(secret) on this terminal, whose history keeps it? Type yes or no:", wanted: "an answer")
        guard ["y", "yes"].contains(answer.trimmingCharacters(in: .whitespaces).lowercased()) else {
            throw CommandError(
                status: .abandoned, code: "declined",
                message: "Nothing was shown. Send \(secret) through a pipe, or add --show.")
        }
    }
}
#endif
