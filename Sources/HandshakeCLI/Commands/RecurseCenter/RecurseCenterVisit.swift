#if CommandLine
import ArgumentParser
import Handshake
import OAuth
import RecurseCenter

struct RecurseCenterVisit: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "visit", abstract: "Check in at the hub for today, or check out.",
        discussion: "Idempotent: one visit a day, by New York time.")

    @Flag(name: [.customLong("out"), .customLong("delete")], help: "Check out: remove the visit.")
    var out = false

    @Option(help: ArgumentHelp("Notes for the visit; an empty text clears them.", valueName: "text"))
    var notes: String?

    @Option(help: ArgumentHelp("Another day than today.", valueName: "yyyy-mm-dd"))
    var date: String?

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: RecurseCenterOptions

    func run() async throws {
        if out, notes != nil {
            throw CommandError.usage("--out removes the visit, so --notes cannot be given with it.")
        }
        let stated = try Self.day(date, of: "--date")
        try await options.use { center in
            let me = try await center.profile(.me)
            let day = stated ?? center.today
            if out {
                let wasThere = try await center.checkOut(me.id, on: day)
                print(me, day, isCheckedIn: false, notes: nil, wasThere ? "Checked out" : "There was no visit")
            } else {
                let visit = try await center.checkIn(me.id, on: day, notes: notes)
                print(me, visit.date, isCheckedIn: true, notes: visit.notes, "Checked in")
            }
        }
    }

    /// The day that an option states; nil without one.
    static func day(_ text: String?, of option: String) throws -> CalendarDate? {
        guard let text else { return nil }
        guard let day = CalendarDate(text) else {
            throw CommandError.usage("\(option) takes a day as YYYY-MM-DD, as in 2026-11-22.")
        }
        return day
    }

    private func print(_ me: Profile, _ day: CalendarDate, isCheckedIn: Bool, notes: String?, _ words: String) {
        if options.common.json {
            Output.result(
                JSONText.object([
                    ("person_id", .integer(me.id.number)), ("date", .string(day.description)),
                    ("checked_in", .bool(isCheckedIn)), ("notes", .optional(notes)),
                ]).text)
            return
        }
        let noted = (notes ?? "").isEmpty ? "" : ": \(notes ?? "")"
        Output.result("\(words) on \(day), \(quoted(me.name, limit: 200))\(quoted(noted, limit: 500))")
    }
}

struct RecurseCenterVisits: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "visits", abstract: "List visits to the hub: today's, or those of a person or of other days.")

    @Option(help: ArgumentHelp("Only visits of this person.", valueName: "number"))
    var person: Int64?

    @Option(help: ArgumentHelp("The first day.", valueName: "yyyy-mm-dd"))
    var from: String?

    @Option(help: ArgumentHelp("The last day.", valueName: "yyyy-mm-dd"))
    var to: String?

    @Option(help: "The maximum number of visits to list.")
    var limit = 100

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: RecurseCenterOptions

    func run() async throws {
        guard limit > 0 else { throw CommandError.usage("--limit takes a number of 1 or more.") }
        var filter = HubVisitFilter(
            from: try RecurseCenterVisit.day(from, of: "--from"), to: try RecurseCenterVisit.day(to, of: "--to"))
        if let person {
            guard let id = PersonID(person) else { throw CommandError.usage("--person takes a person's number.") }
            filter.person = id
        }
        let (wanted, limit) = (filter, limit)
        let visits = try await options.use { center in
            try await center.hubVisits(wanted).prefix(limit).reduce(into: [HubVisit]()) { $0.append($1) }
        }
        if options.common.json {
            let rows = visits.map { visit in
                JSONText.object([
                    ("person_id", .integer(visit.person.number)), ("name", .optional(visit.name)),
                    ("date", .string(visit.date.description)), ("notes", .string(visit.notes)),
                ])
            }
            return Output.result(JSONText.object([("visits", .array(rows))]).text)
        }
        guard !visits.isEmpty else { return Output.note("No visit matches.") }
        let rows = visits.map { [$0.date.description, $0.person.description, $0.name ?? "", $0.notes] }
        for line in Table.lines([["DAY", "NUMBER", "NAME", "NOTES"]] + rows) { Output.result(line) }
    }
}
#endif
