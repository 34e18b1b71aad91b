#if CommandLine
import DBus
import Foundation
import Handshake
import OAuth
import SecretServiceVault

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
        /// In a file beside the vault, because it could not be moved.
        case beside(String, reason: String)
    }

    private enum Kind: Hashable {
        case memory
        case files(String)
        case secretService(String)
        /// Files, with the key in the keyring where there is one.
        case unstated(String)
    }

    private let kind: Kind
    private let settings: Settings

    /// - Parameter option: the value of `--vault`.
    init(_ option: String?, settings: Settings) throws {
        self.settings = settings
        guard let choice = settings.stated(option, "vault", "VAULT", settings.file.vault) else {
            kind = .unstated(settings.home + "/vault")
            return
        }
        let parts = choice.value.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count) {
        case ("memory", 1): kind = .memory
        case ("files", 2): kind = .files(Settings.absolute(parts[1]))
        case ("secret-service", _):
            kind = .secretService(
                parts.count == 2 ? Settings.absolute(parts[1]) : settings.home + "/vault-secret-service")
        case ("keychain", _), ("sqlite", _), ("postgres", _):
            throw CommandError.notBuilt("the vault “\(parts[0])” (\(choice.name))")
        default:
            throw CommandError.usage(
                "\(choice.name) takes memory, files:DIR or secret-service, not “\(quoted(choice.value, limit: 80))”.")
        }
    }

    /// Opens the vault if it exists; otherwise an empty one in memory.
    func openExisting() async throws -> Opened {
        switch kind {
        case .memory: return try await open()
        case .secretService where sessionBus == nil: throw Self.noSession
        case .files(let directory), .secretService(let directory), .unstated(let directory):
            return Self.isAbsent(directory) ? Opened(vault: MemoryVault(), key: .memory) : try await open()
        }
    }

    /// Whether there certainly is nothing; a path that cannot be examined is not absent.
    private static func isAbsent(_ path: String) -> Bool {
        do {
            _ = try FileManager.default.attributesOfItem(atPath: path)
            return false
        } catch {
            return (error as? CocoaError)?.code == .fileReadNoSuchFile
        }
    }

    /// Opens the vault, or makes it.
    func open() async throws -> Opened {
        switch kind {
        case .memory: return Opened(vault: MemoryVault(), key: .memory)
        case .files(let directory): return try openFiles(directory)
        case .secretService(let directory):
            guard let addresses = sessionBus else { throw Self.noSession }
            return try await openWithKeyring(directory, on: addresses, prompts: true)
        case .unstated(let directory): return try await openUnstated(directory)
        }
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
        // Earlier versions kept the key beside the vault, where one backup took both.
        let former = directory + ".key"
        let failure = keyMoveFailure(former, identifier)
        if let failure, FileManager.default.fileExists(atPath: former) {
            let vault = try FileVault(directory: directory, keyFile: former)
            return Opened(vault: vault, key: .beside(former, reason: "\(failure)"))
        }
        return Opened(vault: try keys.open(directory, identifier), key: .file(keys.file(of: identifier)))
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

    private static let noSession = VaultError.unavailable(
        "there is no desktop session with a keyring. Use --vault files:DIR instead")

    private var keys: KeyFolder { KeyFolder(path: settings.keyHome) }

    private var sessionBus: [Address]? {
        try? Address.session(environment: settings.environment)
    }
}
#endif
