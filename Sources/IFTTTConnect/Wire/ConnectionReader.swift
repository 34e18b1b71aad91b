import Handshake
import OAuth

extension Connection {
    /// Parses an answer (dossier 1.1 and 1.2). It is a connection, or a list whose first element is one.
    ///
    /// - Throws: ``ConnectError/malformed(answer:member:expected:found:)`` for content without `id`, `name`, `description` or
    ///   `url`, or without a valid primary service.
    public init(parsing content: [UInt8], answer: String = "connection") throws(ConnectError) {
        try self.init(ConnectError.json(content, of: answer), answer: answer)
    }

    init(_ value: JSONValue, answer: String) throws(ConnectError) {
        var members = try Members(value, answer: answer)
        if members.text("type") == "list" {
            guard let first = members.list("data").first else { throw members.wrong("data", expected: "a connection") }
            members = try Members(first, answer: answer, place: "data[0]")
        }
        guard let id = ConnectionID(rawValue: try members.requiredText("id")) else {
            throw members.wrong("id", expected: "an identifier")
        }
        guard let url = members.address("url") else { throw members.wrong("url", expected: "a web address") }
        let connection = Connection(
            id: id, name: try members.requiredText("name"), description: try members.requiredText("description"),
            url: url, status: Status(wire: members.text("user_status")),
            services: members.objects("services", Service.init(reading:)),
            coverImage: members["cover_image"]?.object.map { CoverImage(reading: Members($0)) },
            features: members.objects("features", Feature.init(reading:)),
            valuePropositions: members.objects("value_propositions", ValueProposition.init(reading:)),
            userConnection: members["user_connection"]?.object.map { UserConnection(reading: Members($0)) })
        guard let connection else { throw members.wrong("services", expected: "a primary service among them") }
        self = connection
    }
}

extension Connection.Status {
    /// Parses the service's spelling; null, absence and new values are unknown (dossier 1.3).
    init(wire: String?) {
        self = wire.flatMap(Self.init(rawValue:)) ?? .unknown
    }
}

extension Connection.Service {
    init?(reading members: Members) {
        guard let id = members.text("service_id"), let name = members.text("service_name"),
            let shortName = members.text("service_short_name"), let icon = members.address("monochrome_icon_url"),
            let url = members.address("url"), let color = members.text("brand_color")
        else { return nil }
        self.init(
            id: id, name: name, shortName: shortName, isPrimary: members.bool("is_primary") ?? false,
            monochromeIconURL: icon, colorIconURL: members.address("color_icon_url"),
            brandColor: BrandColor(reading: color), url: url,
            triggers: members.objects("triggers") { Connection.Component(reading: $0, kind: nil) },
            queries: members.objects("queries") { Connection.Component(reading: $0, kind: nil) },
            actions: members.objects("actions") { Connection.Component(reading: $0, kind: nil) })
    }
}

extension Connection.Component {
    /// - Parameter kind: the member with the component of the service; nil in a service's list.
    init?(reading members: Members, kind: String?) {
        guard let id = members.text("id") else { return nil }
        self.init(
            id: id, kindID: kind.flatMap(members.text), serviceID: members.text("service_id"),
            label: members.text("label"), fieldOptionsURL: members.address("field_options_url"),
            runURL: members.address("run_url"), fields: members.objects("fields", FieldDefinition.init(reading:)))
    }
}

extension Connection.Feature {
    init?(reading members: Members) {
        guard let title = members.text("title"), let icon = members.address("icon_url") else { return nil }
        self.init(
            id: members.text("id"), title: title, details: members.text("description"), iconURL: icon,
            fieldOptionsURL: members.address("field_options_url"),
            fields: members.objects("fields", FieldDefinition.init(reading:)),
            triggers: members.objects("feature_triggers") { Connection.Component(reading: $0, kind: "trigger_id") },
            queries: members.objects("feature_queries") { Connection.Component(reading: $0, kind: "query_id") },
            actions: members.objects("feature_actions") { Connection.Component(reading: $0, kind: "action_id") })
    }
}

extension Connection.ValueProposition {
    init?(reading members: Members) {
        guard let description = members.text("description"), let icon = members.address("icon_url") else { return nil }
        self.init(description: description, iconURL: icon)
    }
}

extension Connection.CoverImage {
    init(reading members: Members) {
        let found = Self.widths.compactMap { width in members.address("\(width)w_url").map { (width, $0) } }
        self.init(urls: Dictionary(found) { first, _ in first })
    }
}

extension FieldDefinition {
    init?(reading members: Members) {
        guard let id = members.text("id") else { return nil }
        self.init(
            id: id, label: members.text("label"), type: FieldType(rawValue: members.text("type") ?? ""),
            isRequired: members.bool("required") ?? false, isHidden: members.bool("hidden") ?? false,
            defaultValue: members["default_value"].map(FieldValue.init(json:)))
    }
}

extension UserConnection {
    init(reading members: Members) {
        self.init(features: members.objects("user_features", UserFeature.init(reading:)))
    }
}

extension UserConnection.UserFeature {
    init?(reading members: Members) {
        guard let featureID = members.text("feature_id") else { return nil }
        // Only a literal true means on (dossier 1.8).
        self.init(
            id: members.text("id"), featureID: featureID, isEnabled: members["enabled"] == .bool(true),
            fields: members.objects("user_fields", UserConnection.UserField.init(reading:)),
            triggers: members.objects("user_feature_triggers") {
                UserConnection.UserComponent(reading: $0, name: "feature_trigger_id")
            },
            queries: members.objects("user_feature_queries") {
                UserConnection.UserComponent(reading: $0, name: "feature_query_id")
            },
            actions: members.objects("user_feature_actions") {
                UserConnection.UserComponent(reading: $0, name: "feature_action_id")
            })
    }
}

extension UserConnection.UserComponent {
    init?(reading members: Members, name: String) {
        guard let componentID = members.text(name) else { return nil }
        self.init(
            id: members.text("id"), componentID: componentID,
            fields: members.objects("user_fields", UserConnection.UserField.init(reading:)))
    }
}

extension UserConnection.UserField {
    init?(reading members: Members) {
        guard let id = members.text("field_id"), let value = members["value"] else { return nil }
        self.init(
            id: id, type: members.text("field_type").map(FieldType.init(rawValue:)), value: FieldValue(json: value))
    }
}
