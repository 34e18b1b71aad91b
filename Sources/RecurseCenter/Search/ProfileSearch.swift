import OAuth

/// The criteria of a search for people; nil criteria match all (dossier 4.1).
public struct ProfileSearch: Sendable, Hashable {
    /// The role of a person at the Recurse Center.
    public enum Role: String, Sendable, Hashable, CaseIterable {
        case recurser, resident, facilitator, faculty
    }

    /// The time of a person's stay.
    public enum Scope: String, Sendable, Hashable, CaseIterable {
        /// Now.
        case current
        /// At the same time as the user.
        case overlap
    }

    /// Words of a name, or of anything else that the service searches.
    public var text: String?
    public var batch: BatchID?
    public var location: LocationID?
    public var role: Role?
    public var scope: Scope?

    public init(
        _ text: String? = nil, batch: BatchID? = nil, location: LocationID? = nil, role: Role? = nil,
        scope: Scope? = nil
    ) {
        self.text = text
        self.batch = batch
        self.location = location
        self.role = role
        self.scope = scope
    }

    fileprivate var parameters: [(name: String, value: String)] {
        let all: [(String, String?)] = [
            ("query", text), ("batch_id", batch?.description), ("location_id", location?.description),
            ("role", role?.rawValue), ("scope", scope?.rawValue),
        ]
        return all.compactMap { name, value in value.map { (name, $0) } }
    }
}

extension RecurseCenter {
    /// The number of profiles per page.
    private static let pageSize = 50

    /// The people who match, in the service's order, each once.
    ///
    /// Pages of 50 are fetched as they are read, one after the other; the first page that is not full is the last. 0, 1, 50, 51 and
    /// 100 people take 1, 1, 2, 2 and 3 requests (dossier 4.1). In the representation of 2014 there is one page.
    ///
    /// Iterating throws ``RecurseCenterError``, such as ``RecurseCenterError/input(member:problem:)`` for criteria other than a
    /// text in the representation of 2014; or `CancellationError`.
    public func search(_ search: ProfileSearch) -> PagedResults<Profile> {
        switch shape {
        case .profiles: PagedResults(pageSize: Self.pageSize) { try await page(of: search, at: $0) }
        case .people: PagedResults(pageSize: .max) { _ in try await people(search) }
        }
    }

    private func page(of search: ProfileSearch, at offset: Int) async throws -> [Profile] {
        let paging = [("limit", String(Self.pageSize)), ("offset", String(offset))]
        return try await listed(.get("profiles", search.parameters + paging)) { members throws(RecurseCenterError) in
            try Profile(members)
        }
    }

    private func people(_ search: ProfileSearch) async throws -> [Profile] {
        guard let text = search.text, search == ProfileSearch(text) else {
            throw RecurseCenterError.input(member: "search", problem: "this server can only search by text")
        }
        return try await listed(.get("people/search", [("q", text)])) { members throws(RecurseCenterError) in
            try Profile(members)
        }
    }
}
