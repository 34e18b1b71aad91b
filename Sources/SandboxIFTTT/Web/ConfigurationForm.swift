#if Sandbox
import SandboxCore

/// The configuration page's form: what it shows, and what it says when it comes back (IFTTT Connect dossier, section
/// 11.3, step 5).
///
/// The first configuration of each feature can be edited; further ones are kept as they are.
struct ConfigurationForm: Sendable {
    let connection: Connection
    /// What the user configured before.
    let stored: [UserFeature]
    /// What came back; nil for a fresh page.
    let submitted: FormParameters?

    struct FeatureView {
        let name: String
        let title: String
        let about: String?
        let isOn: Bool
        let fields: [FieldView]
    }

    struct FieldView {
        let name: String
        let label: String
        let isText: Bool
        let isArea: Bool
        let isChoice: Bool
        let isChoices: Bool
        let isLocation: Bool
        let isUnknown: Bool
        let type: String
        let value: String
        let options: [OptionView]
        let parts: [PartView]
        let fault: String?
    }

    struct OptionView {
        let optionName: String
        let optionLabel: String
        let optionValue: String
        let isChosen: Bool
    }

    struct PartView {
        let partName: String
        let partLabel: String
        let partValue: String
        let isNumber: Bool
    }

    /// A field with its place in the form and its value as it would be shown or stored.
    private struct Entry {
        let name: String
        let field: Field
        let value: JSON?
        let fault: String?
    }

    private static let locationParts = [
        ("lat", "Latitude in degrees"), ("lng", "Longitude in degrees"), ("radius", "Radius in metres"),
        ("address", "Address"),
    ]

    var views: [FeatureView] {
        connection.features.indices.map { index in
            let feature = connection.features[index]
            let all = entries(of: index)
            return FeatureView(
                name: "f\(index)", title: feature.title, about: feature.description, isOn: isOn(index),
                fields: all.map(view))
        }
    }

    /// Whether something that is switched on cannot be stored.
    var hasFaults: Bool {
        connection.features.indices.contains { index in
            isOn(index) && entries(of: index).contains { $0.fault != nil }
        }
    }

    /// The body of an update (section 2.9) that says the same as the form.
    var body: JSON {
        .object([
            JSON.Member(name: "user_features", value: .array(connection.features.indices.map(featureBody)))
        ])
    }

    /// The configurations that the form does not show.
    var others: [UserFeature] {
        var seen: Set<String> = []
        return stored.filter { !seen.insert($0.featureID).inserted }
    }

    private func featureBody(_ index: Int) -> JSON {
        let feature = connection.features[index]
        let isOn = isOn(index)
        func fields(_ prefix: String) -> JSON {
            let own = entries(of: index).filter { $0.name.hasPrefix(prefix) && isOn }
            return .array(
                own.compactMap { entry in
                    entry.value.map { ["field_id": .string(entry.field.id), "value": $0] }
                })
        }
        var json: JSON = [
            "feature_id": .string(feature.id), "enabled": .bool(isOn), "user_fields": fields("f\(index).u."),
        ]
        json = json.adding("id", stored.first { $0.featureID == feature.id }.map { .string($0.id) })
        for kind in Capability.Kind.allCases {
            let parts = feature.capabilities.enumerated().filter { $0.element.kind == kind }
            let list = parts.map { position, capability -> JSON in
                .object([
                    JSON.Member(name: "feature_\(kind.rawValue)_id", value: .string(capability.id)),
                    JSON.Member(name: "user_fields", value: fields("f\(index).c\(position).")),
                ])
            }
            json = json.adding("user_feature_\(kind.plural)", .array(list))
        }
        return json
    }

    private func isOn(_ index: Int) -> Bool {
        if let submitted { return submitted["f\(index)"] != nil }
        let feature = connection.features[index]
        guard !stored.isEmpty else { return feature.isOnAtFirst }
        return stored.first { $0.featureID == feature.id }?.isEnabled == true
    }

