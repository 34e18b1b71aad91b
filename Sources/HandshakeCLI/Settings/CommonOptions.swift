#if CommandLine
import ArgumentParser
import Handshake

/// What every command that works with accounts accepts.
struct CommonOptions: ParsableArguments {
    @Flag(help: "Print the result as one JSON object, and errors as JSON too.")
    var json = false

    @Flag(help: "Print only results and errors.")
    var quiet = false

    @Option(
        help: ArgumentHelp(
            "Where accounts are stored: memory, files:DIR, secret-service, sqlite:FILE or postgres:CONNECTION.",
            valueName: "vault"))
    var vault: String?

    @Option(
        help: ArgumentHelp(
            "Where the vault's key comes from: credential:NAME, command:PROGRAM ARGUMENT… or secret-service",
            valueName: "key"))
    var vaultKey: String?

    /// The vault that the options, the environment or the settings name.
    func openVault(_ settings: Settings) async throws -> any Vault {
        try await vaultChoice(settings).open().vault
    }

    /// The same vault if it exists; otherwise an empty one, so that a command that only reads makes no files.
    func existingVault(_ settings: Settings) async throws -> any Vault {
        try await vaultChoice(settings).openExisting().vault
    }

    /// An account of the existing vault, for commands that only read.
    func existingAccount(_ name: String) async throws -> KnownAccount {
        try await KnownAccount.open(name, in: try await existingVault(try Settings.load()))
    }

    /// Which vault that is, and where its key lies.
    func vaultChoice(_ settings: Settings) throws -> VaultChoice {
        try VaultChoice(vault, key: vaultKey, settings: settings)
    }
}
#endif
