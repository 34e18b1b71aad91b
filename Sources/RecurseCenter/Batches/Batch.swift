import Handshake

/// What identifies a batch at the Recurse Center.
public struct BatchID: Sendable, Hashable, CustomStringConvertible {
    public let number: Int64

    /// - Returns: nil for numbers below 1.
    public init?(_ number: Int64) {
        guard number > 0 else { return nil }
        self.number = number
    }

    public var description: String { String(number) }
}

/// A batch: a group that starts together (dossier 4.3).
public struct Batch: Sendable, Hashable, Identifiable {
    public let id: BatchID
    /// The name, as in `Summer 1, 2014`.
    public let name: String
    /// The short name, as in `S1'14`.
    public let shortName: String?
    public let alternativeName: String?
    /// The first day; nil for a batch inside a stint.
    public let startDate: CalendarDate?
    public let endDate: CalendarDate?

    init(_ members: Members) throws(RecurseCenterError) {
        guard let id = members.integer("id").flatMap({ BatchID($0) }) else {
            throw members.wrong("id", expected: "a positive number")
        }
        guard let name = members.text("name") else { throw members.wrong("name", expected: "a text") }
        self.id = id
        self.name = name
        shortName = members.text("short_name")
        alternativeName = members.text("alt_name")
        startDate = members.date("start_date")
        endDate = members.date("end_date")
    }

    /// The short name, or the name when there is none.
    public var label: String { shortName ?? name }
}

extension RecurseCenter {
    /// All batches, newest first, as the service orders them.
    ///
    /// - Throws: ``RecurseCenterError``, `CancellationError`.
    public func batches() async throws -> [Batch] {
        try await listed(.get("batches")) { members throws(RecurseCenterError) in try Batch(members) }
    }

    /// One batch.
    ///
    /// - Throws: ``RecurseCenterError/unknownBatch(_:)`` when there is none of this identifier; otherwise as
    ///   ``batches()``.
    public func batch(_ id: BatchID) async throws -> Batch {
        let path = "batches/\(id)"
        guard let answer = try await api.json(.get(path)) else { throw RecurseCenterError.unknownBatch(id) }
        return try Batch(Members(answer, answer: path))
    }
}
