#if Server && Sandbox
import Foundation
import IFTTTConnect

/// What is wrong in a form, in words for the customer.
struct ConfigurationProblem: Error {
    let text: String
}

/// The configuration page's answer: for each field its value, for an area its coordinates and radius (F109).
struct ConfigurationForm {
    private let fields: [String: String]

    /// - Parameter fields: what was sent, by the names of ``ConfigurationQuestions``.
    init(_ fields: [String: String]) {
        self.fields = fields
    }

    /// The whole configuration that IFTTT is to store. What the form has no field for keeps its default.
    func configuration(of connection: Connection) throws(ConfigurationProblem) -> UserConnection {
        var features: [UserConnection.UserFeature] = []
        for feature in connection.features {
            let id = feature.id ?? ""
            features.append(
                UserConnection.UserFeature(
                    featureID: id, fields: try values(feature.fields, of: id, called: feature.title),
                    triggers: try components(feature.triggers, of: feature),
                    queries: try components(feature.queries, of: feature),
                    actions: try components(feature.actions, of: feature)))
        }
        return UserConnection(features: features)
    }

    private func components(
        _ components: [Connection.Component], of feature: Connection.Feature
    ) throws(ConfigurationProblem) -> [UserConnection.UserComponent] {
        var chosen: [UserConnection.UserComponent] = []
        for component in components {
            let values = try values(component.fields, of: component.id, called: component.label ?? feature.title)
            chosen.append(.init(componentID: component.id, fields: values))
        }
        return chosen
    }

    private func values(
        _ definitions: [FieldDefinition], of owner: String, called title: String
    ) throws(ConfigurationProblem) -> [UserConnection.UserField] {
        var values: [UserConnection.UserField] = []
        for field in definitions {
            let name = ConfigurationQuestions.name(of: field, in: owner)
            guard let value = try value(of: field, named: name, in: title) else { continue }
            values.append(.init(id: field.id, type: field.type, value: value))
        }
        return values
    }

    private func value(
        of field: FieldDefinition, named name: String, in title: String
    ) throws(ConfigurationProblem) -> FieldValue? {
        if field.type.asksForArea, !field.isHidden { return .location(try area(named: name, in: title)) }
        if let typed = fields[name], !typed.isEmpty { return .text(typed) }
        guard let value = field.defaultValue else {
            if field.isRequired {
                throw ConfigurationProblem(text: "\(title): choose a value for \(field.label ?? field.id).")
            }
            return nil
        }
        return value
    }

    private func area(named name: String, in title: String) throws(ConfigurationProblem) -> LocationValue {
        func number(_ part: String) -> Double? {
            Double(
                (fields["\(name).\(part)"] ?? "").trimmingCharacters(in: .whitespaces)
                    .replacingOccurrences(of: ",", with: "."))
        }
        guard let latitude = number("latitude"), let longitude = number("longitude"), let radius = number("radius"),
            let area = LocationValue(
                latitude: latitude, longitude: longitude, radius: radius, address: fields["\(name).address"] ?? "")
        else {
            throw ConfigurationProblem(
                text:
                    "\(title): the latitude is from −90 to 90, the longitude from −180 to 180, and the radius is above 0."
            )
        }
        return area
    }
}
#endif
