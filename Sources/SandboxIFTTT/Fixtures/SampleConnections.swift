#if Sandbox
import SandboxCore

/// What the sample app of the dossier shows: a calendar, and areas that are entered and left (sections 9 and 13, F107 and F109).
extension ConnectionFixtures {
    static let calendar = Connection(
        id: "cAl3nDar", name: "Garden days in your calendar",
        description: "Lumen Garden writes down when it has watered, and waits while you are away.",
        serviceIDs: ["lumen_garden", "paper_calendar"], hasCover: true, enabledCount: 318,
        features: [
            Feature(
                id: "ft60", title: "Write down every watering", description: "An event with the zone and the minutes.",
                capabilities: [
                    Capability(
                        id: "tr60", kind: .trigger, serviceID: "lumen_garden", name: "zone_watered",
                        label: "A zone was watered", fields: [zone]),
                    Capability(
                        id: "ac60", kind: .action, serviceID: "paper_calendar", name: "add_event",
                        label: "Add an event", fields: [calendarChoice, eventTitle]),
                ]),
            Feature(
                id: "ft61", title: "Wait while you are away",
                description: "No watering on days with an event of this title.", isOnAtFirst: false,
                capabilities: [
                    Capability(
                        id: "tr61", kind: .trigger, serviceID: "paper_calendar", name: "event_starts",
                        label: "An event starts", fields: [calendarChoice, awayTitle]),
                    Capability(
                        id: "ac61", kind: .action, serviceID: "lumen_garden", name: "pause_zones",
                        label: "Pause the zones"),
                ]),
        ],
        note: "the sample's calendar: features with icons, a choice and a text each")

    static let bothWays = Connection(
        id: "aReAs2go", name: "Open up when you come, lock up when you go",
        description: "Unlocks the shed where you arrive and locks it where you leave.",
        serviceIDs: ["lumen_garden", "location"],
        features: [
            Feature(
                id: "ft70", title: "Unlock when you arrive",
                capabilities: [
                    Capability(
                        id: "tr70", kind: .trigger, serviceID: "location", name: "enter_region_location",
                        label: "You enter an area", fields: [area("LOCATION_ENTER", home)]),
                    Capability(
                        id: "ac70", kind: .action, serviceID: "lumen_garden", name: "unlock_shed",
                        label: "Unlock the shed"),
                ]),
            Feature(
                id: "ft71", title: "Lock when you leave",
                capabilities: [
                    Capability(
                        id: "tr71", kind: .trigger, serviceID: "location", name: "exit_region_location",
                        label: "You leave an area", fields: [area("LOCATION_EXIT", home)]),
                    Capability(
                        id: "ac71", kind: .action, serviceID: "lumen_garden", name: "lock_shed", label: "Lock the shed"),
                ]),
        ],
        note: "native: an area that is entered and one that is left")

    private static let calendarChoice = Field(
        id: "calendar", label: "Calendar", type: "COLLECTION_SELECT", isRequired: true,
        options: [
            Field.Option(label: "Home", value: "calendar-1"),
            Field.Option(label: "Garden", value: "calendar-2", group: "Shared"),
        ])

    private static let eventTitle = Field(
        id: "title", label: "Title", type: "TEXT_FIELD", isRequired: true, defaultValue: "Watered")

    private static let awayTitle = Field(
        id: "title", label: "Title", type: "TEXT_FIELD", isRequired: true, defaultValue: "Away")
}
#endif
