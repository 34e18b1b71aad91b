#if Sandbox
import SandboxCore

extension ConnectionFixtures {
    /// Several features, optional ones among them, with every kind of choice, a point, queries, and a part that fails.
    static let many = Connection(
        id: "mAnyFt05", name: "The whole garden",
        description: "Everything that Lumen Garden and Skylark can do together.",
        serviceIDs: ["lumen_garden", "skylark_weather"], hasCover: true,
        valuePropositions: ["Fewer dry plants", "Less water"], enabledCount: 7,
        features: [morning, herbs, alarms, record],
        note: "several features, optional ones, dropdowns, queries with pages")

    private static let morning = Feature(
        id: "ft40", title: "Water in the morning", description: "Before the sun is up.",
        fields: [
            Field(
                id: "season", label: "Season", type: "COLLECTION_SELECT", isRequired: true,
                options: [
                    Field.Option(label: "Spring", value: "spring"),
                    Field.Option(label: "Summer", value: "summer"),
                ])
        ],
        capabilities: [
            Capability(
                id: "tr40", kind: .trigger, serviceID: "skylark_weather", name: "sunrise", label: "The sun comes up",
                fields: [
                    Field(
                        id: "where", label: "Where?", type: "LOCATION_POINT",
                        defaultValue: ["lat": 52.52, "lng": 13.405, "address": "Sample Square 1, Berlin"])
                ]),
            Capability(
                id: "ac40", kind: .action, serviceID: "lumen_garden", name: "start_drip", label: "Start the drip line",
                fields: [
                    zone,
                    Field(
                        id: "pace", label: "Pace", type: "DOUBLE_COLLECTION_SELECT",
                        options: [
                            Field.Option(label: "Drops", value: "pace-1", group: "Slow"),
                            Field.Option(label: "Mist", value: "pace-2", group: "Slow"),
                            Field.Option(label: "Shower", value: "pace-3", group: "Fast"),
                        ]),
                    Field(
                        id: "origin", label: "Origin", type: "TEXT_FIELD", isRequired: true, isHidden: true,
                        defaultValue: "ifttt"),
                ]),
        ])

    private static let herbs = Feature(
        id: "ft41", title: "Look after the herbs", isOnAtFirst: false,
        capabilities: [
            Capability(
                id: "qu41", kind: .query, serviceID: "lumen_garden", name: "list_plants", label: "Your plants"),
            Capability(
                id: "qu42", kind: .query, serviceID: "lumen_garden", name: "list_readings",
                label: "Readings of a plant",
                fields: [
                    Field(
                        id: "plant", label: "Plant", type: "COLLECTION_SELECT",
                        options: GardenData.plants.enumerated().map {
                            Field.Option(label: $1, value: "plant-\($0 + 1)")
                        })
                ]),
            Capability(
                id: "ac41", kind: .action, serviceID: "lumen_garden", name: "mist_herbs", label: "Mist the herbs",
                fields: [
                    Field(
                        id: "days", label: "Days", type: "CHECKBOX_MULTI",
                        options: ["Monday", "Wednesday", "Friday"].map {
                            Field.Option(label: $0, value: $0.lowercased())
                        })
                ]),
        ])

    private static let alarms = Feature(
        id: "ft42", title: "Ring the bell", description: "Bell and meter are broken: requests for them fail.",
        isOnAtFirst: false,
        capabilities: [
            Capability(
                id: "tr42", kind: .trigger, serviceID: "lumen_garden", name: RunRoutes.failing.trigger,
                label: "The broken bell rings"),
            Capability(
                id: "qu43", kind: .query, serviceID: "lumen_garden", name: RunRoutes.failing.query,
                label: "The broken meter"),
            Capability(
                id: "ac42", kind: .action, serviceID: "lumen_garden", name: RunRoutes.failing.action,
                label: "Ring the broken bell"),
        ])

    private static let record = Feature(
        id: "ft43", title: "Keep a record", isOnAtFirst: false,
        capabilities: [
            Capability(
                id: "ac43", kind: .action, serviceID: "skylark_weather", name: "note_down", label: "Note it down",
                isRunnable: false)
        ])
}
#endif
