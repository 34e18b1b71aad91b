import HTTPTypes
public import OAuth

extension RecurseCenter {
    /// As many visits as the service gives in one page.
    private static let visitsPerPage = 200

    /// The visits that fit, in the service's order. Pages are fetched as they are read.
    ///
    /// Without a filter these are today's, as the service understands it (dossier 4.1).
    public func hubVisits(_ filter: HubVisitFilter = HubVisitFilter()) -> PagedResults<HubVisit> {
        let all: [(String, String?)] = [
            ("start_date", filter.from?.description), ("end_date", filter.to?.description),
            ("person_id", filter.person?.description),
        ]
        let parameters = all.compactMap { name, value in value.map { (name, $0) } }
        let size = Self.visitsPerPage
        return PagedResults(pageSize: size) { offset in
            let paging = [("page", String(offset / size + 1)), ("per_page", String(size))]
            return try await listed(.get("hub_visits", parameters + paging)) { members throws(RecurseCenterError) in
                try HubVisit(members)
            }
        }
    }

    /// A person's visit on a day; nil when there is none.
    ///
    /// - Throws: ``RecurseCenterError``, `CancellationError`.
    public func hubVisit(of person: PersonID, on date: CalendarDate) async throws -> HubVisit? {
        let path = Self.path(person, date)
        guard let answer = try await api.json(.get(path)) else { return nil }
        return try HubVisit(Members(answer, answer: path))
    }

    /// Checks in: makes the visit of a day, or changes the one that is there.
    ///
    /// However often it is called, there is one visit a day. It is not repeated by itself after a failure; repeating it does no
    /// harm.
    ///
    /// - Parameters:
    ///   - person: the user.
    ///   - date: the day; nil is ``today`` in New York.
    ///   - notes: what to note; nil leaves what is there, an empty text clears it.
    ///   - appData: what to store with the visit; nil leaves what is there.
    /// - Throws: ``RecurseCenterError/forbidden(message:)`` for somebody else's visit,
    ///   ``RecurseCenterError/unknownPerson(_:)``, and the others of ``RecurseCenterError``; `CancellationError`.
    @discardableResult
    public func checkIn(
        _ person: PersonID, on date: CalendarDate? = nil, notes: String? = nil, appData: JSONValue? = nil
    ) async throws -> HubVisit {
        var members: JSONObject = [:]
        members["notes"] = notes.map { .string($0) }
        members["app_data"] = appData.map { .string($0.json) }
        let path = Self.path(person, date ?? today)
        let operation = Exchange.Operation(
            method: .patch, path: path, content: members.isEmpty ? nil : .object(members))
        guard let answer = try await api.json(operation) else {
            throw RecurseCenterError.unknownPerson(.id(person))
        }
        return try HubVisit(Members(answer, answer: path))
    }

    /// Checks out: removes the visit of a day, which is the only way (dossier 4.1).
    ///
    /// - Parameters:
    ///   - person: the user.
    ///   - date: the day; nil is ``today`` in New York.
    /// - Returns: false when there was no visit.
    /// - Throws: as ``checkIn(_:on:notes:appData:)``.
    @discardableResult
    public func checkOut(_ person: PersonID, on date: CalendarDate? = nil) async throws -> Bool {
        try await api.content(Exchange.Operation(method: .delete, path: Self.path(person, date ?? today))) != nil
    }

    private static func path(_ person: PersonID, _ date: CalendarDate) -> String {
        "hub_visits/\(person)/\(date)"
    }
}
