#if CommandLine
/// The vault that the options of a command line name. Other commands find the same accounts by the same options alone.
struct NamedVault {
    /// The commands that use a vault. Copies name theirs otherwise.
    private static let commands: Set = [
        "accounts", "doctor", "headers", "ifttt", "inspect", "keep", "login", "logout", "nearby", "places",
        "recurse-center", "request", "sequencing", "token", "vault",
    ]

    /// The options, as they were given.
    private let options: [(name: String, value: String)]

    init(in arguments: some Sequence<String>) {
        var options: [(name: String, value: String)] = []
        var opened: String?
        for word in arguments.prefix(while: { $0 != "--" }) {
            if let name = opened {
                options.append((name, word))
                opened = nil
            } else if word == "--vault" || word == "--vault-key" {
                opened = word
            } else if word.hasPrefix("--vault=") || word.hasPrefix("--vault-key=") {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                options.append((String(parts[0]), String(parts[1])))
            }
        }
        self.options = options
    }

    /// The options of this command.
    static var given: NamedVault { NamedVault(in: CommandLine.arguments.dropFirst()) }

    /// A note or a result, with what to add to the commands in it.
    ///
    /// - Parameter isLine: whether the text has to stay one line.
    func completed(_ text: String, isLine: Bool = false) -> String {
        guard let advice = advice(for: text) else { return text }
        let mark = text.hasSuffix(".") ? " " : ". "
        return text + (isLine ? mark : "\n") + advice
    }

    /// What to add to the commands that a message tells the user to run; nil when nothing is missing there.
    func advice(for message: String) -> String? {
        let isUsed = message.split(separator: "handshake ", omittingEmptySubsequences: false).dropFirst()
            .contains { text in
                !text.hasPrefix("vault copy ")
                    && Self.commands.contains(String(text.prefix { $0.isLetter || $0 == "-" }))
            }
        let missing = options.filter { !message.contains(" \($0.name) ") }
        guard isUsed, !missing.isEmpty else { return nil }
        guard missing.allSatisfy({ Self.isShown($0.value) }) else {
            let names = missing.map { $0.name }.joined(separator: " and ")
            return "Give each command that uses the vault the same \(names) as this one."
        }
        let words = missing.map { " \($0.name) \(KnownAccount.shellWord($0.value))" }.joined()
        return "Add to each command that uses the vault:\(words)"
    }

    /// Whether a value can hold no secret. A connection may have a password, and a command that prints a key anything.
    private static func isShown(_ value: String) -> Bool {
        let kind = value.prefix { $0 != ":" }
        return ["files", "sqlite", "memory", "secret-service", "credential"].contains(kind)
    }
}
#endif
