#if Sandbox
import SandboxCore

/// The connections of the IFTTT stand-in, each for something that clients must cope with.
enum ConnectionFixtures {
    static let services = [
        Service(id: "lumen_garden", name: "Lumen Garden", shortName: "Lumen", brandColor: "#2b8a3e"),
        Service(id: "quiet_orchard", name: "Quiet Orchard", shortName: "Orchard", brandColor: "#6441A5"),
        Service(id: "location", name: "Location", shortName: "Location", brandColor: "#0099ff"),
        Service(id: "skylark_weather", name: "Skylark Weather", shortName: "Skylark", brandColor: "#0b7285"),
        Service(id: "midnight_lamp", name: "Midnight Lamp", shortName: "Midnight", brandColor: "#050505"),
        Service(id: "snow_lamp", name: "Snow Lamp", shortName: "Snow", brandColor: "#FFFFFF"),
        Service(
            id: "odd_paint", name: "Odd <b>Paint</b> & Sons", shortName: "Odd <i>Paint</i>",
            brandColor: "red;}body{display:none}"),
        Service(
            id: "bare_shed", name: "Bare Shed", shortName: "Shed", brandColor: "#995500", hasIcons: false),
        Service(
            id: "long_words",
            name: "The Society for the Very Careful and Altogether Unhurried Watering of Balcony Gardens",
            shortName: "Unhurried Balcony Gardens Society", brandColor: "#b02a37"),
        Service(id: "gan_or", name: "גן האור", shortName: "גן האור", brandColor: "#7048e8"),
        Service(
            id: "paper_calendar", name: "Paper Calendar", shortName: "Calendar", brandColor: "#c2410c"),
    ]

    static let connections = [
        leaving, plain, areas, unknownField, many, hidden, longName, rightToLeft, markup, dark, light, iconless,
        calendar, bothWays,
    ]

    /// The example of section 1.10.
    static let leaving = Connection(
        id: "aB3dE5fG", name: "Water the balcony when you leave home",
        description: "Lumen Garden starts the drip line as soon as you walk out.",
        serviceIDs: ["lumen_garden", "location"], hasCover: true, enabledCount: 41,
        features: [
            Feature(
                id: "ft01", title: "Start when you leave",
                capabilities: [
                    Capability(
                        id: "tr01", kind: .trigger, serviceID: "location", name: "exit_region_location",
                        label: "You leave an area", fields: [area("LOCATION_EXIT", home)]),
                    Capability(
                        id: "ac01", kind: .action, serviceID: "lumen_garden", name: "start_drip",
                        label: "Start the drip line", fields: [zone]),
                ])
        ],
        note: "the dossier's example: a native trigger and a dropdown")

    static let plain = Connection(
        id: "pL41nX01", name: "Skip watering when rain is near",
        description: "Skylark Weather tells Lumen Garden to wait for the rain.",
        serviceIDs: ["lumen_garden", "skylark_weather"], hasCover: true, enabledCount: 1203,
        features: [
            Feature(
                id: "ft10", title: "Wait for rain", description: "Pauses all zones for a day.",
                capabilities: [
                    Capability(
                        id: "tr10", kind: .trigger, serviceID: "skylark_weather", name: "rain_expected",
                        label: "Rain is expected"),
                    Capability(
                        id: "ac10", kind: .action, serviceID: "lumen_garden", name: "pause_zones",
                        label: "Pause the zones",
                        fields: [
                            Field(
                                id: "note", label: "Note for the log", type: "TEXT_FIELD",
                                defaultValue: "Rain is on its way")
                        ]),
                ])
        ],
        note: "plain: one feature, one text")

    static let areas = Connection(
        id: "Lg2Sp0ts", name: "Garden gate by itself",
        description: "Opens the gate where you arrive and closes it where you leave.",
        serviceIDs: ["lumen_garden", "location"],
        features: [
            Feature(
                id: "ft20", title: "At home", description: "Coordinates as numbers.",
                capabilities: [
                    Capability(
                        id: "tr20", kind: .trigger, serviceID: "location", name: "enter_or_exit_region_location",
                        label: "You enter or leave an area", fields: [area("LOCATION_ENTER_OR_EXIT", home)])
                ]),
            Feature(
                id: "ft21", title: "At the allotment", description: "Coordinates as texts under their long names.",
                isOnAtFirst: false,
                capabilities: [
                    Capability(
                        id: "tr21", kind: .trigger, serviceID: "location", name: "enter_and_exit_region_location",
                        label: "You enter or leave an area",
                        fields: [
                            area(
                                "LOCATION_ENTER_AND_EXIT",
                                [
                                    "latitude": "52.4900", "longitude": "13.3600", "radius": "300",
                                    "address": "Sample Lane 2, Berlin", "description": "Allotment", "zoom": .null,
                                ])
                        ])
                ]),
            Feature(
                id: "ft22", title: "At the market", isOnAtFirst: false,
                capabilities: [
                    Capability(
                        id: "tr22", kind: .trigger, serviceID: "location", name: "enter_region_location",
                        label: "You enter an area", fields: [area("LOCATION_ENTER", .null)])
                ]),
        ],
        note: "native: both spellings of coordinates and of the two-way type, numbers as texts, no default")

