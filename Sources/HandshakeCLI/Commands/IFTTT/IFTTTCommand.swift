#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import IFTTTConnect
import OAuth

/// `handshake ifttt …`: connections at IFTTT, as a user turns them on and off and as the partner's server uses them.
struct IFTTTCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ifttt", abstract: "Use IFTTT Connect: turn connections on and off, configure and run them.",
        discussion: """
            show, connect, disconnect and token act for the connected user. options, update, run, perform, test and notify act for \
            the partner's server and need its service key, from a file or from standard input. url prints a URL.
            """,
        subcommands: [
            IFTTTShow.self, IFTTTConnectCommand.self, IFTTTDisconnect.self, IFTTTFieldOptions.self, IFTTTUpdate.self,
            IFTTTRun.self, IFTTTPerform.self, IFTTTTest.self, IFTTTNotify.self, IFTTTURL.self, IFTTTToken.self,
        ])
}

/// The host options of every IFTTT command.
struct IFTTTHostOptions: ParsableArguments {
    @Option(
        name: .customLong("base-url"),
        help: ArgumentHelp("A sandbox's origin instead of the service.", valueName: "url"))
    var baseURL: String?

    @OptionGroup var common: CommonOptions

    /// The service, at its own address or at the one that the command line or the settings name.
    func service() throws -> Service {
        let settings = try Settings.load()
        let stated = settings.stated(
            baseURL, "base-url", "BASE_URL", settings.service("ifttt").baseURL, of: "ifttt")
        return try stated.map { .ifttt.at(try $0.base()) } ?? .ifttt
    }

    func hosts() throws -> Hosts { Hosts(of: try service()) }
}

/// What the commands about one connection accept.
struct IFTTTOptions: ParsableArguments {
    @Argument(help: "The connection's identifier, for example aB3dE5fG.", transform: Self.connection)
    var connection: ConnectionID

    @Option(help: "The account with the user's token.")
    var account = "ifttt"

    @Option(
        name: .customLong("invite-code-file"),
        help: ArgumentHelp(
            "A file with the invite code of an unpublished service, or - for a line of standard input.",
            valueName: "file"))
    var inviteCodeFile: String?

    @OptionGroup var host: IFTTTHostOptions

    var common: CommonOptions { host.common }

    static func connection(_ text: String) throws -> ConnectionID {
        guard let id = ConnectionID(rawValue: text) else {
            throw ValidationError(
                "“\(quoted(text, limit: 80))” is not the identifier of a connection, for example aB3dE5fG.")
        }
        return id
    }

    /// The tokens of the user, kept as an account of the partner's service.
    ///
    /// - Throws: `CommandError` when the account is another client's: one name, one account, because the other one's token would
    ///   live on where no command could reach it.
    func tokens(of partner: String) async throws -> (UserTokens, Client) {
        let client = Client(
            service: try host.service(), id: partner, redirect: .loopback(path: "/connect_callback"))
        let vault = try await common.openVault(try Settings.load())
        let other = try await KnownAccount.naming(account) { () -> Client? in
            guard let previous = try await Registrations(in: vault).client(named: account),
                AccountID(previous, name: account) != AccountID(client, name: account),
                try await Handshake(previous, vault: vault).account(account) != nil
            else { return nil }
            return previous
        }
        if let other { throw Login.otherClient(other, of: account) }
        return (UserTokens(in: try Handshake(client, vault: vault), as: account), client)
    }

    /// The tokens of an account that there is.
    func knownTokens() async throws -> UserTokens {
        guard let tokens = try await keptTokens() else { throw absent }
        return tokens
    }

    /// The tokens of the account; nil when there is none. An unreadable vault is an error.
    func keptTokens() async throws -> UserTokens? {
        let vault = try await common.openVault(try Settings.load())
        return try await KnownAccount.naming(account) {
            guard let client = try await Registrations(in: vault).client(named: account),
                client.service.name == Service.ifttt.name
            else { return nil }
            return UserTokens(in: try Handshake(client, vault: vault), as: account)
        }
    }

    var absent: CommandError {
        CommandError(
            status: .signInNeeded, code: "sign_in_required",
            message:
                "There is no account “\(account)” with a user token. Connect with: handshake ifttt connect \(connection)"
        )
    }

    /// The secret in `--invite-code-file`. Read once per command, because standard input has the line once.
    func inviteCode() async throws -> Secret? {
        guard let inviteCodeFile else { return nil }
        return try await SecretLine.read(inviteCodeFile, what: "invite code", option: "--invite-code-file")
    }

    /// The API for a user; without a token, anonymous.
    func api(_ tokens: UserTokens?, invite: Secret?) throws -> ConnectAPI {
        ConnectAPI(
            ConnectAPI.Caller(userToken: { try await tokens?.token() }, inviteCode: { invite }), at: try host.hosts())
    }
}

/// The proof that the commands of the partner's server need.
struct IFTTTKeyOptions: ParsableArguments {
    @Option(
        name: .customLong("service-key-file"),
        help: ArgumentHelp(
            "A file with the partner's service key, or - for a line of standard input.", valueName: "file"))
    var serviceKeyFile: String

    func service(at hosts: Hosts) async throws -> ConnectService {
        ConnectService(
            key: try await SecretLine.read(serviceKeyFile, what: "service key", option: "--service-key-file"), at: hosts
        )
    }
}

/// What the commands of the partner's server about one user's connection accept besides.
struct IFTTTServiceOptions: ParsableArguments {
    @OptionGroup var key: IFTTTKeyOptions

    @Option(help: ArgumentHelp("The partner's own identifier of the user.", valueName: "id"))
    var user: String

    @OptionGroup var options: IFTTTOptions

    func service() async throws -> ConnectService {
        try await key.service(at: try options.host.hosts())
    }
}

/// Maps the kit's errors to exit statuses.
enum IFTTTFailure {
    static func reported<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as ConnectError {
            throw commandError(error)
        }
    }

    /// The error as printed by the command; errors of lower modules stay unchanged.
    static func commandError(_ error: ConnectError) -> any Error {
        switch error {
        case .account(let error): error
        case .network(let error): error
        default:
            CommandError(status: status(error), code: error.code, message: error.description, detail: error.detail)
        }
    }

    private static func status(_ error: ConnectError) -> ExitStatus {
        switch error {
        case .input: .usage
        case .malformed: .refused
        case .account(let error): ExitStatus(error)
        case .network(let error): ExitStatus(.network(error))
        case .service: error.problemKind == .unauthorized ? .signInNeeded : .serviceError
        }
    }

    /// Why an activation ended without a connection.
    static func commandError(_ failure: ConnectActivation.Failure) -> CommandError {
        CommandError(status: status(failure), code: failure.code, message: failure.description)
    }

    private static func status(_ failure: ConnectActivation.Failure) -> ExitStatus {
        switch failure {
        case .unreachable: .network
        case .unauthorized: .signInNeeded
        case .notFound, .service, .accountCreationFailed, .refusedByService, .notConfirmed: .serviceError
        case .unreadableAnswer, .unknownRedirect: .refused
        case .configurationCancelled, .attemptExpired: .abandoned
        case .credentials, .appNotOpened, .browserNotOpened: .defect
        }
    }
}
#endif
