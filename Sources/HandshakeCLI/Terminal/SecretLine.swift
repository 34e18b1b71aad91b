import Foundation
import OAuth

/// A secret that stands on one line of a file or of standard input; never on the command line, where every process can read
/// it.
enum SecretLine {
    /// The first line of a file; for `-` the next one of standard input, which a terminal is asked for and does not show.
    ///
    /// - Parameter what: what it is, as in `service key`.
    /// - Throws: ``CommandError`` when there is none, or it is empty; `CancellationError`.
    static func read(_ path: String, what: String) async throws -> Secret {
        let secret =
            path == "-"
            ? try await Prompt.password("The \(what) (not shown):", wanted: "the \(what)")
            : Secret(firstLine(of: path) ?? "")
        guard !secret.isEmpty else {
            throw CommandError.usage(
                path == "-"
                    ? "no \(what) came on standard input"
                    : "\(quoted(path, limit: 200)) holds no \(what) that can be read")
        }
        return secret
    }

    private static func firstLine(of path: String) -> String? {
        (try? String(contentsOfFile: Settings.absolute(path), encoding: .utf8))?
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init)
    }
}
