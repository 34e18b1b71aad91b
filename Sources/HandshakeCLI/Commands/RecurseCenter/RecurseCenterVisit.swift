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
        let stated = try date.map { text in
            guard let date = CalendarDate(text) else {
                throw CommandError.usage("--date takes a day as YYYY-MM-DD, as in 2026-11-22.")
            }
            return date
        }
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
#endif
