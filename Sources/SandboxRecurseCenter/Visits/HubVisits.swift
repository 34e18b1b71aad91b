#if Sandbox
import SandboxCore
import Synchronization

/// Who was at the hub on which day: one visit a person and day (Recurse Center dossier, section 4.1).
///
/// A class, since the routes share one list of visits.
final class HubVisits: Sendable {
    /// One visit.
    struct Visit: Sendable {
        let personID: Int
        let date: String
        var notes = ""
        var appData = JSON.object([])
        let createdAt: String
        var updatedAt: String
        let createdBy: String?
        var updatedBy: String?
    }

    private struct Key: Hashable {
        let personID: Int
        let date: String
    }

    private let visits: Mutex<[Key: Visit]>

    init() {
        let past = [
            Self.past(65_535, "2024-05-01", notes: ""), Self.past(6_700, "2024-05-01", notes: "by the window"),
            Self.past(65_535, "2024-05-02", notes: "fika"),
        ]
        visits = Mutex(Dictionary(uniqueKeysWithValues: past.map { (Key(personID: $0.personID, date: $0.date), $0) }))
    }

    private static func past(_ personID: Int, _ date: String, notes: String) -> Visit {
        Visit(
            personID: personID, date: date, notes: notes, createdAt: "\(date)T14:00:00Z",
            updatedAt: "\(date)T14:00:00Z",
            createdBy: nil)
    }

    func visit(of personID: Int, on date: String) -> Visit? {
        visits.withLock { $0[Key(personID: personID, date: date)] }
    }

    /// The visits that fit, by day and person.
    func all(where fits: (Visit) -> Bool) -> [Visit] {
        visits.withLock { $0.values.filter(fits) }.sorted { ($0.date, $0.personID) < ($1.date, $1.personID) }
    }

    /// Creates the visit, or changes what is stated of the one that is there.
    func put(
        _ personID: Int, _ date: String, notes: String?, appData: JSON?, by application: String?, at now: String
    ) -> Visit {
        visits.withLock { visits in
            let key = Key(personID: personID, date: date)
            var visit =
                visits[key]
                ?? Visit(personID: personID, date: date, createdAt: now, updatedAt: now, createdBy: application)
            visit.notes = notes ?? visit.notes
            visit.appData = appData ?? visit.appData
            visit.updatedAt = now
            visit.updatedBy = application
            visits[key] = visit
            return visit
        }
    }

    /// Removes the visit; false when there was none.
    func remove(_ personID: Int, _ date: String) -> Bool {
        visits.withLock { $0.removeValue(forKey: Key(personID: personID, date: date)) != nil }
    }
}

extension HubVisits.Visit {
    var json: JSON {
        let name = People.person(personID)?.name ?? ""
        return [
            "person": ["id": .number(personID), "name": .string(name)], "date": .string(date), "app_data": appData,
            "notes": .string(notes), "created_at": .string(createdAt), "updated_at": .string(updatedAt),
            "created_by_app": JSON(createdBy), "updated_by_app": JSON(updatedBy),
        ]
    }
}
#endif
