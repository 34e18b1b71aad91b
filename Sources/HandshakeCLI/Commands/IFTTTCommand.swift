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
            show, connect, disconnect and token act for the user who has connected. options, update, run and perform act for the \
            partner's server and need its service key, from a file or from standard input.
            """,
        subcommands: [
            IFTTTShow.self, IFTTTConnectCommand.self, IFTTTDisconnect.self, IFTTTFieldOptions.self, IFTTTUpdate.self,
            IFTTTRun.self, IFTTTPerform.self, IFTTTToken.self,
        ])
}

/// What every command of IFTTT's accepts.
struct IFTTTOptions: ParsableArguments {
    @Argument(help: "The connection's identifier, as in aB3dE5fG.", transform: Self.connection)
    var connection: ConnectionID

    @Option(help: "The account that keeps the user's token.")
    var account = "ifttt"

    @Option(
        name: .customLong("base-url"),
        help: ArgumentHelp("A sandbox's address, instead of the service.", valueName: "url"))
    var baseURL: String?

    @Option(
        name: .customLong("invite-code-file"),
        help: ArgumentHelp("A file with the invite code of an unpublished service, or -.", valueName: "file"))
    var inviteCodeFile: String?

    @OptionGroup var common: CommonOptions

    private static func connection(_ text: String) throws -> ConnectionID {
        guard let id = ConnectionID(rawValue: text) else {
            throw ValidationError("“\(quoted(text, limit: 80))” is not the identifier of a connection")
        }
        return id
    }

    /// The service, at its own address or at the one that the command line or the settings name.
    func service() throws -> Service {
        let settings = try Settings.load()
        guard let url = settings.choose(baseURL, "BASE_URL", settings.service("ifttt").baseURL) else { return .ifttt }
        return try Service.builtIn("ifttt", at: url, security: .allowingInsecureLoopback) ?? .ifttt
    }

    /// The tokens of the user, kept as an account of the partner's service.
    func tokens(of partner: String, returningTo redirect: ReturnAddress? = nil) async throws -> (UserTokens, Client) {
        let service = try service()
        let client = Client(
            service: service, id: partner,
            redirect: try redirect.map { .uri(try RedirectURI($0.rawValue)) } ?? .loopback(path: "/connect_callback"))
        let vault = try await common.openVault(try Settings.load())
        return (UserTokens(in: try Handshake(client, vault: vault), as: account), client)
    }

    /// The tokens of an account that there is.
    func knownTokens() async throws -> UserTokens {
        let vault = try await common.openVault(try Settings.load())
        guard let client = try await Registrations(in: vault).client(named: account),
            client.service.name == Service.ifttt.name
        else { throw absent }
        return UserTokens(in: try Handshake(client, vault: vault), as: account)
    }

    var absent: CommandError {
        CommandError(
            status: .signInNeeded, code: "sign_in_required",
            message: "no user token is kept as “\(account)”; connect with: handshake ifttt connect \(connection)")
    }

    /// The calls of a user; without a token, those of nobody.
    func api(_ tokens: UserTokens?) throws -> ConnectAPI {
        let invite = try inviteCodeFile.map { try SecretFile.read($0, what: "invite code") }
        return ConnectAPI(
            ConnectAPI.Caller(
                userToken: { try await tokens?.token() }, inviteCode: { invite }), at: Hosts(of: try service()))
    }
}

/// What the commands of the partner's server accept besides.
struct IFTTTServiceOptions: ParsableArguments {
    @Option(
        name: .customLong("service-key-file"),
        help: ArgumentHelp(
            "A file with the partner's service key, or - for a line of standard input.", valueName: "file"))
    var serviceKeyFile: String

    @Option(help: ArgumentHelp("The partner's own identifier of the user.", valueName: "id"))
    var user: String

    @OptionGroup var options: IFTTTOptions

    func service() throws -> ConnectService {
        ConnectService(
            key: try SecretFile.read(serviceKeyFile, what: "service key"), at: Hosts(of: try options.service()))
    }
}

/// A secret in a file or on standard input; never on the command line, where every process can read it.
enum SecretFile {
    /// The first line.
    static func read(_ path: String, what: String) throws -> Secret {
        let line =
            path == "-"
            ? readLine()
            : (try? String(contentsOfFile: Settings.absolute(path), encoding: .utf8))?
                .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init)
        guard let line, !line.isEmpty else {
            throw CommandError.usage(
                path == "-" ? "no \(what) came on standard input" : "\(path) holds no \(what) that can be read")
        }
        return Secret(line)
    }
}

/// Gives the kit's errors their place among the command's exit statuses.
enum IFTTTFailure {
    static func reported<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as ConnectError {
            throw commandError(error)
        }
    }

    /// The error as the command states it; one of the floor below stays itself.
    static func commandError(_ error: ConnectError) -> any Error {
        switch error {
        case .account(let error): error
        case .network(let error): error
        default: CommandError(status: status(error), code: error.code, message: error.description)
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
