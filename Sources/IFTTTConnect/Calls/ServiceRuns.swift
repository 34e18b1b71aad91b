import HTTPTypes
public import OAuth

/// For whom something is run, and with what (dossier 2.10).
public struct RunOptions: Sendable, Hashable {
    /// The partner's identifier of the user.
    public var user: String
    /// Which of the user's configurations; nil for the first.
    public var userFeatureID: String?
    /// Values that take the place of the stored ones, this once, by field.
    public var fields: [String: FieldValue]

    public init(for user: String, userFeatureID: String? = nil, fields: [String: FieldValue] = [:]) {
        self.user = user
        self.userFeatureID = userFeatureID
        self.fields = fields
    }
}

@available(iOS, unavailable)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
@available(visionOS, unavailable)
extension ConnectService {
    /// Runs an action (dossier 2.10). Never sent twice: an action that was done must not be done again because its answer was
    /// lost.
    ///
    /// - Throws: ``ConnectError``, `CancellationError`. ``ConnectError/Problem/Kind/forbidden`` for a pending connection.
    public func run(_ action: ComponentSlug, in id: ConnectionID, _ options: RunOptions) async throws {
        var operation = try operation(.post, "run", "/v2/connections/\(id)/actions/\(try action.segment)/run")
        operation.content = .object(try options.members)
        _ = try await exchange.send(operation)
    }

    /// Has the service send the partner a webhook as if a trigger had fired (dossier 2.10).
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func test(_ trigger: ComponentSlug, in id: ConnectionID, _ options: RunOptions) async throws {
        var operation = try operation(.post, "test", "/v2/connections/\(id)/triggers/\(try trigger.segment)/test")
        operation.content = .object(try options.members)
        _ = try await exchange.send(operation)
    }

    /// One page of what a query finds (dossier 2.10).
    ///
    /// - Parameters:
    ///   - query: which query.
    ///   - id: in which connection.
    ///   - options: for whom, and with what.
    ///   - page: which page, how long, and what is to be told whole.
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func perform(
        _ query: ComponentSlug, in id: ConnectionID, _ options: RunOptions, page: QueryPage.Request = .init()
    ) async throws -> QueryPage {
        var operation = try operation(.post, "perform", "/v2/connections/\(id)/queries/\(try query.segment)/perform")
        var members = try options.members
        if !page.includes.isEmpty { members["includes"] = .array(page.includes.map(JSONValue.string)) }
        members["limit"] = page.limit.map { .number(String($0)) }
        if let next = page.next {
            members["cursor"] = .string(next.cursor)
            // The place in the list goes with the values that the list was made with.
            if let fields = next.fields { members["fields"] = fields }
        }
        operation.content = .object(members)
        operation.pauses = [.seconds(1)]
        return try QueryPage(try await exchange.json(operation), answer: operation.name, place: "")
    }

    /// Everything that a query finds, page by page as it is asked for (dossier 2.10).
    ///
    /// The sequence throws what ``perform(_:in:_:page:)`` throws, and ends with an error when the service leads back to a page
    /// that was read already.
    public func rows(
        of query: ComponentSlug, in id: ConnectionID, _ options: RunOptions, page: QueryPage.Request = .init()
    ) -> QueryRows {
        QueryRows(first: page) { request in try await self.perform(query, in: id, options, page: request) }
    }
}

extension RunOptions {
    /// The content of the request.
    fileprivate var members: [String: JSONValue] {
        get throws(ConnectError) {
            guard !user.isEmpty, user.utf8.count <= 1024 else {
                throw .input(member: "user", problem: "the partner's identifier of the user is needed")
            }
            var members: [String: JSONValue] = ["user_id": .string(user)]
            members["user_feature_id"] = userFeatureID.map(JSONValue.string)
            if !fields.isEmpty { members["fields"] = .object(fields.mapValues(\.sent)) }
            return members
        }
    }
}

/// One page of what a query finds (dossier 2.10).
public struct QueryPage: Sendable, Hashable {
    /// What was found, in order: the ingredients of each, by name.
    public let rows: [[String: Ingredient]]
    /// Where the next page is; nil on the last one.
    public let next: Next?

    /// Where a page is.
    public struct Next: Sendable, Hashable {
        public let cursor: String
        /// The values that the list was made with; nil when the service gave none.
        let fields: JSONValue?
    }

    /// Which page, how long, and what is to be told whole.
    public struct Request: Sendable, Hashable {
        /// How many rows at most; nil leaves it to the service.
        public var limit: Int?
        /// The complex ingredients that are to come as lists.
        public var includes: [String]
        /// Where the page is; nil for the first.
        public var next: Next?

        public init(limit: Int? = nil, includes: [String] = [], next: Next? = nil) {
            self.limit = limit
            self.includes = includes
            self.next = next
        }
    }

    /// A part of a row.
    public indirect enum Ingredient: Sendable, Hashable {
        case value(JSONValue)
        /// A list that can be had by a query with these values.
        case query(fields: [String: JSONValue])
        /// A list that was asked for by its name.
        case list(QueryPage)
    }

    init(_ value: JSONValue, answer: String, place: String) throws(ConnectError) {
        let members = try Members(value, answer: answer, place: place)
        guard members.text("type") == "list" else { throw members.wrong("type", expected: "“list”") }
        guard let data = members["data"]?.array else { throw members.wrong("data", expected: "a list") }
        var rows: [[String: Ingredient]] = []
        for (index, row) in data.enumerated() {
            let row = try Members(row, answer: answer, place: members.place + "data[\(index)]")
            var ingredients: [String: Ingredient] = [:]
            for (name, value) in row.members {
                ingredients[name] = try Self.ingredient(value, answer: answer, place: row.place + name)
            }
            rows.append(ingredients)
        }
        self.rows = rows
        next = members["next"]?.object.flatMap { next in
            next["cursor"]?.string.map { Next(cursor: $0, fields: next["fields"]) }
        }
    }

    private static func ingredient(
        _ value: JSONValue, answer: String, place: String
    ) throws(ConnectError) -> Ingredient {
        switch value.object?["type"] {
        case .string("query")?: .query(fields: value.object?["fields"]?.object ?? [:])
        case .string("list")?: .list(try QueryPage(value, answer: answer, place: place))
        default: .value(value)
        }
    }
}

/// The rows of a query, fetched page by page.
public struct QueryRows: AsyncSequence, Sendable {
    public typealias Element = [String: QueryPage.Ingredient]

    let first: QueryPage.Request
    let perform: @Sendable (QueryPage.Request) async throws -> QueryPage

    public func makeAsyncIterator() -> Iterator {
        Iterator(request: first, perform: perform)
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var request: QueryPage.Request?
        fileprivate let perform: @Sendable (QueryPage.Request) async throws -> QueryPage
        private var rows: ArraySlice<Element> = []
        private var seen: Set<String> = []

        fileprivate init(
            request: QueryPage.Request, perform: @escaping @Sendable (QueryPage.Request) async throws -> QueryPage
        ) {
            self.request = request
            self.perform = perform
        }

        public mutating func next() async throws -> Element? {
            while rows.isEmpty {
                guard let request else { return nil }
                self.request = nil
                let page = try await perform(request)
                rows = page.rows[...]
                guard let next = page.next else { continue }
                guard seen.insert(next.cursor).inserted else {
                    throw ConnectError.malformed(
                        answer: "perform", member: "next.cursor", expected: "a page that was not read yet",
                        found: "one that was")
                }
                var following = request
                following.next = next
                self.request = following
            }
            return rows.popFirst()
        }
    }
}
