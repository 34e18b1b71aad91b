#if Sandbox
import SandboxCore

/// The JSON of a connection (IFTTT Connect dossier, section 1.1).
struct ConnectionDocument: Sendable {
    let connection: Connection
    let services: [Service]
    let origin: String

    /// - Parameters:
    ///   - status: `user_status`; nil when no user could be determined.
    ///   - userConnection: present only for a user who has it enabled.
    func json(status: String?, userConnection: UserConnection?) -> JSON {
        let json: JSON = [
            "type": "connection", "id": .string(connection.id), "name": .string(connection.name),
            "description": .string(connection.description), "url": .string("\(origin)/connections/\(connection.id)"),
            "embedded_url": .string("\(origin)/access/api/\(connection.id)"),
            "enabled_count": .number(connection.enabledCount), "user_status": JSON(status),
            "services": .array(services.map(service)), "cover_image": cover,
            "value_propositions": .array(
                connection.valuePropositions.map {
                    ["description": .string($0), "icon_url": .string("\(origin)/assets/feature_value.png")]
                }),
            "features": .array(connection.features.map(feature)),
        ]
        return json.adding("user_connection", userConnection?.json)
    }

    private var cover: JSON {
        guard connection.hasCover else { return .null }
        // Every second size is missing, as the model must bear (section 1.5).
        return .object(
            ImageRoutes.coverWidths.map { width in
                let url = "\(origin)/assets/cover\(width).png"
                return JSON.Member(name: "\(width)w_url", value: width == 720 ? .null : .string(url))
            })
    }

    private func service(_ service: Service) -> JSON {
        let folder = service.hasIcons ? "assets" : "assets/missing"
        var json: JSON = [
            "service_id": .string(service.id), "service_name": .string(service.name),
            "service_short_name": .string(service.shortName),
            "is_primary": .bool(service.id == connection.ownerID),
            "monochrome_icon_url": .string("\(origin)/\(folder)/\(service.id)_mono.png"),
            "color_icon_url": .string("\(origin)/\(folder)/\(service.id).png"),
            "brand_color": .string(service.brandColor), "url": .string("\(origin)/\(service.id)"),
        ]
        for kind in Capability.Kind.allCases {
            let own = connection.features.flatMap(\.capabilities).filter {
                $0.kind == kind && $0.serviceID == service.id
            }
            json = json.adding(kind.plural, .array(own.map { developerView(of: $0) }))
        }
        return json
    }

    private func developerView(of capability: Capability) -> JSON {
        [
            "id": .string(capability.name), "label": .string(capability.label),
            "field_options_url": .string(optionsURL(capability.kind.plural, capability.slug)),
            "run_url": runURL(capability), "fields": .array(capability.fields.map(\.json)),
        ]
    }

    private func feature(_ feature: Feature) -> JSON {
        var json: JSON = [
            "id": .string(feature.id), "title": .string(feature.title), "description": JSON(feature.description),
            "icon_url": feature.hasIcon ? .string("\(origin)/assets/feature_\(feature.id).png") : .null,
            "field_options_url": .string(optionsURL("features", feature.id)),
            "fields": .array(feature.fields.map(\.json)),
        ]
        for kind in Capability.Kind.allCases {
            let own = feature.capabilities.filter { $0.kind == kind }
            json = json.adding("feature_\(kind.plural)", .array(own.map { part($0, of: feature) }))
        }
        return json
    }

    private func part(_ capability: Capability, of feature: Feature) -> JSON {
        let nested = "features/\(feature.id)/\(capability.kind.plural)"
        // One feature uses the nested form of the address, so that clients meet both.
        let kinds = feature.fields.isEmpty ? capability.kind.plural : nested
        return .object([
            JSON.Member(name: "id", value: .string(capability.id)),
            JSON.Member(name: "\(capability.kind.rawValue)_id", value: .string(capability.name)),
            JSON.Member(name: "service_id", value: .string(capability.serviceID)),
            JSON.Member(name: "label", value: .string(capability.label)),
            JSON.Member(name: "field_options_url", value: .string(optionsURL(kinds, capability.slug))),
            JSON.Member(name: "run_url", value: runURL(capability)),
            JSON.Member(name: "fields", value: .array(capability.fields.map(\.json))),
        ])
    }

    private func optionsURL(_ kind: String, _ id: String) -> String {
        "\(origin)/v2/connections/\(connection.id)/\(kind)/\(id)/field_options"
    }

    private func runURL(_ capability: Capability) -> JSON {
        guard capability.isRunnable, capability.kind != .trigger else { return .null }
        let verb = capability.kind == .query ? "perform" : "run"
        return .string("\(origin)/v2/connections/\(connection.id)/\(capability.kind.plural)/\(capability.slug)/\(verb)")
    }
}
#endif
