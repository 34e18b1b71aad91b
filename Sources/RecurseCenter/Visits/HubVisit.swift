import Handshake
public import OAuth

/// A visit to the hub; a person has at most one a day (dossier 4.3).
public struct HubVisit: Sendable, Hashable, Identifiable {
    /// The visitor and the day.
    public struct ID: Sendable, Hashable {
        public let person: PersonID
        public let date: CalendarDate
    }

    public let id: ID
    /// The person's name; nil when the service omits it.
    public let name: String?
    /// The notes; empty when there are none.
    public let notes: String
    /// Data that apps have stored with the visit.
    public let appData: JSONValue?
    /// The time of creation in ISO 8601, as the service sends it.
    public let createdAt: String?
    public let updatedAt: String?
    /// All members of the answer.
    public let members: JSONObject

    public var person: PersonID { id.person }
    /// The day, in New York.
    public var date: CalendarDate { id.date }

    init(_ members: Members) throws(RecurseCenterError) {
        guard let visitor = members.object("person") else { throw members.wrong("person", expected: "an object") }
        guard let person = visitor.integer("id").flatMap({ PersonID($0) }) else {
            throw visitor.wrong("id", expected: "a positive number")
        }
        guard let date = members.date("date") else { throw members.wrong("date", expected: "a date") }
        id = ID(person: person, date: date)
        name = visitor.text("name")
        notes = members.text("notes") ?? ""
        appData = members["app_data"]
        createdAt = members.text("created_at")
        updatedAt = members.text("updated_at")
        self.members = members.members
    }
}

/// The criteria of a list of visits; nil criteria match all.
public struct HubVisitFilter: Sendable, Hashable {
    public var from: CalendarDate?
    public var to: CalendarDate?
    public var person: PersonID?

    /// - Parameters:
    ///   - from: the first day.
    ///   - to: the last day.
    ///   - person: whose visits.
    public init(from: CalendarDate? = nil, to: CalendarDate? = nil, person: PersonID? = nil) {
        self.from = from
        self.to = to
        self.person = person
    }

    /// The visits of one day.
    public static func on(_ date: CalendarDate) -> HubVisitFilter {
        HubVisitFilter(from: date, to: date)
    }
}
