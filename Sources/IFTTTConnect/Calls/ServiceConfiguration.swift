import HTTPTypes
import OAuth

@available(iOS, unavailable)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
@available(visionOS, unavailable)
extension ConnectService {
    /// The options of the fields of a trigger, query, action or feature, for a user (dossier 2.9).
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func fieldOptions(
        of owner: FieldOwner, in id: ConnectionID, for user: String
    ) async throws -> FieldOptions {
        let target = "/v2/connections/\(id)/\(try owner.path)/field_options"
        var operation = try operation(.get, "field_options", target, user: user)
        operation.pauses = Exchange.Operation.question
        return try await exchange.json(operation, FieldOptions.init)
    }

    /// Replaces a user's configuration: what is left out is removed (dossier 2.9). A pending connection is one no longer
    /// afterwards.
    ///
    /// - Returns: the connection, when the service answers with it; fetch it otherwise.
    /// - Throws: ``ConnectError``, `CancellationError`. ``ConnectError/Problem/details`` says which values cannot be
    ///   used.
    public func update(
        _ id: ConnectionID, to configuration: UserConnection, for user: String
    ) async throws -> Connection? {
        var operation = try operation(
            .put, "user_connection", "/v2/connections/\(id)/user_connection", user: user)
        operation.content = configuration.document
        return try await exchange.updatedConnection(operation)
    }

    /// Changes a user's configuration in the form that the service has deprecated (dossier 2.9).
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func updateDeprecated(
        _ id: ConnectionID, to services: [DeprecatedServiceUpdate], for user: String
    ) async throws {
        var operation = try operation(.post, "deprecated update", "/v2/connections/\(id)")
        operation.content = .object([
            "user_id": .string(try Self.checked(user)), "services": .array(services.map(\.json)),
        ])
        try await exchange.acknowledge(operation)
    }

    /// Fetches the labels of a user's options anew (dossier 2.9).
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func refreshLabels(of id: ConnectionID, for user: String) async throws {
        var operation = try operation(
            .post, "user_connection/refresh", "/v2/connections/\(id)/user_connection/refresh", user: user)
        operation.pauses = Exchange.Operation.repeatable
        try await exchange.acknowledge(operation)
    }
}

/// What the deprecated update changes at one service (dossier 2.9).
public struct DeprecatedServiceUpdate: Sendable, Hashable {
    public let serviceID: String
    /// For each trigger the configurations of the user, each by field.
    public let triggers: [String: [[String: FieldValue]]]
    public let queries: [String: [[String: FieldValue]]]
    public let actions: [String: [[String: FieldValue]]]

    public init(
        serviceID: String, triggers: [String: [[String: FieldValue]]] = [:],
        queries: [String: [[String: FieldValue]]] = [:], actions: [String: [[String: FieldValue]]] = [:]
    ) {
        self.serviceID = serviceID
        self.triggers = triggers
        self.queries = queries
        self.actions = actions
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["service_id": .string(serviceID)]
        for (name, part, components) in [
            ("triggers", "user_triggers", triggers), ("queries", "user_queries", queries),
            ("actions", "user_actions", actions),
        ] where !components.isEmpty {
            members[name] = .array(
                components.sorted { $0.key < $1.key }.map { id, configurations in
                    .object(["id": .string(id), part: .array(configurations.map(Self.fields))])
                })
        }
        return .object(members)
    }

    private static func fields(_ values: [String: FieldValue]) -> JSONValue {
        .object([
            "fields": .array(
                values.sorted { $0.key < $1.key }.map { .object(["id": .string($0.key), "value": $0.value.sent]) })
        ])
    }
}
