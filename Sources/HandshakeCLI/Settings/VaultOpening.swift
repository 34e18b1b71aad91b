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

extension VaultChoice {
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
        "A vault in memory is lost when the command ends. Name another one with --vault.")

    private static let noSession = CommandError(
        status: .vault, code: "vault_unavailable",
        message: "No desktop session with a keyring is running. Log in to the desktop, or use --vault files:DIR.")

    private var keys: KeyFolder { KeyFolder(path: settings.keyHome) }

    private var sessionBus: [Address]? {
        try? Address.session(environment: settings.environment)
    }
}
#endif
