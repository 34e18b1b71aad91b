#if CommandLine
import DBus
import Foundation
import Handshake
import OAuth
import SecretServiceVault

#if PostgreSQL
import PostgresVault
#endif
#if SQLite
import SQLiteVault
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

    private enum Kind: Hashable {
        case memory
        case files(String)
        case secretService(String)
        case sqlite(String)
        /// A connection string, which may hold a password.
        case postgres(String)
        /// Files, with the key in the keyring where there is one.
        case unstated(String)
    }

    private let kind: Kind
    /// Whether an option, a variable or a setting says which vault.
    private let isNamed: Bool
    private let stated: VaultKeyChoice?
    /// The option that says where the key comes from.
    private let keyOption: String
    private let settings: Settings

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

    /// Opens the vault if it exists; otherwise an empty one in memory.
    func openExisting() async throws -> Opened {
        switch kind {
        case .memory, .postgres: return try await open()
        case .secretService where sessionBus == nil: throw Self.noSession
        case .files(let directory), .secretService(let directory), .unstated(let directory), .sqlite(let directory):
            return Self.isAbsent(directory) ? Opened(vault: MemoryVault(), key: .memory) : try await open()
        }
    }

    /// Opens the vault for a command that goes on, and creates it: what others store later has to be seen.
    ///
    /// - Throws: ``CommandError`` for a vault in memory, which no other command can see; what ``open()`` throws.
    func openShared() async throws -> Opened {
        if case .memory = kind { throw Self.endsWithCommand }
        return try await open()
    }

    /// Opens the vault if it exists.
    ///
    /// - Throws: ``CommandError`` when it does not; what ``open()`` throws.
    func requireExisting() async throws -> Opened {
        switch kind {
        case .files(let path), .secretService(let path), .unstated(let path), .sqlite(let path):
            guard !Self.isAbsent(path) else {
                throw CommandError(
                    status: .vault, code: "vault_missing",
                    message: "There is no vault at “\(quoted(path, limit: 4096))”. "
                        + (isNamed ? "Check its name." : "The first sign-in makes it: handshake login SERVICE"))
            }
        // Opening says which command makes the tables.
        case .memory, .postgres: break
        }
        return try await open()
    }

    /// Creates the vault, or upgrades it.
    ///
    /// - Returns: whether it is new, and where it is, as `--vault` takes it.
    func migrate() async throws -> (isNew: Bool, location: String) {
        switch kind {
        case .memory: throw Self.endsWithCommand
        case .files(let path), .secretService(let path), .unstated(let path):
            let isNew = try VaultIdentifier.ofVault(in: path) == nil
            return (isNew, location(of: try await open()))
        case .sqlite(let path):
            #if SQLite
            let isNew =
                if let key = try await stated?.key(environment: settings.environment) {
                    try SQLiteVault.migrate(path, masterKey: key)
                } else {
                    try await SQLiteVault.migrate(path, keyIn: keyStore().store)
                }
            #else
            let isNew = false
            #endif
            return (isNew, "sqlite:\(path)")
        case .postgres(let connection):
            #if PostgreSQL
            let isNew =
                if let key = try await stated?.key(environment: settings.environment) {
                    try await PostgresVault.migrate(connection, masterKey: key)
                } else {
                    try await PostgresVault.migrate(connection, keyIn: keyStore().store)
                }
            #else
            let isNew = false
            #endif
            return (isNew, "postgres:\(Self.shown(connection))")
        }
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
    private static func shown(_ connection: String) -> String {
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

    /// Whether the path certainly does not exist. A path that cannot be examined counts as existing.
    private static func isAbsent(_ path: String) -> Bool {
        // FileManager would also look up the names of owner and group.
        var status = stat()
        return lstat(path, &status) != 0 && errno == ENOENT
    }

    /// Opens the vault, or makes it.
    func open() async throws -> Opened {
        if let stated, kind != .memory, let key = try await stated.key(environment: settings.environment) {
            return try await open(with: key, called: stated.name)
        }
        switch kind {
        case .memory: return Opened(vault: MemoryVault(), key: .memory)
        case .files(let directory): return try openFiles(directory)
        case .secretService(let directory):
            guard let addresses = sessionBus else { throw Self.noSession }
            return try await openWithKeyring(directory, on: addresses, prompts: true)
        case .unstated(let directory): return try await openUnstated(directory)
        case .sqlite(let path): return try await openSQLite(path)
        case .postgres(let connection): return try await openPostgres(connection)
        }
    }

    private func openPostgres(_ connection: String) async throws -> Opened {
        #if PostgreSQL
        let (store, name) = try keyStore()
        let vault = try await PostgresVault.open(connection, keyIn: store, called: name)
        return Opened(vault: vault, key: stated == nil ? .file(keys.file(of: vault.keyIdentifier)) : .keyring)
        #else
        throw CommandError.withoutTrait("PostgreSQL", "the vault “postgres”", library: "libpq-dev")
        #endif
    }

    /// Where the keys of a vault in a database are kept, when none is stated: the key folder, or the keyring.
    private func keyStore() throws -> (store: any VaultKeyStore, name: String) {
        guard stated == .secretService else { return (keys, "folder \(keys.path)") }
        // A script has no user who could unlock a keyring.
        let time = StandardInput.isTerminal ? SecretServiceVault.promptTime : nil
        return (try SecretServiceKeys(environment: settings.environment, promptTime: time), "keyring")
    }

    private func open(with key: VaultMasterKey, called name: String) async throws -> Opened {
        let vault: any Vault
        switch kind {
        case .memory: vault = MemoryVault()
        case .files(let directory), .secretService(let directory), .unstated(let directory):
            vault = try FileVault(directory: directory, masterKey: key)
        case .sqlite(let path):
            #if SQLite
            vault = try SQLiteVault(path, masterKey: key)
            #else
            return try await openSQLite(path)
            #endif
        case .postgres(let connection):
            #if PostgreSQL
            vault = try await PostgresVault.open(connection, masterKey: key)
            #else
            return try await openPostgres(connection)
            #endif
        }
        return Opened(vault: vault, key: .stated(name))
    }

    private func openSQLite(_ path: String) async throws -> Opened {
        #if SQLite
        let (store, name) = try keyStore()
        let vault = try await SQLiteVault.open(path, keyIn: store, called: name)
        return Opened(vault: vault, key: stated == nil ? .file(keys.file(of: vault.keyIdentifier)) : .keyring)
        #else
        throw CommandError.withoutTrait("SQLite", "the vault “sqlite”", library: "libsqlite3-dev")
        #endif
    }

    /// An existing vault is opened with the key it has, wherever that lies. A new one gets its key in the keyring; where there is
    /// none that is open, in a file.
    private func openUnstated(_ directory: String) async throws -> Opened {
        guard let addresses = sessionBus else { return try openFiles(directory) }
        if let identifier = try VaultIdentifier.ofVault(in: directory) {
            let hasFile = try keys.hasKey(of: identifier) || FileManager.default.fileExists(atPath: directory + ".key")
            return hasFile
                ? try openFiles(directory) : try await openWithKeyring(directory, on: addresses, prompts: true)
        }
        do {
            return try await openWithKeyring(directory, on: addresses, prompts: false)
        } catch let error as VaultError {
            switch error {
            case .unavailable, .locked: return try openFiles(directory)
            default: throw error
            }
        }
    }

    private func openWithKeyring(_ directory: String, on addresses: [Address], prompts: Bool) async throws -> Opened {
        // A script has no user who could unlock a keyring.
        let time = prompts && StandardInput.isTerminal ? SecretServiceVault.promptTime : nil
        let vault = try await SecretServiceVault.open(directory: directory, on: addresses, promptTime: time)
        return Opened(vault: vault, key: .keyring)
    }

    private func openFiles(_ directory: String) throws -> Opened {
        if let identifier = try VaultIdentifier.ofVault(in: directory) { return try openFiles(directory, identifier) }
        let made = try keys.make(directory)
        // Another process may have made the vault meanwhile.
        guard let identifier = try VaultIdentifier.ofVault(in: directory) else { throw VaultError.busy(directory) }
        guard let made else { return try openFiles(directory, identifier) }
        return Opened(vault: made, key: .file(keys.file(of: identifier)))
    }

    private func openFiles(_ directory: String, _ identifier: VaultIdentifier) throws(VaultError) -> Opened {
        let beside = directory + ".key"
        var failure: VaultError?
        // Earlier versions kept the key of the command's own vault beside it, where one backup took both. An app may keep its key
        // there too, and goes on to look for it there.
        if case .unstated = kind { failure = keyMoveFailure(beside, identifier) }
        var isElsewhere = failure != nil
        if !isElsewhere { isElsewhere = try !keys.hasKey(of: identifier) }
        if isElsewhere, FileManager.default.fileExists(atPath: beside) {
            let vault = try FileVault(directory: directory, keyFile: beside)
            return Opened(vault: vault, key: .beside(beside, reason: failure.map { "\($0)" }))
        }
        guard try keys.hasKey(of: identifier) else { throw missingKey(of: directory, identifier) }
        return Opened(vault: try keys.open(directory, identifier), key: .file(keys.file(of: identifier)))
    }

    /// The error of a vault of files whose key is not in the key folder: an app may have made it with a key file of its own.
    private func missingKey(of directory: String, _ identifier: VaultIdentifier) -> VaultError {
        .locked(
            "the folder \(keys.path) does not have its key, \(identifier).key. If the key is in the desktop's keyring, add \(keyOption) secret-service; "
                + "if an app made the vault with a key file of its own, add \(keyOption) \"command:cat FILE\". Otherwise put the key back; "
                + "if it is lost, so are the records: move \(directory) away and sign in again"
        )
    }

    /// Moves the key to its folder, and says why not when that fails.
    private func keyMoveFailure(_ former: String, _ identifier: VaultIdentifier) -> VaultError? {
        do throws(VaultError) {
            try keys.move(former, of: identifier)
            return nil
        } catch {
            return error
        }
    }

    /// The error of a command that would maintain records that no later command can read.
    static let endsWithCommand = CommandError.usage(
        "A vault in memory ends with the command. Name another one with --vault.")

    private static let noSession = CommandError(
        status: .vault, code: "vault_unavailable",
        message: "No desktop session with a keyring is running. Log in to the desktop, or use --vault files:DIR.")

    private var keys: KeyFolder { KeyFolder(path: settings.keyHome) }

    private var sessionBus: [Address]? {
        try? Address.session(environment: settings.environment)
    }
}
#endif
