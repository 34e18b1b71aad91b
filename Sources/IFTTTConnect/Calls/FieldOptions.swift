import Handshake
public import OAuth

/// The options of each field, by the field's identifier (dossier 2.9).
public struct FieldOptions: Sendable, Hashable {
    public let options: [String: [FieldValue.Option]]

    /// The options of a field; empty when it has none.
    public subscript(field: String) -> [FieldValue.Option] { options[field] ?? [] }

    /// Drops options without a value, which cannot be chosen (dossier 1.2).
    init(_ value: JSONValue) throws(ConnectError) {
        let members = try Members(value, answer: "field_options")
        guard let object = members["options"]?.object else { throw members.wrong("options", expected: "an object") }
        var options: [String: [FieldValue.Option]] = [:]
        for (field, list) in object where list != .null {
            guard let list = list.array else {
                throw .malformed(
                    answer: members.answer, member: "options." + quoted(field, limit: 60), expected: "a list",
                    found: list.described)
            }
            options[field] = list.compactMap { $0.object.flatMap { FieldValue.Option(reading: Members($0)) } }
        }
        self.options = options
    }
}

extension UserConnection {
    /// The configuration in the form of an update (dossier 2.9). It is as ``init(document:)`` reads it: only the opaque
    /// value of an option, and no identifiers of the configurations.
    public var document: JSONValue {
        .object(["user_features": .array(features.map(\.json))])
    }
}

extension UserConnection.UserFeature {
    fileprivate var json: JSONValue {
        // Without its identifier: the service assigns a new one (dossier 2.9).
        .object([
            "feature_id": .string(featureID), "enabled": .bool(isEnabled), "user_fields": fields.json,
            "user_feature_triggers": .array(triggers.map { $0.json("feature_trigger_id") }),
            "user_feature_queries": .array(queries.map { $0.json("feature_query_id") }),
            "user_feature_actions": .array(actions.map { $0.json("feature_action_id") }),
        ])
    }
}

extension UserConnection.UserComponent {
    fileprivate func json(_ name: String) -> JSONValue {
        .object([name: .string(componentID), "user_fields": fields.json])
    }
}

extension [UserConnection.UserField] {
    fileprivate var json: JSONValue {
        .array(map { .object(["field_id": .string($0.id), "value": $0.value.sent]) })
    }
}
