#if Sandbox
import HTTPTypes
import SandboxCore

/// The hub's visits (Recurse Center dossier, sections 4.1 and 6).
struct HubVisitRoutes: Sendable {
    let access: Access
    let visits = HubVisits()

    private static let onePath = "/api/v1/hub_visits/{person_id}/{date}"

    var routes: [Route] {
        [
            Route(
                "GET", path: "/api/v1/hub_visits",
                note: "visits: date, start_date, end_date, person_id, page, per_page (1 to 200); today's by default",
                answer: access.answering(list)),
            Route("GET", path: Self.onePath, note: "one visit", answer: access.answering(show)),
            Route(
                "PATCH", path: Self.onePath, note: "check in: notes, app_data; form or JSON",
                answer: access.answering(put)),
            Route("DELETE", path: Self.onePath, note: "check out", answer: access.answering(remove)),
        ]
    }

    private func list(_ request: IncomingRequest, _ caller: Person) -> Answer {
        let query = request.query
        for name in ["date", "start_date", "end_date"] {
            if let text = query[name], !NewYorkCalendar.isDate(text) {
                return Access.invalid("\(name) is not a date")
            }
        }
        let isFiltered = ["date", "start_date", "end_date", "person_id"].contains { query[$0] != nil }
        let day = query["date"] ?? (isFiltered ? nil : NewYorkCalendar.date(at: access.server.clock.now))
        let found = visits.all { visit in
            (day == nil || visit.date == day) && visit.date >= (query["start_date"] ?? "")
                && visit.date <= (query["end_date"] ?? "9999-12-31")
                && (query["person_id"] == nil || query["person_id"] == String(visit.personID))
        }
        let size = min(max(query["per_page"].flatMap { Int($0) } ?? 50, 1), 200)
        let page = min(max(query["page"].flatMap { Int($0) } ?? 1, 1), 1_000_000)
        return .json(.array(found.dropFirst((page - 1) * size).prefix(size).map(\.json)))
    }

    private func show(_ request: IncomingRequest, _ caller: Person) -> Answer {
        guard let (personID, date) = key(request), let visit = visits.visit(of: personID, on: date) else {
            return Access.notFound
        }
        return .json(visit.json)
    }

    private func put(_ request: IncomingRequest, _ caller: Person) -> Answer {
        guard let (personID, date) = key(request), People.person(personID) != nil else {
            return Access.notFound
        }
        guard personID == caller.id else { return Access.forbidden }
        guard let stated = Self.stated(request) else {
            return Access.invalid("the body, or app_data, is no JSON")
        }
        let visit = visits.put(
            personID, date, notes: stated.notes, appData: stated.appData, by: access.application(request),
            at: NewYorkCalendar.timestamp(at: access.server.clock.now))
        return .json(visit.json)
    }

    private func remove(_ request: IncomingRequest, _ caller: Person) -> Answer {
        guard let (personID, date) = key(request), People.person(personID) != nil else {
            return Access.notFound
        }
        guard personID == caller.id else { return Access.forbidden }
        return visits.remove(personID, date) ? Answer(status: 204) : Access.notFound
    }

    private func key(_ request: IncomingRequest) -> (personID: Int, date: String)? {
        guard let id = request.variables["person_id"].flatMap({ Int($0) }), let date = request.variables["date"],
            NewYorkCalendar.isDate(date)
        else { return nil }
        return (id, date)
    }

    /// What a body says of a visit; nil when it cannot be read. An empty text is stated too: it clears the notes.
    private static func stated(_ request: IncomingRequest) -> (notes: String?, appData: JSON?)? {
        var members: [(name: String, value: String)] = request.form.pairs
        if request.mediaType == "application/json", !request.body.isEmpty {
            guard case .object(let read)? = JSON(parsing: request.body) else { return nil }
            members = read.compactMap { member in member.value.scalarText.map { (member.name, $0) } }
        }
        let notes = members.last { $0.name == "notes" }?.value
        guard let text = members.last(where: { $0.name == "app_data" })?.value, !text.isEmpty else {
            return (notes, nil)
        }
        guard let appData = JSON(parsing: Array(text.utf8)) else { return nil }
        return (notes, appData)
    }
}
#endif
