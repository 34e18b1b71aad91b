#if CommandLine
import Foundation
import Handshake
import OAuth

#if PostgreSQL
import PostgresVault
#endif

/// Which vault the options, the environment or the settings name, and where its key lies.
struct VaultChoice {
    /// A vault that was opened, and where its key lies.
    struct Opened {
        let vault: any Vault
        let key: KeyPlace
    }

    /// Where the key of a vault lies.
    enum KeyPlace: Sendable, Hashable {
        /// In this process's memory, with the records.
        case memory
        /// In a file apart from the vault.
        case file(String)
        /// In the desktop's keyring.
        case keyring
        /// Where `--vault-key` says, as errors call it.
        case stated(String)
        /// In a file beside the vault: an app's, or the command's own that could not be moved for this reason.
        case beside(String, reason: String?)
    }

    enum Kind: Hashable {
        case memory
        case files(String)
        case secretService(String)
        case sqlite(String)
        /// A connection string, which may hold a password.
        case postgres(String)
        /// Files, with the key in the keyring where there is one.
        case unstated(String)
    }

    let kind: Kind
    /// Whether an option, a variable or a setting says which vault.
    let isNamed: Bool
    let stated: VaultKeyChoice?
    /// The option that says where the key comes from.
    let keyOption: String
    let settings: Settings

    /// - Parameters:
    ///   - option: the value of `--vault`.
    ///   - key: the value of `--vault-key`.
    init(_ option: String?, key: String?, settings: Settings) throws {
        self.settings = settings
        keyOption = "--vault-key"
        let key = settings.stated(key, "vault-key", "VAULT_KEY", settings.file.vaultKey)
        let stated = try key.map { try VaultKeyChoice($0) }
        let choice = settings.stated(option, "vault", "VAULT", settings.file.vault)
        let kind = try choice.map { try Self.kind($0, settings: settings) } ?? .unstated(settings.home + "/vault")
        isNamed = choice != nil
        (self.kind, self.stated) = Self.joined(kind, stated)
        try requireNoKey(key)
    }

    /// - Parameters:
    ///   - value: a vault as `--vault` takes it.
    ///   - name: what errors call the argument.
    ///   - key: the value of the option for its key. Environment and settings do not count: they are about one vault.
    ///   - keyOption: that option.
    init(_ value: String, named name: String, key: String?, keyOption: String, settings: Settings) throws {
        self.settings = settings
        self.keyOption = keyOption
        let key = key.map { StatedValue(value: $0, name: keyOption) }
        let kind = try Self.kind(StatedValue(value: value, name: name), settings: settings)
        isNamed = true
        (self.kind, self.stated) = Self.joined(kind, try key.map { try VaultKeyChoice($0) })
        try requireNoKey(key)
    }

    /// Files whose key is in the keyring are a kind of their own.
    private static func joined(_ kind: Kind, _ stated: VaultKeyChoice?) -> (Kind, VaultKeyChoice?) {
        switch (kind, stated) {
        case (.files(let path), .secretService?), (.unstated(let path), .secretService?): (.secretService(path), nil)
        case (.secretService, .secretService?): (kind, nil)
        default: (kind, stated)
        }
    }

    private func requireNoKey(_ key: StatedValue?) throws {
        guard case .secretService = kind, stated != nil, let key else { return }
        throw CommandError.usage(
            "A secret-service vault keeps its key in the keyring. Leave out \(key.name), or name the vault as files:DIR."
        )
    }

    private static func kind(_ choice: StatedValue, settings: Settings) throws -> Kind {
        let parts = choice.value.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count) {
        case ("memory", 1): return .memory
        case ("files", 2): return .files(Settings.absolute(parts[1]))
        case ("secret-service", _):
            return .secretService(
                parts.count == 2 ? Settings.absolute(parts[1]) : settings.home + "/vault-secret-service")
        case ("sqlite", 2):
            #if SQLite
            return .sqlite(Settings.absolute(parts[1]))
            #else
            throw CommandError.withoutTrait(
                "SQLite", "the vault “sqlite” (\(choice.name))", library: "libsqlite3-dev")
            #endif
        case ("postgres", 2), ("postgresql", 2):
            #if PostgreSQL
            // A whole URI stands for itself.
            return .postgres(
                parts[0] == "postgresql" || parts[1].hasPrefix("//") ? choice.value : parts[1])
            #else
            throw CommandError.withoutTrait(
                "PostgreSQL", "the vault “postgres” (\(choice.name))", library: "libpq-dev")
            #endif
        case ("keychain", _):
            // Its items need the entitlement of an app, which a command that is built from source does not have.
            throw CommandError.usage(
                "The Keychain is for signed apps, and this command cannot use it (“keychain”, \(choice.name)). Use files:DIR: its key is in a file apart from it."
            )
        default: throw unknown(choice)
        }
    }

    /// The error of a value of no known kind. Only a word in front is quoted: a password or a key may stand behind it, or in its place.
    private static func unknown(_ choice: StatedValue) -> CommandError {
        let word = choice.value.prefix { $0.isASCII && ($0.isLetter || $0 == "-") }
        let rest = choice.value.dropFirst(word.count)
        let found =
            word.isEmpty || !(rest.isEmpty || rest.hasPrefix(":")) ? "" : ", not “\(quoted(String(word), limit: 40))”"
        return CommandError.usage(
            "\(choice.name) takes memory, files:DIR, secret-service, sqlite:FILE or postgres:CONNECTION\(found).")
    }

    /// A vault that was opened, as `--vault` takes it.
    func location(of opened: Opened) -> String {
        switch kind {
        case .memory: "memory"
        // With files: alone the key would be looked for in a file.
        case .unstated(let path) where opened.key == .keyring: "secret-service:\(path)"
        case .files(let path), .unstated(let path): "files:\(path)"
        case .secretService(let path): "secret-service:\(path)"
        case .sqlite(let path): "sqlite:\(path)"
        case .postgres(let connection): "postgres:\(Self.shown(connection))"
        }
    }

    /// A connection string without its password.
    static func shown(_ connection: String) -> String {
        #if PostgreSQL
        (try? PostgresVault.address(of: connection)) ?? "CONNECTION"
        #else
        "CONNECTION"
        #endif
    }

    /// Whether the records end with the command.
    var isMemory: Bool { kind == .memory }

    /// Whether the records rest in a PostgreSQL database.
    var isPostgres: Bool { if case .postgres = kind { true } else { false } }

    /// Where the records rest, whatever links lead there: two choices with the same storage are one vault, unless that is a database of which
    /// not all is shown.
    var storage: String {
        switch kind {
        case .memory: "memory"
        case .files(let path), .unstated(let path), .secretService(let path), .sqlite(let path):
            URL(filePath: path).resolvingSymlinksInPath().path
        case .postgres(let connection): "postgres:\(Self.shown(connection))"
        }
    }
}
#endif
