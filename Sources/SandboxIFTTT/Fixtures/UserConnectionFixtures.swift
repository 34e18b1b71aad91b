#if Sandbox
import SandboxCore

/// What the users of the IFTTT stand-in have configured.
enum UserConnectionFixtures {
    static let all: [State.Key: UserConnection] = {
        var all: [State.Key: UserConnection] = [:]
        func set(_ login: String, _ connection: Connection, _ own: UserConnection) {
            all[State.Key(login: login, connectionID: connection.id)] = own
        }
        let leaving = ConnectionFixtures.leaving
        let many = ConnectionFixtures.many
        set("ada_l", leaving, UserConnection(isEnabled: true, isPending: false, features: [leavingHome]))
        set("ada_l", many, UserConnection(isEnabled: true, isPending: false, features: wholeGarden))
        set("grace_h", leaving, UserConnection(isEnabled: false, isPending: false, features: [leavingHome]))
        var incomplete = wholeGarden[0]
        incomplete.capabilities[1].fields = []
        set("grace_h", many, UserConnection(isEnabled: false, isPending: false, features: [incomplete]))
        for connection in [leaving, many] {
            set("alan_t", connection, UserConnection(isEnabled: true, isPending: true, features: []))
        }
        return all
    }()

    /// That of section 1.10.
    private static let leavingHome = UserFeature(
        id: "0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0001", featureID: "ft01", isEnabled: true, fields: [],
        capabilities: [
            UserCapability(
                id: "7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0002", capabilityID: "tr01", kind: .trigger,
                fields: [
                    UserConnection.Value(
                        fieldID: "location", type: "LOCATION_EXIT",
                        value: [
                            "lat": 52.5201, "lng": 13.4049, "radius": 180.5, "address": "Sample Square 1, Berlin",
                            "description": "Home", "zoom": 16,
                        ])
                ]),
            action("7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0003", "ac01", label: "Balcony", value: "zone-7"),
        ])

    /// Two configurations of one feature, one that is off, and a label that is out of date.
    private static let wholeGarden = [
        morning("0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0011", isEnabled: true, label: "Old balcony", value: "zone-7"),
        morning("0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0021", isEnabled: false, label: "Roof", value: "zone-9"),
        UserFeature(
            id: "0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0031", featureID: "ft41", isEnabled: true, fields: [],
            capabilities: [
                part("7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0032", "qu41", .query),
                part("7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0033", "qu42", .query),
                part("7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0034", "ac41", .action),
            ]),
        UserFeature(
            id: "0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0041", featureID: "ft42", isEnabled: true, fields: [],
            capabilities: [
                part("7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0042", "tr42", .trigger),
                part("7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0043", "qu43", .query),
                part("7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0044", "ac42", .action),
            ]),
    ]

    private static func morning(
        _ id: String, isEnabled: Bool, label: String, value: String
    ) -> UserFeature {
        let season: JSON = ["group": .null, "label": "Summer", "value": "summer"]
        return UserFeature(
            id: id, featureID: "ft40", isEnabled: isEnabled,
            fields: [UserConnection.Value(fieldID: "season", type: "COLLECTION_SELECT", value: season)],
            capabilities: [
                part("\(id.dropLast())2", "tr40", .trigger),
                action("\(id.dropLast())3", "ac40", label: label, value: value),
            ])
    }

    private static func part(
        _ id: String, _ capabilityID: String, _ kind: Capability.Kind
    ) -> UserCapability {
        UserCapability(id: id, capabilityID: capabilityID, kind: kind, fields: [])
    }

    private static func action(
        _ id: String, _ capabilityID: String, label: String, value: String
    ) -> UserCapability {
        UserCapability(
            id: id, capabilityID: capabilityID, kind: .action,
            fields: [
                UserConnection.Value(
                    fieldID: "zone", type: "COLLECTION_SELECT",
                    value: ["group": .null, "label": .string(label), "value": .string(value)])
            ])
    }
}
#endif
