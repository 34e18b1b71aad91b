import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth

struct NearbyLog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show whom you met: when, how long, how close.",
        discussion: "With --json one object a line, with --csv one line, for each encounter; the last comes first.")

    @Flag(help: "Comma-separated values, for a spreadsheet.")
    var csv = false

    @Option(help: ArgumentHelp("Only this person.", valueName: "number"), transform: PersonArgument.parse)
    var person: UserNumber?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if csv && common.json { throw ValidationError("--csv and --json exclude each other") }
    }

    func run() async throws {
        let vault = try await common.openVault(try Settings.load())
        let log = EncounterLog(in: vault, community: NearbyCommand.community)
        let contents = try await NearbyFailure.reported { try await log.contents(at: Now.seconds) }
        let people = contents.people.filter { person == nil || $0.person == person }
        if csv {
            Output.result(bytes: Array(EncounterExport.csv(people).utf8))
        } else if common.json {
            for line in try EncounterExport.json(people) { Output.result(line) }
        } else {
            show(people)
        }
        for error in contents.damaged { Output.note(quoted("\(error)")) }
    }

    private func show(_ people: [PersonHistory]) {
        guard !people.isEmpty else {
            let whom = person.map { "You did not meet number \($0)" } ?? "You met nobody"
            return Output.note("\(whom) within the last 30 days.")
        }
        let rows = people.flatMap { history in history.encounters.map { (history, $0) } }
            .sorted { $0.1.lastSeen > $1.1.lastSeen }
            .map { history, encounter in
                [
                    history.person.description, history.known?.name ?? "", history.known?.batch ?? "",
                    Moment.text(encounter.firstSeen), Span.text(encounter.duration),
                    encounter.closest.map(Span.metres) ?? "unknown",
                ]
            }
        let head = ["NUMBER", "NAME", "BATCH", "FIRST SEEN", "FOR", "CLOSEST"]
        for line in Table.lines([head] + rows) { Output.result(line) }
    }
}

struct NearbyForget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove a person and all encounters from this machine.",
        discussion:
            "Name, photo and everything else go. A `watch` that runs meanwhile keeps nothing from before either.")

    @Argument(help: ArgumentHelp("The person's number.", valueName: "number"), transform: PersonArgument.parse)
    var person: UserNumber?

    @Flag(help: "Everyone.")
    var everyone = false

    @Option(help: "The account that was asked who somebody is.")
    var account = "recurse-center"

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (person == nil) == everyone else { throw ValidationError("name one person, or say --everyone") }
    }

    func run() async throws {
        let settings = try Settings.load()
        let vault = try await common.openVault(settings)
        let log = EncounterLog(in: vault, community: NearbyCommand.community)
        try await Acquaintances(nil, home: settings.home, account: account).forget(person)
        let count = try await NearbyFailure.reported {
            if let person { return try await log.forget(person) ? 1 : 0 }
            return try await log.forgetEveryone()
        }
        // What cannot be read cannot be known to be somebody's, and is not removed: that is no success.
        if everyone,
            let error = try await NearbyFailure.reported({ try await log.contents(at: Now.seconds) }).damaged.first
        {
            throw CommandError(
                status: .vault, code: error.code, message: "\(count) people forgotten; \(quoted("\(error)"))")
        }
        if common.json {
            Output.result(JSONText.object([("forgotten", .integer(Int64(count)))]).text)
        } else {
            Output.note(
                count == 0 ? "There was nothing to forget." : count == 1 ? "Forgotten." : "\(count) people forgotten.")
        }
    }
}

/// Lengths of time and space for people.
enum Span {
    /// `under a minute`, `12 min`, `2 h 5 min`.
    static func text(_ seconds: Double) -> String {
        let minutes = Int(exactly: (seconds / 60).rounded(.down)) ?? 0
        if minutes < 1 { return "under a minute" }
        return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }

    /// `0.8 m`, `3 m`: more would claim what nobody can know.
    static func metres(_ value: Double) -> String {
        value < 1 ? String(format: "%.1f m", value) : String(format: "%.0f m", value)
    }
}
