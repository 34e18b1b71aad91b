#if Sandbox
import SandboxCore

/// Reads the deprecated update, which names triggers, queries and actions by service (IFTTT Connect dossier,
/// section 2.9, "Update (deprecated)").
///
/// The n-th entry of `user_triggers` and its siblings is for the n-th configuration of the feature, and makes it when
/// there is none.
struct ServicesReader: Sendable {
    let connection: Connection
    private(set) var identifiers: Identifiers
    private var features: [UserFeature]
    private var reader = FieldReader()

    init(_ connection: Connection, previous: UserConnection, identifiers: Identifiers) {
        self.connection = connection
        self.identifiers = identifiers
        features = previous.features
    }

    /// - Throws: 422 for values that cannot be used and for every attempt to change something else.
    mutating func read(_ body: JSON) throws(Refusal) -> [UserFeature] {
        refuseOthers(body, besides: ["user_id", "services"], at: "")
        guard let services = body["services"]?.elements else { throw .invalid("/services", "Expected a list") }
        for (index, service) in services.enumerated() {
            let pointer = "/services/\(index)"
            refuseOthers(service, besides: ["service_id", "triggers", "queries", "actions"], at: pointer)
            guard let id = service["service_id"]?.scalarText, connection.serviceIDs.contains(id) else {
                reader.refuse(pointer + "/service_id", "The connection has no such service")
                continue
            }
            for kind in Capability.Kind.allCases {
                for (place, part) in (service[kind.plural]?.elements ?? []).enumerated() {
                    update(
                        part, kind, slug: "\(id).\(part["id"]?.scalarText ?? "")",
                        at: "\(pointer)/\(kind.plural)/\(place)")
                }
            }
        }
        try reader.finish()
        return features
    }

    private mutating func update(_ part: JSON, _ kind: Capability.Kind, slug: String, at pointer: String) {
        let list = "user_\(kind.plural)"
        refuseOthers(part, besides: ["id", list], at: pointer)
        guard let (feature, definition) = connection.capability(kind, slug: slug) else {
            return reader.refuse(pointer + "/id", "The service has no such \(kind.rawValue)")
        }
        let entries = part[list]?.elements ?? []
        guard entries.count <= UserConnectionReader.limit else {
            return reader.refuse("\(pointer)/\(list)", "Expected at most \(UserConnectionReader.limit)")
        }
        for (index, entry) in entries.enumerated() {
            let place = "\(pointer)/\(list)/\(index)"
            refuseOthers(entry, besides: ["id", "fields"], at: place)
            let fields = values(entry["fields"]?.elements ?? [], of: definition.fields, at: place + "/fields")
            set(fields, of: definition, in: feature, configuration: index)
        }
    }

    private mutating func values(
        _ elements: [JSON], of known: [Field], at pointer: String
    ) -> [UserConnection.Value] {
        var values: [UserConnection.Value] = []
        for (index, element) in elements.enumerated() {
            let place = "\(pointer)/\(index)"
            refuseOthers(element, besides: ["id", "value"], at: place)
            guard let field = known.first(where: { $0.id == element["id"]?.scalarText }) else {
                reader.refuse(place + "/id", "There is no such field")
                continue
            }
            if let value = reader.value(element["value"] ?? .null, of: field, at: place + "/value") {
                values.append(UserConnection.Value(fieldID: field.id, type: field.type, value: value))
            }
        }
        for field in known where field.isRequired && !values.contains(where: { $0.fieldID == field.id }) {
            if reader.details.isEmpty { reader.refuse(pointer, "The required field \(field.id) is missing") }
        }
        return values
    }

    private mutating func set(
        _ fields: [UserConnection.Value], of definition: Capability, in feature: Feature,
        configuration number: Int
    ) {
        let own = features.indices.filter { features[$0].featureID == feature.id }
        var index = features.count
        if number < own.count {
            index = own[number]
        } else {
            features.append(
                UserFeature(
                    id: identifiers.uuid(), featureID: feature.id, isEnabled: true, fields: [], capabilities: []))
        }
        if let part = features[index].capabilities.firstIndex(where: { $0.capabilityID == definition.id }) {
            features[index].capabilities[part].fields = fields
        } else {
            features[index].capabilities.append(
                UserCapability(
                    id: identifiers.uuid(), capabilityID: definition.id, kind: definition.kind, fields: fields))
        }
    }

    private mutating func refuseOthers(_ json: JSON, besides allowed: Set<String>, at pointer: String) {
        guard case .object(let members) = json else { return reader.refuse(pointer, "Expected an object") }
        for member in members where !allowed.contains(member.name) {
            reader.refuse("\(pointer)/\(FieldReader.escaped(member.name))", "This cannot be changed here")
        }
    }
}
#endif
