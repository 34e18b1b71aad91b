#if Sandbox
import SandboxCore

/// What one user made of a connection (IFTTT Connect dossier, sections 1.8 and 11.1).
struct UserConnection: Sendable {
    var isEnabled: Bool
    /// Enabled without a configuration: nothing of it runs until the partner updates it (section 1.3).
    var isPending: Bool
    var features: [UserFeature]

    /// A stored value, a choice together with the label that it had when it was made.
    struct Value: Sendable {
        let fieldID: String
        let type: String
        var value: JSON

        var json: JSON {
            ["field_id": .string(fieldID), "field_type": .string(type), "value": value]
        }
    }

    var json: JSON {
        ["user_features": .array(features.map(\.json))]
    }
}

/// One configuration of a feature; a feature may have several.
struct UserFeature: Sendable {
    let id: String
    let featureID: String
    var isEnabled: Bool
    var fields: [UserConnection.Value]
    var capabilities: [UserCapability]
}

/// A trigger, query or action of a configured feature.
struct UserCapability: Sendable {
    let id: String
    let capabilityID: String
    let kind: Capability.Kind
    var fields: [UserConnection.Value]
}

extension UserFeature {
    fileprivate var json: JSON {
        func list(_ kind: Capability.Kind) -> JSON {
            .array(capabilities.filter { $0.kind == kind }.map(\.json))
        }
        return [
            "id": .string(id), "feature_id": .string(featureID), "enabled": .bool(isEnabled),
            "user_fields": .array(fields.map(\.json)), "user_feature_triggers": list(.trigger),
            "user_feature_queries": list(.query), "user_feature_actions": list(.action),
        ]
    }
}

extension UserCapability {
    fileprivate var json: JSON {
        JSON.object([
            JSON.Member(name: "id", value: .string(id)),
            JSON.Member(name: "feature_\(kind.rawValue)_id", value: .string(capabilityID)),
            JSON.Member(name: "user_fields", value: .array(fields.map(\.json))),
        ])
    }
}
#endif
