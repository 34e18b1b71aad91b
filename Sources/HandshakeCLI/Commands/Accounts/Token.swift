import ArgumentParser
import Handshake
import OAuth

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a fresh access token, refreshing it when needed.",
        discussion:
            "Give it to a program through a pipe or a variable, not as an argument, which every process can read.")

    @Argument(help: "The account.")
    var account: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let vault = try await common.openVault(try Settings.load())
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
