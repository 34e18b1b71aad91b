import IFTTTConnect

/// What is wrong in the form, in words for the customer.
struct ConfigurationProblem: Error {
    let text: String
}

/// The questions of ``ConfigurationScreen``, and what is chosen: at first what the customer has, else what the connection begins with.
struct ConfigurationForm {
    private(set) var connection: Connection?
    private(set) var parts: [Part] = []
    var areas: [String: ChosenArea] = [:]
    var words: [String: String] = [:]
    /// What the customer has, by the names of the questions.
    private var stored: [String: FieldValue] = [:]

    /// What belongs together: an area that is entered is another one than the area that is left.
    struct Part {
        let id: String
        let title: String
        let questions: [Question]
    }

    /// One field.
    struct Question {
        /// Several triggers may have fields of one name, so the owner's identifier comes first.
        let name: String
        let field: FieldDefinition
        /// What can be chosen.
        let options: [FieldValue.Option]

        var title: String { field.label ?? field.id }
    }

    /// A form without questions, until the connection is known.
    init() {}

    /// - Parameters:
    ///   - connection: the connection as the customer has it.
    ///   - options: what can be chosen, by the names of the questions.
    init(_ connection: Connection, options: [String: [FieldValue.Option]]) {
        self.connection = connection
        stored = connection.userConnection?.values ?? [:]
        for feature in connection.features {
            let components = feature.triggers + feature.queries + feature.actions
            let owners = [(feature.id ?? "", feature.title, feature.fields)]
            for (owner, title, fields) in owners + components.map({ ($0.id, $0.label ?? feature.title, $0.fields) }) {
                let questions = fields.filter { !$0.isHidden && $0.type.isAsked }.map { field in
                    let name = "\(owner).\(field.id)"
                    return Question(name: name, field: field, options: options[name] ?? [])
                }
                guard !questions.isEmpty else { continue }
                parts.append(Part(id: owner, title: title, questions: questions))
                for question in questions {
                    switch stored[question.name] ?? question.field.defaultValue {
                    case .location(let area): areas[question.name] = ChosenArea(area)
                    case .text(let word): words[question.name] = word
                    case .option(let option): words[question.name] = option.value
                    case .options, .other, nil: break
                    }
                }
            }
        }
    }

    /// Each trigger, query and action with something to choose from a list: whose options have to be fetched.
    static func owners(in connection: Connection) -> [(id: String, owner: FieldOwner)] {
        func found(
            _ components: [Connection.Component], _ owner: (ComponentSlug) -> FieldOwner
        ) -> [(id: String, owner: FieldOwner)] {
            components.compactMap { component in
                guard let service = component.serviceID, let name = component.kindID,
                    component.fields.contains(where: { $0.type == .select })
                else { return nil }
                return (component.id, owner(ComponentSlug(service: service, name: name)))
            }
        }
        return connection.features.flatMap { feature in
            found(feature.triggers) { .trigger($0) } + found(feature.queries) { .query($0) }
                + found(feature.actions) { .action($0) }
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

extension FieldType {
    /// Whether a value is an area on the map.
    var asksForArea: Bool { crossings != nil || self == .area }

    /// Whether the screen has a field for it; every other kind stays as it is.
    fileprivate var isAsked: Bool { asksForArea || [.select, .text, .textArea].contains(self) }
}

extension UserConnection {
    /// What the customer has chosen, by the names of the questions: of each feature the first configuration that is on.
    fileprivate var values: [String: FieldValue] {
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