    static let unknownField = Connection(
        id: "uNk0wnF1", name: "Sow by the moon", description: "Reminds you to sow when the moon is right.",
        serviceIDs: ["lumen_garden"],
        features: [
            Feature(
                id: "ft30", title: "Moon reminder",
                fields: [
                    Field(
                        id: "phase", label: "Phase of the moon", type: "MOON_PHASE",
                        defaultValue: ["phase": "waxing", "days": 3])
                ],
                capabilities: [
                    Capability(
                        id: "ac30", kind: .action, serviceID: "lumen_garden", name: "remind", label: "Remind me",
                        fields: [
                            Field(
                                id: "text", label: "Text", type: "TEXT_AREA", isRequired: true,
                                defaultValue: "Time to sow")
                        ])
                ])
        ],
        note: "a field of an unknown type; one service alone")

    static let hidden = Connection(
        id: "hIddEn06", name: "Count the apples", description: "Still being tried out by its makers.",
        serviceIDs: ["quiet_orchard", "skylark_weather"],
        features: [
            Feature(
                id: "ft50", title: "Count at dusk",
                capabilities: [
                    Capability(
                        id: "ac50", kind: .action, serviceID: "quiet_orchard", name: "count_apples",
                        label: "Count the apples")
                ])
        ],
        note: "its partner is unpublished: needs IFTTT-Invite-Code orchard-invite-7")

    static let longName = dressed(
        "l0ngNam7", "lumen_garden", "long_words",
        name: "Water every single pot, trough, hanging basket and raised bed on the balcony exactly when it is "
            + "thirsty and never a minute sooner, in any weather",
        description: String(repeating: "A very long description goes on and on. ", count: 30),
        note: "long names everywhere")

    static let rightToLeft = dressed(
        "rTlName8", "lumen_garden", "gan_or", name: "השקיית המרפסת", description: "מפעיל את הטפטפות כשיוצאים מהבית.",
        note: "right-to-left names")

    static let markup = dressed(
        "mArkUp09", "lumen_garden", "odd_paint", name: "<script>alert(1)</script> & \"Quotes\"",
        description: "<img src=x onerror=alert(1)> {{mustache}} \u{202E}txet desrever",
        note: "markup in its texts, a brand colour that is none")

    static let dark = dressed(
        "dArkBr10", "lumen_garden", "midnight_lamp", name: "Lamp at midnight", description: "A very dark brand.",
        note: "a very dark brand colour")

    static let light = dressed(
        "lIghtB11", "lumen_garden", "snow_lamp", name: "Lamp in the snow", description: "A very light brand.",
        note: "a white brand colour")

    static let iconless = dressed(
        "nOicOn12", "lumen_garden", "bare_shed", name: "Lock the shed", description: "It has no picture.",
        hasIcon: false, note: "icons that lead nowhere, a feature without one")

    /// A connection that is there for its looks.
    private static func dressed(
        _ id: String, _ owner: String, _ other: String, name: String, description: String, hasIcon: Bool = true,
        note: String
    ) -> Connection {
        let feature = Feature(
            id: "ft-\(id)", title: name, description: description, hasIcon: hasIcon,
            capabilities: [
                Capability(id: "ac-\(id)", kind: .action, serviceID: other, name: "switch_on", label: "Switch on")
            ])
        return Connection(
            id: id, name: name, description: description,
            serviceIDs: [owner, other], features: [feature], note: note)
    }

    static let home: JSON = [
        "lat": 52.5200, "lng": 13.4050, "radius": 250.0, "address": "Sample Square 1, Berlin", "description": "Home",
        "zoom": 16,
    ]

    static let zone = Field(
        id: "zone", label: "Zone", type: "COLLECTION_SELECT", isRequired: true,
        options: [
            Field.Option(label: "Balcony", value: "zone-7"),
            Field.Option(label: "Roof", value: "zone-9", group: "Upstairs"),
        ])

    static func area(_ type: String, _ defaultValue: JSON) -> Field {
        Field(id: "location", label: "Which area?", type: type, isRequired: true, defaultValue: defaultValue)
    }
}
#endif
