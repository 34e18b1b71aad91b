import ArgumentParser
import DBus
import Foundation
import Handshake
import SecretServiceVault

/// What every command that works with accounts accepts.
struct CommonOptions: ParsableArguments {
    @Flag(help: "Print the result as one JSON object, and errors as JSON too.")
    var json = false

    @Flag(help: "Print nothing but results and errors.")
    var quiet = false

    @Option(help: ArgumentHelp("Where accounts are kept: memory, files:DIR or secret-service.", valueName: "vault"))
    var vault: String?

    /// The vault that the options, the environment or the settings name.
    func openVault(_ settings: Settings) async throws -> any Vault {
        let choice =
            vault ?? settings.environment["HANDSHAKE_VAULT"] ?? settings.file.vault ?? "files:\(settings.home)/vault"
        if choice == "memory" { return MemoryVault() }
        let parts = choice.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count) {
        case ("files", 2):
            let directory = Settings.absolute(parts[1])
            return try FileVault(directory: directory, keyFile: directory + ".key")
        case ("secret-service", _):
            let environment = settings.environment
            let addresses: [Address]
            do {
                addresses = try Address.session(environment: environment)
            } catch {
                throw VaultError.unavailable(
                    "there is no desktop session with a keyring: \(error); use --vault files:DIR")
            }
            // A script has nobody who could unlock a keyring.
            return try await SecretServiceVault.open(
                directory: parts.count == 2 ? Settings.absolute(parts[1]) : settings.home + "/vault-secret-service",
                on: addresses, promptTime: StandardInput.isTerminal ? SecretServiceVault.promptTime : nil)
        case ("keychain", _), ("sqlite", _), ("postgres", _):
            throw CommandError.notBuilt("the vault \(parts[0])")
        default:
            throw CommandError.usage("--vault is memory, files:DIR or secret-service, not “\(choice)”")
        }
    }
}
