#if CommandLine
import ArgumentParser
import Handshake
import OAuth

struct Token: BoundedCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a valid access token, refreshed if necessary.",
        discussion:
            "Pass it to a program through a pipe or a variable. Other processes can read arguments.")

    @Argument(help: "The account.")
    var account: String

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let vault = try await common.existingVault(try Settings.load())
        let known = try await KnownAccount.open(account, in: vault)
        let token = try await known.use { try await $0.accessToken() }
        if common.json {
            Output.result(
                JSONText.object([
                    ("access_token", .string(token.reveal())), ("token_type", .string("Bearer")),
                    ("expires_at", .seconds(known.account.status.expiresAt)),
                ]).text)
        } else {
            Output.result(token.reveal())
        }
    }
}
#endif
