import IFTTTConnect

/// What is wrong in the form, in words for the customer.
struct ConfigurationProblem: Error {
    let text: String
}

/// The questions of ``ConfigurationScreen``, and what is chosen: at first what the customer has, else what the connection begins with.
struct ConfigurationForm {
    private(set) var connection: Connection?
    private(set) var parts: [ConfigurationQuestions.Part] = []
    var areas: [String: ChosenArea] = [:]
    var words: [String: String] = [:]
    /// What the customer has, by the names of the questions.
    private var stored: [String: FieldValue] = [:]

    /// A form without questions, until the connection is known.
    init() {}

    /// - Parameters:
    ///   - connection: the connection as the customer has it.
    ///   - options: what can be chosen, by the names of the questions.
    init(_ connection: Connection, options: [String: [FieldValue.Option]]) {
        self.connection = connection
        stored = connection.userConnection?.values ?? [:]
        parts = ConfigurationQuestions(connection, options: options).parts
        for question in parts.flatMap(\.questions) {
            switch question.value {
            case .location(let area): areas[question.name] = ChosenArea(area)
            case .text(let word): words[question.name] = word
            case .option(let option): words[question.name] = option.value
            case .options, .other, nil: break
            }
        }
    }

    /// The whole configuration that IFTTT is to store. What the screen has no field for stays as it is.
    func configuration() throws(ConfigurationProblem) -> UserConnection {
        var features: [UserConnection.UserFeature] = []
        for feature in connection?.features ?? [] {
            let id = feature.id ?? ""
            features.append(
                UserConnection.UserFeature(
                    featureID: id, fields: try values(feature.fields, of: id),
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
            chosen.append(.init(componentID: component.id, fields: try values(component.fields, of: component.id)))
        }
        return chosen
    }

    private func values(
        _ definitions: [FieldDefinition], of owner: String
    ) throws(ConfigurationProblem) -> [UserConnection.UserField] {
        var values: [UserConnection.UserField] = []
        for field in definitions {
            guard let value = try value(of: field, named: "\(owner).\(field.id)") else { continue }
            values.append(.init(id: field.id, type: field.type, value: value))
        }
        return values
    }

    private func value(of field: FieldDefinition, named name: String) throws(ConfigurationProblem) -> FieldValue? {
        let title = field.label ?? field.id
        guard !field.isHidden, field.type.isAsked else { return stored[name] ?? field.defaultValue }
        if field.type.asksForArea {
            guard let area = areas[name]?.value else {
                throw ConfigurationProblem(text: "\(title): choose an area, with a radius above 0.")
            }
            return .location(area)
        }
        if let word = words[name], !word.isEmpty { return .text(word) }
        guard !field.isRequired else { throw ConfigurationProblem(text: "\(title): choose a value.") }
        return nil
    }
}