    private func entries(of index: Int) -> [Entry] {
        let feature = connection.features[index]
        let own = stored.first { $0.featureID == feature.id }
        let plain = feature.fields.filter { !$0.isHidden }.map { field in
            entry("f\(index).u.\(field.id)", field, own?.fields, isOn: isOn(index))
        }
        let parts = feature.capabilities.enumerated().flatMap { position, capability in
            let values = own?.capabilities.first { $0.capabilityID == capability.id }?.fields
            return capability.fields.filter { !$0.isHidden }.map { field in
                entry("f\(index).c\(position).\(field.id)", field, values, isOn: isOn(index))
            }
        }
        return plain + parts
    }

    private func entry(
        _ name: String, _ field: Field, _ values: [UserConnection.Value]?, isOn: Bool
    ) -> Entry {
        let kept = values?.first { $0.fieldID == field.id }?.value
        guard let submitted else {
            return Entry(name: name, field: field, value: kept ?? Self.shown(field.defaultValue), fault: nil)
        }
        if case .unknown = field.shape {
            return Entry(name: name, field: field, value: kept ?? Self.shown(field.defaultValue), fault: nil)
        }
        let value = Self.read(submitted, name, field)
        var fault: String?
        if isOn {
            if let value {
                var reader = FieldReader()
                _ = reader.value(value, of: field, at: "")
                fault = reader.details.first.map { "\($0.message)." }
            } else if field.isRequired {
                fault = "This is needed."
            }
        }
        return Entry(name: name, field: field, value: value, fault: fault)
    }

    private static func shown(_ value: JSON) -> JSON? {
        value == .null ? nil : value
    }

    private static func read(_ form: FormParameters, _ name: String, _ field: Field) -> JSON? {
        switch field.shape {
        case .text, .choice, .unknown: return form[name].map(JSON.string)
        case .choices:
            let values = form.pairs.filter { $0.name == name }.map(\.value)
            return values.isEmpty ? nil : JSON(values)
        case .location(let hasRadius):
            let parts = locationParts.filter { hasRadius || $0.0 != "radius" }
            let members = parts.compactMap { part, _ in
                form["\(name).\(part)"].map { JSON.Member(name: part, value: .string($0)) }
            }
            return members.isEmpty ? nil : .object(members)
        }
    }

    private func view(_ entry: Entry) -> FieldView {
        let shape = entry.field.shape
        var text = entry.value?.scalarText ?? ""
        var isText = false
        var isChoice = false
        var isChoices = false
        var isUnknown = false
        var parts: [PartView] = []
        switch shape {
        case .text: isText = entry.field.type == "TEXT_FIELD"
        case .choice:
            isChoice = true
            text = entry.value?["value"]?.scalarText ?? text
        case .choices: isChoices = true
        case .unknown:
            isUnknown = true
            text = entry.value?.text ?? "nothing"
        case .location(let hasRadius):
            parts = Self.locationParts.filter { hasRadius || $0.0 != "radius" }.map { part, label in
                let long = part == "lat" ? "latitude" : part == "lng" ? "longitude" : part
                let value = (entry.value?[part] ?? entry.value?[long])?.scalarText
                let isNumber = part != "address"
                return PartView(
                    partName: "\(entry.name).\(part)", partLabel: label,
                    partValue: isNumber ? Self.plain(value ?? "") : value ?? "", isNumber: isNumber)
            }
        }
        return FieldView(
            name: entry.name, label: entry.field.label, isText: isText, isArea: entry.field.type == "TEXT_AREA",
            isChoice: isChoice, isChoices: isChoices, isLocation: !parts.isEmpty, isUnknown: isUnknown,
            type: entry.field.type, value: text, options: options(entry, chosen: text), parts: parts,
            fault: entry.fault)
    }

    /// A number as people write it: 250, not 250.0.
    private static func plain(_ number: String) -> String {
        number.hasSuffix(".0") ? String(number.dropLast(2)) : number
    }

    private func options(_ entry: Entry, chosen text: String) -> [OptionView] {
        let chosen = Set(
            entry.value?.elements?.compactMap { ($0["value"] ?? $0).scalarText } ?? [text])
        return entry.field.options.enumerated().map { index, option in
            OptionView(
                optionName: "\(entry.name).\(index)",
                optionLabel: (option.group.map { "\($0): " } ?? "") + option.label, optionValue: option.value,
                isChosen: chosen.contains(option.value))
        }
    }
}
#endif
