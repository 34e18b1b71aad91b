#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth

struct NearbyLog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show whom you met: when, how long, how close.",
        discussion: """
            The latest encounter comes first. Times are local. Where the sender stated no power, how close it was is a rough word \
            that follows from the strongest signal. The last column says who verified the person: a circle, keys from a file, or \
            you by pairing. Any device can send a number that is unverified. Unverified people of a crowd who stay for less than \
            five minutes are not in it, and it holds about 512 unverified people. --json prints one object, --csv one row for \
            each encounter.
            """)

    @Flag(help: "Comma-separated values, for a spreadsheet.")
    var csv = false

    @Option(help: ArgumentHelp("Only this person.", valueName: "number"), transform: PersonArgument.parse)
    var person: UserNumber?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if csv && common.json { throw ValidationError("--csv and --json cannot be given together.") }
    }

    func run() async throws {
        let vault = try await NearbyVault.open(common)
        let log = EncounterLog(in: vault, community: NearbyCommand.community)
        let contents = try await NearbyFailure.reported { try await log.contents(at: Now.seconds) }
        let people = contents.people.filter { person == nil || $0.person == person }
        if csv {
            Output.result(bytes: Array(PersonHistory.csv(people).utf8))
        } else if common.json {
            for line in try PersonHistory.json(people) { Output.result(line) }
        } else {
            show(people)
        }
        for error in contents.damaged { Output.note(quoted(error.message)) }
    }

    private func show(_ people: [PersonHistory]) {
        guard !people.isEmpty else {
            return Output.note(
                "There are no encounters" + (person.map { " with number \($0)" } ?? "") + " in the last 30 days.")
        }
        let rows = people.flatMap { history in history.encounters.map { (history, $0) } }
            .sorted { $0.1.lastSeen > $1.1.lastSeen }
            .map { Self.row($0.0, $0.1) }
        let head = ["NUMBER", "NAME", "BATCH", "FIRST SEEN", "FOR", "CLOSEST", "STRONGEST", "TRUST"]
        for line in Table.lines([head] + rows) { Output.result(line) }
    }

    private static func row(_ history: PersonHistory, _ encounter: Encounter) -> [String] {
        let who = [history.person.description, history.known?.name ?? "", history.known?.batch ?? ""]
        let when = [Moment.text(encounter.firstSeen), Span.text(encounter.duration)]
        let strongest: String = encounter.strongest.map(Span.decibels) ?? "unknown"
        return who + when + [encounter.nearness ?? "unknown", strongest, encounter.trust?.word ?? "unknown"]
    }
}

extension Encounter {
    /// How near the person came: in metres, or a rough word where these are not known; nil without either.
    var nearness: String? { closest.map(Span.metres) ?? proximity.phrase(isRough: true) }
}
#endif
