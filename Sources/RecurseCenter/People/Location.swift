import Handshake

/// The identifier of a place at the Recurse Center.
public struct LocationID: Sendable, Hashable, CustomStringConvertible {
    public let number: Int64

    /// - Returns: nil for numbers below 1.
    public init?(_ number: Int64) {
        guard number > 0 else { return nil }
        self.number = number
    }

    public var description: String { String(number) }
}

/// A place where people are (dossier 4.3). It is `City, ST` in the USA, `City, Country` elsewhere, or a country alone.
public struct Location: Sendable, Hashable, Identifiable {
    public let id: LocationID
    public let name: String
    public let shortName: String?
    public let asciiName: String?
    /// `city` and others; an open set.
    public let kind: String?

    init(_ members: Members) throws(RecurseCenterError) {
        guard let id = members.integer("id").flatMap({ LocationID($0) }) else {
            throw members.wrong("id", expected: "a positive number")
        }
        guard let name = members.text("name") else { throw members.wrong("name", expected: "a text") }
        self.id = id
        self.name = name
        shortName = members.text("short_name")
        asciiName = members.text("ascii_name")
        kind = members.text("type")
    }
}

extension RecurseCenter {
    /// Places whose name begins with a text, in the service's order (dossier 4.1).
    ///
    /// - Parameters:
    ///   - prefix: the beginning of a name.
    ///   - limit: the maximum number of places, 1 to 50.
    /// - Throws: ``RecurseCenterError``, `CancellationError`.
    public func locations(_ prefix: String, limit: Int = 10) async throws -> [Location] {
        guard (1...50).contains(limit) else {
            throw RecurseCenterError.input(member: "limit", problem: "must be from 1 to 50")
        }
        let operation = Exchange.Operation.get("locations", [("query", prefix), ("limit", String(limit))])
        return try await listed(operation) { members throws(RecurseCenterError) in try Location(members) }
    }

    /// Requests a list. Status 404 is an error here.
    func listed<Element>(
        _ operation: Exchange.Operation, _ read: (Members) throws(RecurseCenterError) -> Element
    ) async throws -> [Element] {
        guard let answer = try await api.json(operation) else {
            throw RecurseCenterError.service(status: 404, message: "\(operation.name) does not exist")
        }
        return try answer.list(of: operation.name, read)
    }
}
