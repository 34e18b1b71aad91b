#if PostgreSQL
/// The settings of a session in libpq's `options`, such as `-c search_path=app`.
struct PostgresSettings: Sendable {
    private let arguments: [String]

    /// Splits a text as the server does: at spaces, except after a backslash.
    init(_ options: String) {
        var arguments: [String] = []
        var argument = ""
        var isEscaped = false
        for character in options {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else if !isEscaped, character.isWhitespace {
                if !argument.isEmpty { arguments.append(argument) }
                argument = ""
            } else {
                argument.append(character)
                isEscaped = false
            }
        }
        if !argument.isEmpty { arguments.append(argument) }
        self.arguments = arguments
    }

    private static let known: Set<String> = [
        "idle_in_transaction_session_timeout", "lock_timeout", "search_path", "statement_timeout",
    ]

    /// Whether all of them are ones that hold no secret.
    var areKnown: Bool {
        arguments.allSatisfy { argument in
            argument == "-c" || Self.setting(argument).map { Self.known.contains($0.name) } ?? false
        }
    }

    /// The values of an app's own settings, such as `app.key`, which may be secret.
    ///
    /// Those of fewer than four characters are left out: to hide them would take pieces from every word.
    var ownValues: [String] {
        arguments.compactMap { argument in
            guard let setting = Self.setting(argument), setting.name.contains("."), setting.value.count >= 4 else {
                return nil
            }
            return setting.value
        }
    }

    /// The setting in an argument: `-cNAME=VALUE`, `--NAME=VALUE`, or `NAME=VALUE` after `-c`; nil in others.
    private static func setting(_ argument: String) -> (name: String, value: String)? {
        guard let separator = argument.firstIndex(of: "=") else { return nil }
        var name = argument[..<separator]
        if name.hasPrefix("-c") || name.hasPrefix("--") { name = name.dropFirst(2) }
        let value = argument[argument.index(after: separator)...]
        return (name.lowercased().replacing("-", with: "_"), String(value))
    }
}
#endif
