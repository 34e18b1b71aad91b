#if CommandLine
import ArgumentParser
import Handshake
import OAuth
import Sequencing

/// `handshake sequencing …`: Sequencing.com's files, app chains and the rest of its kit.
struct SequencingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sequencing", abstract: "Use Sequencing.com: genetic files, app chains, reports, imports.",
        discussion: "Sign in first: handshake login sequencing",
        subcommands: [
            SequencingFiles.self, SequencingFile.self, SequencingChain.self, SequencingChains.self, SequencingJobs.self,
            SequencingResume.self,
            SequencingReportFile.self, SequencingBeacon.self, SequencingRegister.self, SequencingResetPassword.self,
            SequencingImport.self,
            SequencingConnect.self,
        ])
}

/// What the commands that act for a user accept.
struct SequencingOptions: ParsableArguments {
    @Option(help: "The account to act for.")
    var account = "sequencing"

    @OptionGroup var common: CommonOptions

    /// A command that acts for the same account, as it is typed.
    func command(_ words: String) -> String {
        "handshake sequencing \(words)"
            + (account == "sequencing" ? "" : " --account \(KnownAccount.shellWord(account))")
    }

    /// An error in the words of the command, which name the command that helps.
    func message(_ error: SequencingError) -> String {
        switch error {
        case .unknownFile(let id):
            "The account has no file “\(quoted(id.string, limit: 200))”. List the files with: \(command("files"))"
        case .unknownJob(let id):
            "Sequencing.com has no job \(id) for this account. List yours with: \(command("jobs"))"
        default: error.description
        }
    }

    /// The error as the command states it; one of the floor below stays itself.
    func commandError(_ error: SequencingError) -> any Error {
        SequencingFailure.commandError(error, message: message(error))
    }

    /// What happened, without the advice to try again: the chain may run, and another start would run it twice.
    func reason(_ error: SequencingError) -> String {
        switch error {
        case .account(.network(.timedOut)): return "Sequencing.com did not respond in time."
        case .account(.network(let problem)) where problem.mayHaveArrived:
            return "The connection to Sequencing.com was lost."
        case .account(.refreshUncertain): return "The connection to Sequencing.com was lost."
        case .service(let status, let code, let words):
            let problem =
                status >= 500 ? "is not working right now (status \(status))" : "answered with status \(status)"
            return "Sequencing.com \(problem)" + ((words ?? code).map { ": “\($0)”." } ?? ".")
        case .malformed(let answer, let member, let expected, let found):
            return SequencingError.unread(answer, member: member, expected: expected, found: found)
        default: return message(error)
        }
    }

    /// Lets `body` use the kit and the vault with the account's unfinished work, and gives its errors their place.
    func use<Result>(
        _ body: (Sequencing, any Vault) async throws -> Result
    ) async throws -> Result {
        let vault = try await common.openVault(try Settings.load())
        let known = try await KnownAccount.open(account, in: vault)
        guard known.client.service.name == Service.sequencing.name else {
            throw CommandError.usage(
                "“\(account)” is an account of \(known.client.service.displayName), not of Sequencing.com. List your accounts with: handshake accounts"
            )
        }
        return try await known.use { account in
            try await SequencingFailure.reported {
                try await body(Sequencing(account), vault)
            }
        }
    }
}

/// What the commands that need no account accept.
struct SequencingHostOptions: ParsableArguments {
    @Option(
        name: .customLong("base-url"),
        help: ArgumentHelp("A sandbox's origin instead of the service.", valueName: "url"))
    var baseURL: String?

    @Flag(help: "Print the result as one JSON object, and errors as JSON too.")
    var json = false

    @Flag(help: "Print nothing but results and errors.")
    var quiet = false

    func hosts() throws -> Sequencing.Hosts {
        guard let baseURL else { return .production }
        return Sequencing.Hosts(allAt: try StatedValue(value: baseURL, name: "--base-url").base())
    }
}

/// Maps the kit's errors to exit statuses.
enum SequencingFailure {
    static func reported<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as SequencingError {
            throw commandError(error)
        }
    }

    /// The error as the command states it; one of the floor below stays itself.
    static func commandError(_ error: SequencingError, message: String? = nil) -> any Error {
        if case .account(let error) = error { return error }
        return CommandError(
            status: status(error), code: error.code, message: message ?? error.description, detail: error.detail)
    }

    private static func status(_ error: SequencingError) -> ExitStatus {
        switch error {
        case .account(let error): ExitStatus(error)
        case .input: .usage
        case .service, .unknownChain, .unknownFile, .unknownJob, .unsuccessful, .failed, .cancelled, .answerMissing:
            .serviceError
        case .deadline: .network
        case .malformed: .refused
        case .disk: .defect
        }
    }
}
#endif
