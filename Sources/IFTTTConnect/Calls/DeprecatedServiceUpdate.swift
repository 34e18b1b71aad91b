import HTTPTypes
import OAuth

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

    fileprivate var json: JSONValue {
        var members: JSONObject = ["service_id": .string(serviceID)]
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

extension [DeprecatedServiceUpdate] {
    /// The content of the request; `user` is nil where the token names the user.
    fileprivate func content(for user: String?) -> JSONValue {
        var members: JSONObject = ["services": .array(map(\.json))]
        members["user_id"] = user.map(JSONValue.string)
        return .object(members)
    }
}

extension ConnectAPI {
    /// Changes the user's configuration in the form that the service has deprecated (dossier 2.9). What it changed is in the next
    /// ``connection(_:repeating:)``.
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func updateDeprecated(_ id: ConnectionID, to services: [DeprecatedServiceUpdate]) async throws {
        var operation = try await operation(.post, "deprecated update", "/v2/connections/\(id)", with: [.user])
        operation.content = services.content(for: nil)
        try await exchange.acknowledge(operation)
    }
}

@available(iOS, unavailable)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
@available(visionOS, unavailable)
extension ConnectService {
    /// Changes a user's configuration in the form that the service has deprecated (dossier 2.9). What it changed is in the next
    /// ``connection(_:for:repeating:)``.
    ///
    /// - Throws: ``ConnectError``, `CancellationError`.
    public func updateDeprecated(
        _ id: ConnectionID, to services: [DeprecatedServiceUpdate], for user: String
    ) async throws {
        var operation = try operation(.post, "deprecated update", "/v2/connections/\(id)")
        operation.content = services.content(for: try PartnerUser.checked(user))
        try await exchange.acknowledge(operation)
    }
}
