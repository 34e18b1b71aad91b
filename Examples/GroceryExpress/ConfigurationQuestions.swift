import IFTTTConnect

/// What the shop's own configuration screen asks about a connection (F109): a part for each feature, trigger, query and action
/// that has something to choose. The page and the app on an iPhone ask the same.
struct ConfigurationQuestions: Sendable {
    let connection: Connection
    let parts: [Part]

    /// What belongs together: an area that is entered is another one than the area that is left.
    struct Part: Sendable {
        let id: String
        let title: String
        let questions: [Question]
    }

    /// One field.
    struct Question: Sendable {
        /// Its name in the form. Several triggers may have fields of one name, so the owner's identifier comes first.
        let name: String
        let field: FieldDefinition
        /// What can be chosen.
        let options: [FieldValue.Option]
        /// What the customer has chosen before, else what the connection begins with.
        let value: FieldValue?

        var title: String { field.label ?? field.id }
        var isArea: Bool { field.type.asksForArea }
    }

    /// - Parameters:
    ///   - connection: the connection as the customer has it.
    ///   - options: what can be chosen, by the names of the questions.
    init(_ connection: Connection, options: [String: [FieldValue.Option]]) {
        self.connection = connection
        let stored = connection.userConnection?.values ?? [:]
        parts = connection.features.flatMap { feature in
            let own = [(feature.id ?? "", feature.title, feature.fields)]
            let components = feature.triggers + feature.queries + feature.actions
            return (own + components.map { ($0.id, $0.label ?? feature.title, $0.fields) }).map {
                owner, title, fields in
                let questions = fields.filter { !$0.isHidden && $0.type.isAsked }.map { field in
                    let name = Self.name(of: field, in: owner)
                    return Question(
                        name: name, field: field, options: options[name] ?? [],
                        value: stored[name] ?? field.defaultValue)
                }
                return Part(id: owner, title: title, questions: questions)
            }
        }.filter { !$0.questions.isEmpty }
    }

    /// A field's name in the form.
    static func name(of field: FieldDefinition, in owner: String) -> String { "\(owner).\(field.id)" }

    /// Whose options have to be fetched: of each trigger, query and action with something to choose from a list.
    static func owners(in connection: Connection) -> [(id: String, owner: FieldOwner, fields: [FieldDefinition])] {
        func found(
            _ components: [Connection.Component], _ owner: (ComponentSlug) -> FieldOwner
        ) -> [(id: String, owner: FieldOwner, fields: [FieldDefinition])] {
            components.compactMap { component in
                guard let service = component.serviceID, let name = component.kindID,
                    component.fields.contains(where: { $0.type == .select })
                else { return nil }
                return (component.id, owner(ComponentSlug(service: service, name: name)), component.fields)
            }
        }
        return connection.features.flatMap { feature in
            found(feature.triggers) { .trigger($0) } + found(feature.queries) { .query($0) }
                + found(feature.actions) { .action($0) }
        }
    }
}

extension FieldType {
    /// Whether a value is an area on the map.
    var asksForArea: Bool { crossings != nil || self == .area }

    /// Whether the screen has a field for it; every other kind stays as it is.
    var isAsked: Bool { asksForArea || [.select, .text, .textArea].contains(self) }
}

extension UserConnection {
    /// What the customer has chosen, by the names of the questions: of each feature the first configuration that is on.
    var values: [String: FieldValue] {
        var values: [String: FieldValue] = [:]
        for feature in features where feature.isEnabled {
            let owners = [(feature.featureID, feature.fields)]
            let components = feature.triggers + feature.queries + feature.actions
            for (owner, fields) in owners + components.map({ ($0.componentID, $0.fields) }) {
                for field in fields where values["\(owner).\(field.id)"] == nil {
                    values["\(owner).\(field.id)"] = field.value
                }
            }
        }
        return values
    }
}
