#if Sandbox
import SandboxCore

/// Reads a full replacement of a user connection (IFTTT Connect dossier, section 2.9).
///
/// Ids of configurations and subscriptions that were there before are kept, in the order of their features, so that a
/// client that watches subscriptions sees moved areas and not new ones.
struct UserConnectionReader: Sendable {
    let connection: Connection
    private(set) var identifiers: Identifiers
    private var left: [UserFeature]
    private var reader = FieldReader()

    /// How many configurations one user may have.
    static let limit = 100

    init(_ connection: Connection, previous: UserConnection?, identifiers: Identifiers) {
        self.connection = connection
        self.identifiers = identifiers
        left = previous?.features ?? []
    }

    /// - Throws: 422 with a pointer to everything that cannot be used.
    mutating func read(_ body: JSON) throws(Refusal) -> [UserFeature] {
        guard let elements = body["user_features"]?.elements, elements.count <= Self.limit else {
            throw .invalid("/user_features", "Expected a list of at most \(Self.limit) features")
        }
        let features = elements.enumerated().compactMap { feature($1, at: "/user_features/\($0)") }
        try reader.finish()
        return features
    }

    private mutating func feature(_ json: JSON, at pointer: String) -> UserFeature? {
        guard let id = json["feature_id"]?.scalarText, let definition = connection.feature(id) else {
            reader.refuse(pointer + "/feature_id", "The connection has no such feature")
            return nil
        }
        var isEnabled = true
        if let flag = json["enabled"] {
            guard case .bool(let value) = flag else {
                reader.refuse(pointer + "/enabled", "Expected true or false")
                return nil
            }
            isEnabled = value
        }
        let wanted = json["id"]?.scalarText
        let index = left.firstIndex { $0.featureID == id && (wanted == nil || $0.id == wanted) }
        let previous = index.map { left.remove(at: $0) }
        let fields = values(json["user_fields"], of: definition.fields, isEnabled, at: pointer + "/user_fields")
        var capabilities: [UserCapability] = []
        for kind in Capability.Kind.allCases {
            capabilities += self.capabilities(
                json["user_feature_\(kind.plural)"], definition.capabilities.filter { $0.kind == kind },
                previous, isEnabled, at: "\(pointer)/user_feature_\(kind.plural)")
        }
        return UserFeature(
            id: previous?.id ?? identifiers.uuid(), featureID: id, isEnabled: isEnabled, fields: fields,
            capabilities: capabilities)
    }

    private mutating func capabilities(
        _ json: JSON?, _ known: [Capability], _ previous: UserFeature?, _ isEnabled: Bool,
        at pointer: String
    ) -> [UserCapability] {
        guard let elements = (json ?? .array([])).elements, elements.count <= known.count else {
            reader.refuse(pointer, "Expected a list of at most \(known.count)")
            return []
        }
        var found: [UserCapability] = []
        for (index, element) in elements.enumerated() {
            let place = "\(pointer)/\(index)"
            guard
                let definition = known.first(where: { element["feature_\($0.kind.rawValue)_id"]?.scalarText == $0.id }),
                !found.contains(where: { $0.capabilityID == definition.id })
            else {
                let name = known.first.map { "feature_\($0.kind.rawValue)_id" } ?? ""
                reader.refuse("\(place)/\(name)", "The feature has no such part, or it came twice")
                continue
            }
            let before = previous?.capabilities.first { $0.capabilityID == definition.id }
            found.append(
                UserCapability(
                    id: before?.id ?? identifiers.uuid(), capabilityID: definition.id, kind: definition.kind,
                    fields: values(
                        element["user_fields"], of: definition.fields, isEnabled, at: place + "/user_fields")))
        }
        for missing in known where isEnabled && !found.contains(where: { $0.capabilityID == missing.id }) {
            if missing.fields.contains(where: { $0.isRequired && !$0.isHidden }) {
                reader.refuse(pointer, "The required fields of \(missing.id) are missing")
            }
        }
        return found
    }

    private mutating func values(
        _ json: JSON?, of known: [Field], _ isEnabled: Bool, at pointer: String
    ) -> [UserConnection.Value] {
        guard let elements = (json ?? .array([])).elements, elements.count <= known.count else {
            reader.refuse(pointer, "Expected a list of at most \(known.count)")
            return []
        }
        var values: [UserConnection.Value] = []
        var named: Set<String> = []
        for (index, element) in elements.enumerated() {
            guard let id = element["field_id"]?.scalarText, let field = known.first(where: { $0.id == id }),
                named.insert(id).inserted
            else {
                reader.refuse("\(pointer)/\(index)/field_id", "There is no such field, or it came twice")
                continue
            }
            if let value = reader.value(element["value"] ?? .null, of: field, at: "\(pointer)/\(index)/value") {
                values.append(UserConnection.Value(fieldID: id, type: field.type, value: value))
            }
        }
        for field in known where !named.contains(field.id) {
            if field.isHidden, field.defaultValue != .null {
                values.append(
                    UserConnection.Value(fieldID: field.id, type: field.type, value: field.defaultValue))
            } else if field.isRequired, isEnabled {
                reader.refuse(pointer, "The required field \(field.id) is missing")
            }
        }
        return values
    }
}
#endif
