#if CommandLine
import ArgumentParser
import Handshake
import OAuth

struct Token: BoundedCommand {
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case access, id
    }

    static let configuration = CommandConfiguration(
        abstract: "Print a valid access token, refreshed if necessary.",
        discussion:
            """
            Pass it to a program through a pipe or a variable; on a terminal you are asked first. Other processes can read arguments. A token that is bound to a key (DPoP) \
            is of no use to a program without that key: send its requests with handshake request.
            """)

    @Argument(help: "The account.")
    var account: String

    @Option(
        name: .customLong("min-valid"),
        help: ArgumentHelp(
            "How long the token has to be valid; it is refreshed if necessary.", valueName: "seconds"))
    var minimumValidity: Int?

    @Option(help: "The access token, or the ID token that tells another program who signed in.")
    var kind: Kind = .access

    @Flag(help: "Print it on a terminal too, without asking.")
    var show = false

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let seconds = minimumValidity ?? 0
        guard (0...31_536_000).contains(seconds) else {
            throw CommandError.usage("--min-valid takes a number of seconds from 0 to 31536000.")
        }
        let vault = try await common.existingVault(try Settings.load())
        let known = try await KnownAccount.open(account, in: vault)
        try await SecretDisplay.confirm(kind == .access ? "the access token" : "the ID token", isWanted: show)
        let token = try await known.use { account in
            switch kind {
            case .access where minimumValidity == nil: try await account.accessToken()
            case .access: try await account.accessToken(validFor: Double(seconds))
            case .id: try await account.idToken(validFor: Double(seconds))
            }
        }
        guard let token else { throw missing(from: known) }
        let status = known.account.status
        if kind == .access, status.isBound { Output.note(known.boundTokenNote) }
        guard common.json else { return Output.result(token.reveal()) }
        Output.result(
            kind == .id
                ? JSONText.object([
                    ("id_token", .string(token.reveal())),
                    ("expires_at", .seconds(status.identity?.expiresAt)),
                ]).text
                : JSONText.object([
                    ("access_token", .string(token.reveal())),
                    ("token_type", .string(status.isBound ? "DPoP" : "Bearer")),
                    ("expires_at", .seconds(status.expiresAt)),
                ]).text)
    }

    private func missing(from known: KnownAccount) -> CommandError {
        switch kind {
        case .access:
            .usage(
                "\(known.client.service.displayName) gives “\(quoted(account, limit: 200))” no token that is valid for "
                    + "\(minimumValidity ?? 0) seconds. Ask for less with --min-valid.")
        case .id:
            CommandError(
                status: .signInNeeded, code: "sign_in_required",
                message:
                    "The account “\(quoted(account, limit: 200))” has no ID token that is valid long enough. "
                    + "Sign in again with: \(known.login(adding: ["openid"]))")
        }
    }
}
#endif
