import SandboxCore

extension IFTTTConnectionFixtures {
    /// Several features, optional ones among them, with every kind of choice, a point, queries, and a part that fails.
    static let many = IFTTTConnection(
        id: "mAnyFt05", name: "The whole garden",
        description: "Everything that Lumen Garden and Skylark can do together.",
        serviceIDs: ["lumen_garden", "skylark_weather"], hasCover: true,
        valuePropositions: ["Fewer dry plants", "Less water"], enabledCount: 7,
        features: [morning, herbs, alarms, record],
        note: "several features, optional ones, dropdowns, queries with pages")

    private static let morning = IFTTTFeature(
        id: "ft40", title: "Water in the morning", description: "Before the sun is up.",
        fields: [
            IFTTTField(
                id: "season", label: "Season", type: "COLLECTION_SELECT", isRequired: true,
                options: [
                    IFTTTField.Option(label: "Spring", value: "spring"),
                    IFTTTField.Option(label: "Summer", value: "summer"),
                ])
        ],
        capabilities: [
            IFTTTCapability(
                id: "tr40", kind: .trigger, serviceID: "skylark_weather", name: "sunrise", label: "The sun comes up",
                fields: [
                    IFTTTField(
                        id: "where", label: "Where?", type: "LOCATION_POINT",
                        defaultValue: ["lat": 52.52, "lng": 13.405, "address": "Sample Square 1, Berlin"])
                ]),
            IFTTTCapability(
                id: "ac40", kind: .action, serviceID: "lumen_garden", name: "start_drip", label: "Start the drip line",
                fields: [
                    zone,
                    IFTTTField(
                        id: "pace", label: "Pace", type: "DOUBLE_COLLECTION_SELECT",
                        options: [
                            IFTTTField.Option(label: "Drops", value: "pace-1", group: "Slow"),
                            IFTTTField.Option(label: "Mist", value: "pace-2", group: "Slow"),
                            IFTTTField.Option(label: "Shower", value: "pace-3", group: "Fast"),
                        ]),
                    IFTTTField(
                        id: "origin", label: "Origin", type: "TEXT_FIELD", isRequired: true, isHidden: true,
                        defaultValue: "ifttt"),
                ]),
        ])

    private static let herbs = IFTTTFeature(
        id: "ft41", title: "Look after the herbs", isOnAtFirst: false,
        capabilities: [
            IFTTTCapability(
                id: "qu41", kind: .query, serviceID: "lumen_garden", name: "list_plants", label: "Your plants"),
            IFTTTCapability(
                id: "qu42", kind: .query, serviceID: "lumen_garden", name: "list_readings",
                label: "Readings of a plant",
                fields: [
                    IFTTTField(
                        id: "plant", label: "Plant", type: "COLLECTION_SELECT",
                        options: IFTTTGardenData.plants.enumerated().map {
                            IFTTTField.Option(label: $1, value: "plant-\($0 + 1)")
                        })
                ]),
            IFTTTCapability(
                id: "ac41", kind: .action, serviceID: "lumen_garden", name: "mist_herbs", label: "Mist the herbs",
                fields: [
                    IFTTTField(
                        id: "days", label: "Days", type: "CHECKBOX_MULTI",
                        options: ["Monday", "Wednesday", "Friday"].map {
                            IFTTTField.Option(label: $0, value: $0.lowercased())
                        })
                ]),
        ])

    private static let alarms = IFTTTFeature(
        id: "ft42", title: "Ring the bell", description: "Bell and meter are broken: whatever asks for them fails.",
        isOnAtFirst: false,
        capabilities: [
            IFTTTCapability(
                id: "tr42", kind: .trigger, serviceID: "lumen_garden", name: IFTTTRunRoutes.failing.trigger,
                label: "The broken bell rings"),
            IFTTTCapability(
                id: "qu43", kind: .query, serviceID: "lumen_garden", name: IFTTTRunRoutes.failing.query,
                label: "The broken meter"),
            IFTTTCapability(
                id: "ac42", kind: .action, serviceID: "lumen_garden", name: IFTTTRunRoutes.failing.action,
                label: "Ring the broken bell"),
        ])

    private static let record = IFTTTFeature(
        id: "ft43", title: "Keep a record", isOnAtFirst: false,
        capabilities: [
            IFTTTCapability(
                id: "ac43", kind: .action, serviceID: "skylark_weather", name: "note_down", label: "Note it down",
                isRunnable: false)
        ])
}
