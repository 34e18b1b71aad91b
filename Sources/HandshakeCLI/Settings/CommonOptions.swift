import ArgumentParser
import Foundation
import Handshake

/// What every command that works with accounts accepts.
struct CommonOptions: ParsableArguments {
    @Flag(help: "Print the result as one JSON object, and errors as JSON too.")
    var json = false

    @Flag(help: "Print nothing but results and errors.")
    var quiet = false

    @Option(help: ArgumentHelp("Where accounts are kept: memory or files:DIR.", valueName: "vault"))
    var vault: String?

    /// The vault that the options, the environment or the settings name.
    func openVault(_ settings: Settings) throws -> any Vault {
        let choice =
            vault ?? settings.environment["HANDSHAKE_VAULT"] ?? settings.file.vault ?? "files:\(settings.home)/vault"
        if choice == "memory" { return MemoryVault() }
        let parts = choice.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count) {
        case ("files", 2):
            let directory = Settings.absolute(parts[1])
            return try FileVault(directory: directory, keyFile: directory + ".key")
        case ("keychain", _), ("secret-service", _), ("sqlite", _), ("postgres", _):
            throw CommandError.notBuilt("the vault \(parts[0])")
        default:
            throw CommandError.usage("--vault is memory or files:DIR, not “\(choice)”")
        }
    }
}
