#if CommandLine
import Foundation
import Handshake
import OAuth

/// What `--vault-key` names: where the key of a vault comes from, instead of the folder of keys.
enum VaultKeyChoice: Sendable, Hashable {
    /// The credential of a service of systemd.
    case credential(String)
    /// A program, and its arguments, that prints the key.
    case command([String])
    /// The desktop's keyring, under the key's own identifier.
    case secretService

    /// - Throws: ``CommandError`` of status 64.
    init(_ stated: StatedValue) throws(CommandError) {
        let parts = stated.value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts.first, parts.dropFirst().first.map(String.init)) {
        case ("secret-service", nil): self = .secretService
        case ("credential", let name?) where !name.isEmpty: self = .credential(name)
        case ("command", let command?): self = .command(try Self.words(of: command, stated))
        // Not quoted: it may be the key itself.
        default:
            throw stated.wrong("credential:NAME, command:PROGRAM ARGUMENT… or secret-service", isSecret: true)
        }
    }

    /// The words between spaces, or those of a JSON list. What only a shell could read is refused, instead of being read otherwise.
    private static func words(of command: String, _ stated: StatedValue) throws(CommandError) -> [String] {
        let words: [String]?
        if command.hasPrefix("[") {
            words = try? JSONDecoder().decode([String].self, from: Data(command.utf8))
        } else {
            let isPlain = !command.utf8.contains { "\"'\\$`|&;<>(){}*?~".utf8.contains($0) }
            words = isPlain ? command.split(whereSeparator: \.isWhitespace).map(String.init) : nil
        }
        guard let words, words.first?.isEmpty == false else {
            throw CommandError.usage(
                "\(stated.name): after “command:” come a program and its arguments, divided by spaces. No shell reads them. Write words with other "
                    + #"signs as a JSON list, such as command:["pass", "show", "my key"]"#)
        }
        return words
    }

    /// Fetches the key; nil where a vault asks for it by its identifier.
    ///
    /// - Throws: `VaultError`.
    func key(environment: [String: String]) async throws -> VaultMasterKey? {
        switch self {
        case .secretService: return nil
        case .credential(let name): return try VaultMasterKey.credential(named: name, environment: environment)
        case .command(let command): return try await VaultMasterKey.printed(by: command)
        }
    }

    /// What the doctor calls it: without arguments, which may be secrets.
    var name: String {
        switch self {
        case .credential(let name): "the credential “\(quoted(name, limit: 80))”"
        case .command(let command): "the command “\(quoted(command.first ?? "", limit: 200))”"
        case .secretService: "the desktop's keyring"
        }
    }
}
#endif
