#if Sandbox
import SandboxCore

/// What `/profiles` and `/people/search` find (Recurse Center dossier, section 4.1).
struct PeopleSearch: Sendable {
    private let query: FormParameters
    private let caller: Person

    private static let roles = ["recurser", "resident", "facilitator", "faculty"]
    private static let scopes = ["current", "overlap"]

    /// - Returns: nil when `role` or `scope` is none of the known ones.
    init?(_ query: FormParameters, by caller: Person) {
        if let role = query["role"], !Self.roles.contains(role) { return nil }
        if let scope = query["scope"], !Self.scopes.contains(scope) { return nil }
        self.query = query
        self.caller = caller
    }

    /// The people who match, by id.
    var people: [Person] {
        People.all.filter(fits).sorted { $0.id < $1.id }
    }

    /// The page that `limit` and `offset` ask for: 20 by default, 50 at most.
    var page: ArraySlice<Person> {
        let limit = min(max(query["limit"].flatMap { Int($0) } ?? 20, 1), 50)
        let offset = max(query["offset"].flatMap { Int($0) } ?? 0, 0)
        return people.dropFirst(offset).prefix(limit)
    }

    /// Whether a name has every word of the text, without regard to case.
    static func names(_ person: Person, by text: String) -> Bool {
        let name = person.name.lowercased()
        return text.lowercased().split(separator: " ").allSatisfy { name.contains($0) }
    }

    private func fits(_ person: Person) -> Bool {
        if let text = query["query"], !Self.names(person, by: text) { return false }
        if let id = query["batch_id"], !person.stints.contains(where: { $0.batch.map { String($0.id) } == id }) {
            return false
        }
        if let id = query["location_id"], person.location.map({ String($0.id) }) != id { return false }
        if let role = query["role"], !person.stints.contains(where: { $0.kind.role == role }) { return false }
        switch query["scope"] {
        case "current": return person.stints.contains(where: \.isInProgress)
        case "overlap":
            return person.id != caller.id
                && person.stints.contains { stint in caller.stints.contains { $0.overlaps(stint) } }
        default: return true
        }
    }
}
#endif
