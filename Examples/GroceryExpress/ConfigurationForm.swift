import Foundation
import IFTTTConnect

/// What is wrong in a form, in words for the customer.
struct ConfigurationProblem: Error {
    let text: String
}

/// The configuration screen's answer: an area by coordinates and a radius, and a zone to water (F109).
struct ConfigurationForm {
    private let fields: [String: String]

    init(_ fields: [String: String]) {
        self.fields = fields
    }

    /// The whole configuration that IFTTT is to store. What the form has no field for keeps its default.
    func configuration(of connection: Connection) throws(ConfigurationProblem) -> UserConnection {
        var features: [UserConnection.UserFeature] = []
        for feature in connection.features {
            features.append(
                UserConnection.UserFeature(
                    featureID: feature.id ?? "", fields: try values(feature.fields),
                    triggers: try components(feature.triggers), queries: try components(feature.queries),
                    actions: try components(feature.actions)))
        }
        return UserConnection(features: features)
    }

    private func components(
        _ components: [Connection.Component]
    ) throws(ConfigurationProblem) -> [UserConnection.UserComponent] {
        var chosen: [UserConnection.UserComponent] = []
        for component in components {
            chosen.append(.init(componentID: component.id, fields: try values(component.fields)))
        }
        return chosen
    }

    private func values(
        _ definitions: [FieldDefinition]
    ) throws(ConfigurationProblem) -> [UserConnection.UserField] {
        var values: [UserConnection.UserField] = []
        for field in definitions {
            guard let value = try value(of: field) else { continue }
            values.append(.init(id: field.id, type: field.type, value: value))
        }
        return values
    }

    private func value(of field: FieldDefinition) throws(ConfigurationProblem) -> FieldValue? {
        if field.type.crossing != nil || field.type == .area { return .location(try area()) }
        if let typed = fields["field-\(field.id)"], !typed.isEmpty { return .text(typed) }
        guard let value = field.defaultValue else {
            if field.isRequired { throw ConfigurationProblem(text: "Choose a value for \(field.label ?? field.id).") }
            return nil
        }
        return value
    }

    private func area() throws(ConfigurationProblem) -> LocationValue {
        func number(_ name: String) -> Double? {
            Double((fields[name] ?? "").trimmingCharacters(in: .whitespaces).replacingOccurrences(of: ",", with: "."))
        }
        guard let latitude = number("latitude"), let longitude = number("longitude"), let radius = number("radius"),
            let area = LocationValue(
                latitude: latitude, longitude: longitude, radius: radius, address: fields["address"] ?? "")
        else {
            throw ConfigurationProblem(
                text: "Latitude is from −90 to 90, longitude from −180 to 180, and the radius is above 0.")
        }
        return area
    }
}
