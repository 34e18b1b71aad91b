import HTTPTypes
import OAuth

/// What the deprecated update changes at one service (dossier 2.9).
///
/// It leaves everything else as it is, unlike ``UserConnection``.
/// For an app that moves from IFTTT's SDK, whose samples send it. ``ConnectAPI/update(_:to:)`` is the current form.
public struct DeprecatedServiceUpdate: Sendable, Hashable {
    /// The service's identifier, such as `lumen_garden`.
    public let serviceID: String
    /// The user's configurations of each trigger, by its ID. A configuration has values by the IDs of fields.
    public let triggers: [String: [[String: FieldValue]]]
    /// The same for actions.
    public let actions: [String: [[String: FieldValue]]]

    public init(
        serviceID: String, triggers: [String: [[String: FieldValue]]] = [:],
        actions: [String: [[String: FieldValue]]] = [:]
    ) {
        self.serviceID = serviceID
        self.triggers = triggers
        self.actions = actions
    }

    fileprivate var json: JSONValue {
        var members: JSONObject = ["service_id": .string(serviceID)]
        for (kind, components) in [("triggers", triggers), ("actions", actions)] where !components.isEmpty {
            members[kind] = .array(
                components.sorted { $0.key < $1.key }.map { id, configurations in
                    .object(["id": .string(id), "user_\(kind)": .array(configurations.map(Self.fields))])
                })
        }
        return .object(members)
    }

    private static func fields(_ values: [String: FieldValue]) -> JSONValue {
        let fields = values.sorted { $0.key < $1.key }.map { id, value in
            JSONValue.object(["id": .string(id), "value": value.sent])
        }
        return .object(["fields": .array(fields)])
    }
}

extension [DeprecatedServiceUpdate] {
    /// The content of the request. `user` is nil where the token names the user.
    fileprivate func content(for user: String?) -> JSONValue {
        var members: JSONObject = ["services": .array(map(\.json))]
        members["user_id"] = user.map(JSONValue.string)
        return .object(members)
    }
}

extension ConnectAPI {
    /// Changes fields of the user's configuration, in the deprecated form.
    ///
    /// - Throws: ``ConnectError``, `CancellationError`. ``ConnectError/Problem/details`` names the invalid values.
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
    /// Changes fields of a user's configuration, in the deprecated form.
    ///
    /// - Throws: ``ConnectError``, `CancellationError`. ``ConnectError/Problem/details`` names the invalid values.
    public func updateDeprecated(
        _ id: ConnectionID, to services: [DeprecatedServiceUpdate], for user: String
    ) async throws {
        var operation = try operation(.post, "deprecated update", "/v2/connections/\(id)")
        operation.content = services.content(for: try PartnerUser.checked(user))
        try await exchange.acknowledge(operation)
    }
}
