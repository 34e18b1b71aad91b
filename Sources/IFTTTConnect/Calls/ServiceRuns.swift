import HTTPTypes
import Handshake
import OAuth

/// The user and the values of a run (dossier 2.10).
public struct RunOptions: Sendable, Hashable {
    /// The partner's identifier of the user.
    public var user: String
    /// The user's configuration of the feature; nil for the first.
    public var userFeatureID: String?
    /// Values that override the stored ones in this run, by field.
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
    /// Runs an action (dossier 2.10). Never retried, because it may have run although the answer was
    /// lost.
    ///
    /// - Throws: ``ConnectError``, `CancellationError`. ``ConnectError/Problem/Kind/forbidden`` for a pending connection.
    public func run(_ action: ComponentSlug, in id: ConnectionID, _ options: RunOptions) async throws {
        var operation = try operation(.post, "run", "/v2/connections/\(id)/actions/\(try action.segment)/run")
        operation.content = .object(try options.members)
        try await exchange.acknowledge(operation)
    }

    /// Makes the service send the partner a test webhook (dossier 2.10). It is sent as if a trigger had fired.
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func test(_ trigger: ComponentSlug, in id: ConnectionID, _ options: RunOptions) async throws {
        var operation = try operation(.post, "test", "/v2/connections/\(id)/triggers/\(try trigger.segment)/test")
        operation.content = .object(try options.members)
        try await exchange.acknowledge(operation)
    }

    /// One page of a query's results (dossier 2.10).
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - id: the connection.
    ///   - options: the user and the values.
    ///   - page: the page, its size, and the lists to include.
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
            // The cursor belongs to the values of the list.
            if let fields = next.fields { members["fields"] = fields }
        }
        operation.content = .object(members)
        operation.pauses = Exchange.Operation.idempotentRetry
        return try await exchange.json(operation) { [operation] in
            try QueryPage($0, answer: operation.name, place: "")
        }
    }

    /// All results of a query, fetched page by page (dossier 2.10).
    ///
    /// The sequence throws what ``perform(_:in:_:page:)`` throws. It ends with an error, after all rows that were read, when the
    /// service returns to a page that was read before, after 10,000 pages, or after 100 consecutive pages without rows. For
    /// more pages, request each with ``perform(_:in:_:page:)``.
    public func rows(
        of query: ComponentSlug, in id: ConnectionID, _ options: RunOptions, page: QueryPage.Request = .init()
    ) -> QueryRows {
        QueryRows(first: page) { request in try await self.perform(query, in: id, options, page: request) }
    }
}

extension RunOptions {
    /// The content of the request.
    fileprivate var members: JSONObject {
        get throws(ConnectError) {
            var members: JSONObject = ["user_id": .string(try PartnerUser.checked(user))]
            members["user_feature_id"] = userFeatureID.map(JSONValue.string)
            if !fields.isEmpty { members["fields"] = .object(JSONObject(fields.mapValues(\.sent))) }
            return members
        }
    }
}
