import HTTPTypes
import Handshake
public import OAuth

extension RecurseCenter {
    /// The page size that is requested.
    private static let visitsPerPage = 200

    /// The visits that match a filter, in the service's order. Pages are fetched as they are read.
    ///
    /// Without a filter the service lists today's visits (dossier 4.1).
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

    /// Checks in: creates or updates the visit of a day.
    ///
    /// Idempotent: one visit per day (New York time). Not retried automatically after a failure; retrying is safe.
    ///
    /// - Parameters:
    ///   - person: the user.
    ///   - date: the day; nil is ``today`` in New York.
    ///   - notes: replaces the notes; nil keeps them, an empty text clears them.
    ///   - appData: replaces the stored data; nil keeps it.
    /// - Throws: ``RecurseCenterError/forbidden(message:)`` for another user's visit,
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

    /// Checks out by removing the visit of a day (dossier 4.1).
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
