#if CommandLine
import ArgumentParser
import Handshake
import OAuth

struct Token: BoundedCommand {
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case access, id
    }

    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a valid access token, refreshed if necessary.",
        discussion:
            """
            Pass it to a program through a pipe or a variable; on a terminal you are asked first. Other processes can read arguments. A token that is bound to a key (DPoP) \
            is of no use to a program without that key, and one that is bound to a certificate to a program without that certificate: \
            send its requests with handshake request.
            """)

    @Argument(help: "The account's name; handshake accounts lists them.")
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

    /// In seconds.
    static let defaultTimeout = 60

    @Option(help: .timeout)
    var timeout = Self.defaultTimeout

    @OptionGroup var common: CommonOptions

    func run() async throws {
        var wanted = WantedToken(account: account)
        wanted.kind = kind
        wanted.minimumValidity = minimumValidity
        wanted.isConfirmed = show
        wanted.isJSON = common.json
        try await wanted.print(from: try common.vaultChoice(try Settings.load()))
    }
}

/// The token that a command line asks for.
struct WantedToken {
    let account: String
    var kind = Token.Kind.access
    /// In seconds.
    var minimumValidity: Int?
    /// Whether it may be shown on a terminal without a question.
    var isConfirmed = false
    var isJSON = false

    init(account: String) {
        self.account = account
    }

    /// What `token ACCOUNT` without options asks for; nil for every other command line.
    init?(plain arguments: some Collection<String>) {
        guard arguments.count == 2, arguments.first == "token", let account = arguments.dropFirst().first,
            !account.hasPrefix("-")
        else { return nil }
        self.account = account
    }

    func print(from choice: VaultChoice) async throws {
        let seconds = minimumValidity ?? 0
        guard (0...31_536_000).contains(seconds) else {
            throw CommandError.usage("--min-valid takes a number of seconds from 0 to 31536000.")
        }
        let known = try await KnownAccount.open(account, in: try await choice.openExisting().vault)
        try await SecretDisplay.confirm(kind == .access ? "the access token" : "the ID token", isWanted: isConfirmed)
        let token = try await known.use { account in
            switch kind {
            case .access where minimumValidity == nil: try await account.accessToken()
            case .access: try await account.accessToken(validFor: Double(seconds))
            case .id: try await account.idToken(validFor: Double(seconds))
            }
        }
        guard let token else { throw missing(from: known) }
        let status = known.account.status
        let note = status.isBound ? known.boundTokenNote : known.certificateNote
        if kind == .access, let note { Output.note(NamedVault.given.completed(note, isLine: true)) }
        guard isJSON else { return Output.result(token.reveal()) }
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
        case .id where known.account.status.isWithoutUser:
            .usage("“\(quoted(account, limit: 200))” has no ID token: the client signs in without a user.")
        case .id where known.account.status.identity == nil && !known.hasIDTokens:
            .usage(
                "“\(quoted(account, limit: 200))” has no ID token: \(known.client.service.displayName) gives none that can "
                    + "be checked.")
        case .id where isLongerThanIDToken(of: known.account.status):
            .usage(
                "\(known.client.service.displayName) gives “\(quoted(account, limit: 200))” no ID token that is valid for "
                    + "\(minimumValidity ?? 0) seconds. Ask for less with --min-valid.")
        case .id:
            CommandError(
                status: .signInNeeded, code: "sign_in_required",
                message:
                    "The account “\(quoted(account, limit: 200))” has no ID token that is valid long enough. "
                    + "Sign in again with: \(known.login(adding: ["openid"]))")
        }
    }

    /// Whether an ID token has to be valid for longer than the server has made this one.
    private func isLongerThanIDToken(of status: AccountStatus) -> Bool {
        status.identity.map { $0.expiresAt - $0.issuedAt < Double(minimumValidity ?? 0) } ?? false
    }
}
#endif
