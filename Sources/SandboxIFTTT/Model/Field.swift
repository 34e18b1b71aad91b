#if Sandbox
import SandboxCore

/// A field that a user fills in (IFTTT Connect dossier, section 1.9).
struct Field: Sendable {
    let id: String
    let label: String
    /// The `type` of the wire; one fixture has a type that no client knows.
    let type: String
    var isRequired = false
    var isHidden = false
    var defaultValue: JSON = .null
    /// What a choice offers, as field options give it.
    var options: [Option] = []

    struct Option: Sendable {
        let label: String
        let value: String
        var group: String?

        var json: JSON {
            ["label": .string(label), "value": .string(value), "group": JSON(group)]
        }
    }

    /// How a value of this field looks on the wire.
    enum Shape: Sendable {
        case text
        case choice
        case choices
        case location(hasRadius: Bool)
        /// Any JSON; the type is not one of the dossier's.
        case unknown
    }

    var shape: Shape {
        switch type {
        case "TEXT_FIELD", "TEXT_AREA": .text
        case "COLLECTION_SELECT", "DOUBLE_COLLECTION_SELECT": .choice
        case "CHECKBOX_MULTI": .choices
        case "LOCATION_POINT": .location(hasRadius: false)
        case "LOCATION_RADIUS", "LOCATION_ENTER", "LOCATION_EXIT", "LOCATION_ENTER_OR_EXIT",
            "LOCATION_ENTER_AND_EXIT":
            .location(hasRadius: true)
        default: .unknown
        }
    }

    var json: JSON {
        [
            "id": .string(id), "label": .string(label), "type": .string(type), "required": .bool(isRequired),
            "hidden": .bool(isHidden), "default_value": defaultValue,
        ]
    }
}
#endif
