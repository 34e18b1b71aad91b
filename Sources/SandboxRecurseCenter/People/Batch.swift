#if Sandbox
import SandboxCore

/// A batch of the Recurse Center stand-in (Recurse Center dossier, section 4.3).
struct Batch: Sendable, Equatable {
    let id: Int
    let name: String
    let shortName: String
    let alternativeName: String
    let startDate: String
    let endDate: String

    /// As the batch routes write it.
    var json: JSON {
        named.adding("start_date", .string(startDate)).adding("end_date", .string(endDate))
    }

    /// As a stint of today embeds it: without dates.
    var named: JSON {
        [
            "id": .number(id), "name": .string(name), "short_name": .string(shortName),
            "alt_name": .string(alternativeName),
        ]
    }

    /// As a legacy person embeds it.
    var legacy: JSON {
        [
            "id": .number(id), "name": .string(name), "start_date": .string(startDate), "end_date": .string(endDate),
        ]
    }

    /// All batches, newest first.
    static let all = [current, winter2024, mini2023, crowd100, crowd51, crowd50, crowd1, empty, summer2014]

    static let summer2014 = Batch(
        id: 11, name: "Summer 1, 2014", shortName: "S1'14", alternativeName: "Summer 1 '14", startDate: "2014-06-09",
        endDate: "2014-08-28")
    static let mini2023 = Batch(
        id: 150, name: "Mini 3, 2023", shortName: "m3'23", alternativeName: "Mini 3 '23", startDate: "2023-05-15",
        endDate: "2023-05-19")
    static let winter2024 = Batch(
        id: 160, name: "Winter 2, 2024", shortName: "W2'24", alternativeName: "Winter 2 '24", startDate: "2024-02-12",
        endDate: "2024-05-03")
    static let current = Batch(
        id: 170, name: "Spring 1, 2025", shortName: "SP1'25", alternativeName: "Spring 1 '25", startDate: "2025-03-31",
        endDate: "2025-06-20")

    /// An empty batch, and those of 1, 50, 51 and 100 people: the counts of the dossier's section 4.1.
    static let empty = crowd(100, people: 0, month: "04")
    static let crowd1 = crowd(101, people: 1, month: "05")
    static let crowd50 = crowd(102, people: 50, month: "06")
    static let crowd51 = crowd(103, people: 51, month: "07")
    static let crowd100 = crowd(104, people: 100, month: "08")

    private static func crowd(_ id: Int, people: Int, month: String) -> Batch {
        Batch(
            id: id, name: "Mini \(id), 2020", shortName: "m\(id)'20", alternativeName: "\(people) people",
            startDate: "2020-\(month)-01", endDate: "2020-\(month)-05")
    }
}
#endif
