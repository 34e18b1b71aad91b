#if CommandLine
import ArgumentParser
import Handshake
import OAuth
import RecurseCenter

/// `handshake recurse-center …`: the Recurse Center's people, batches and hub.
struct RecurseCenterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recurse-center",
        abstract: "Use the Recurse Center: profiles, search, batches, visits to the hub.",
        discussion: "Sign in first: handshake login recurse-center",
        subcommands: [
            RecurseCenterMe.self, RecurseCenterProfile.self, RecurseCenterSearch.self, RecurseCenterLocations.self,
            RecurseCenterBatches.self, RecurseCenterVisit.self, RecurseCenterVisits.self, RecurseCenterHub.self,
        ])
}

/// What the commands that act for a user accept.
struct RecurseCenterOptions: ParsableArguments {
    @Option(help: "The account to act for.")
    var account = "recurse-center"

    @OptionGroup var common: CommonOptions

    /// Uses the kit for the account, and maps its errors to exit statuses.
    func use<Result>(_ body: (RecurseCenter) async throws -> Result) async throws -> Result {
        let vault = try await common.openVault(try Settings.load())
        let known = try await KnownAccount.open(account, in: vault)
        guard known.client.service.name == Service.recurseCenter.name else {
            throw CommandError.usage(
                "“\(account)” is an account of \(known.client.service.displayName), not of the Recurse Center. List your accounts with: handshake accounts"
            )
        }
        do {
            return try await known.use { try await body(RecurseCenter($0, retry: RetryPolicy(timeout: .seconds(20)))) }
        } catch let error as RecurseCenterError {
            throw known.advised(Self.commandError(error))
        }
    }

    /// The error as the command states it; one of the floor below stays itself.
    static func commandError(_ error: RecurseCenterError) -> any Error {
        if case .account(let error) = error { return error }
        return CommandError(status: status(error), code: error.code, message: error.description, detail: error.detail)
    }

    private static func status(_ error: RecurseCenterError) -> ExitStatus {
        switch error {
        case .account(let error): ExitStatus(error)
        case .input: .usage
        case .service, .tooManyRequests, .unknownPerson, .unknownBatch, .forbidden: .serviceError
        case .malformed, .photo: .refused
        }
    }
}

/// How the commands print what the service answers.
enum RecurseCenterText {
    static func print(_ profile: Profile, json: Bool) {
        if json { return Output.result(Self.json(profile).text) }
        let rows = [
            ["Name", profile.name], ["Batch", profile.batchLabel], ["Email", profile.email ?? ""],
            ["GitHub", profile.github ?? ""], ["Place", profile.location?.name ?? ""],
            ["Company", profile.company ?? ""], ["Number", profile.id.description],
        ]
        for line in Table.lines(rows.filter { !$0[1].isEmpty }) { Output.result(line) }
    }

    static func json(_ profile: Profile) -> JSONText {
        .object([
            ("id", .integer(profile.id.number)), ("name", .string(profile.name)),
            ("first_name", .string(profile.firstName)), ("last_name", .string(profile.lastName)),
            ("batch", .string(profile.batchLabel)), ("email", .optional(profile.email)),
            ("github", .optional(profile.github)), ("pronouns", .optional(profile.pronouns)),
            ("location", .optional(profile.location?.name)), ("company", .optional(profile.company)),
            ("stints", .array(profile.stints.map(json))),
        ])
    }

    static func json(_ batch: Batch) -> JSONText {
        .object([
            ("id", .integer(batch.id.number)), ("name", .string(batch.name)),
            ("short_name", .optional(batch.shortName)), ("start_date", .optional(batch.startDate?.description)),
            ("end_date", .optional(batch.endDate?.description)),
        ])
    }

    private static func json(_ stint: Stint) -> JSONText {
        .object([
            ("type", .string(stint.kind.rawValue)), ("title", .optional(stint.title)),
            ("batch", .optional(stint.batch?.name)), ("half_batch", .bool(stint.isHalfBatch)),
            ("in_progress", .bool(stint.isInProgress)), ("start_date", .optional(stint.startDate?.description)),
            ("end_date", .optional(stint.endDate?.description)),
        ])
    }
}
#endif
