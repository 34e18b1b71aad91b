#if Sandbox
import SandboxCore

/// The people of the Recurse Center stand-in (Recurse Center dossier, section 6, row "data").
enum People {
    static let all = named + crowd

    static func person(_ id: Int) -> Person? {
        all.first { $0.id == id }
    }

    /// The person with an id or an e-mail address, as `/profiles/{id}` takes both.
    static func person(idOrEmail text: String) -> Person? {
        Int(text).flatMap(person) ?? all.first { $0.email != nil && $0.email?.lowercased() == text.lowercased() }
    }

    private static let named = [
        Person(
            id: 759, firstName: "Ada", lastName: "Example", email: "ada@example.test", github: "ada-example",
            location: .newYork, stints: [.batch(.summer2014)]),
        // Without photo, e-mail and batch, with a name beyond ASCII, the highest 16-bit id and an employment that goes on.
        Person(
            id: 65_535, firstName: "Zoë", lastName: "Ångström", photo: .none, location: .gothenburg,
            stints: [
                Stint(kind: .employment, title: "Facilitator", startDate: "2019-01-07", isInProgress: true)
            ]),
        // An id that does not fit in 16 bits, and a second stay.
        Person(
            id: 70_000, firstName: "Quentin", lastName: "Late", email: "quentin@example.test",
            company: "Example & Sons", stints: [.batch(.summer2014), .batch(.winter2024)]),
        Person(
            id: 6_700, firstName: "Mina", lastName: "Half", email: "mina+rc@example.test", photo: .placeholder,
            stints: [
                Stint(
                    kind: .retreat, batch: .winter2024, startDate: "2024-02-12", endDate: "2024-03-22",
                    isHalfBatch: true)
            ]),
        Person(
            id: 6_701, firstName: "Rosa", lastName: "Resident", photo: .hostRelative, location: .newYork,
            stints: [Stint(kind: .residency, startDate: "2024-03-04", endDate: "2024-03-08")]),
        Person(id: 6_702, firstName: "Nils", lastName: "Nostint", photo: .none),
        Person(
            id: 6_703, firstName: "Nora", lastName: "Now", email: "nora@example.test", location: .newYork,
            stints: [
                Stint(
                    kind: .retreat, batch: .current, startDate: "2025-03-31", endDate: "2025-06-20", isInProgress: true)
            ]),
        // A name that would clear a terminal's screen, colour it and turn the writing round.
        Person(
            id: 6_704, firstName: "Eve\u{1B}[2J\u{1B}[31m", lastName: "\u{202E}Hostile\u{7}<script>", photo: .none,
            stints: [.batch(.mini2023)]),
        Person(
            id: 6_705, firstName: "Fay", lastName: "Facilitates",
            stints: [Stint(kind: .facilitatorship, startDate: "2024-02-12", endDate: "2024-05-03")]),
    ]

    /// People by the dozen, for paging: 1, 50, 51 and 100 of them in batches of their own.
    private static let crowd =
        crowd(1, in: .crowd1, from: 8_000) + crowd(50, in: .crowd50, from: 8_100)
        + crowd(51, in: .crowd51, from: 8_200) + crowd(100, in: .crowd100, from: 8_300)

    private static func crowd(_ count: Int, in batch: Batch, from id: Int) -> [Person] {
        (0..<count).map { number in
            Person(
                id: id + number, firstName: "Person \(number + 1)", lastName: "of \(count)",
                email: "person\(id + number)@example.test", stints: [.batch(batch)])
        }
    }
}
#endif
