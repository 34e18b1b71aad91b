import ArgumentParser
import Handshake
import OAuth
import RecurseCenter

struct RecurseCenterVisit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "visit", abstract: "Check in at the hub for today, or check out again.",
        discussion: "Today is New York's. However often you check in, there is one visit a day.")

    @Flag(name: [.customLong("out"), .customLong("delete")], help: "Check out: remove the visit.")
    var out = false

    @Option(help: ArgumentHelp("What to note; an empty text clears the notes.", valueName: "text"))
    var notes: String?

    @Option(help: ArgumentHelp("Another day.", valueName: "yyyy-mm-dd"))
    var date: String?

    @OptionGroup var options: RecurseCenterOptions

    func run() async throws {
        if out, notes != nil { throw CommandError.usage("--notes does not go with --out, which removes the visit") }
        let stated = try date.map { text in
            guard let date = CalendarDate(text) else { throw CommandError.usage("--date is a day as YYYY-MM-DD") }
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
