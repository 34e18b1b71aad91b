/// An area that a trigger of a user's connection monitors (dossier 1.8).
public struct LocationTrigger: Sendable, Hashable, Codable {
    /// The trigger's subscription, as in location events and webhooks.
    public let subscriptionID: String
    /// The area, always with a radius.
    public let area: LocationValue
    /// The monitored crossings; nil when the service did not say.
    public let type: FieldType?
}

extension Connection {
    /// The default areas of triggers (dossier 1.7; 10.2, W28). They are those of each feature's triggers: the first
    /// field named `location`, in either spelling of its coordinates.
    public var defaultAreas: [LocationValue] {
        features.flatMap(\.triggers).compactMap { trigger in
            guard case .location(let area)? = trigger.fields.first(where: { $0.id == "location" })?.defaultValue,
                area.radius != nil
            else { return nil }
            return area
        }
    }

    /// Whether the connection monitors areas.
    public var usesLocation: Bool { !defaultAreas.isEmpty }
}

extension UserConnection {
    /// The areas monitored for the user (dossier 1.8). They are, for each enabled feature, each trigger's fields named
    /// `location` that have an area.
    public var locationTriggers: [LocationTrigger] {
        features.filter(\.isEnabled).flatMap(\.triggers).flatMap { trigger -> [LocationTrigger] in
            guard let id = trigger.id else { return [] }
            return trigger.fields.compactMap { field in
                guard field.id == "location", case .location(let area) = field.value, area.radius != nil else {
                    return nil
                }
                return LocationTrigger(subscriptionID: id, area: area, type: field.type)
            }
        }
    }
}

/// A trigger of the user with its area.
public struct UserTrigger: Sendable, Hashable {
    /// The trigger's subscription.
    public let id: String
    /// The trigger, such as `location.exit_region_location`. Nil when the service does not say.
    public let slug: ComponentSlug?
    public let area: LocationValue
}

extension Connection {
    /// The user's triggers that have an area, in the service's order. They belong to enabled features.
    public var userTriggers: [UserTrigger] {
        let components = Dictionary(
            features.flatMap(\.triggers).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let enabled = userConnection?.features.filter(\.isEnabled) ?? []
        return enabled.flatMap(\.triggers).flatMap { trigger -> [UserTrigger] in
            guard let id = trigger.id else { return [] }
            let component = components[trigger.componentID]
            var slug: ComponentSlug?
            if let service = component?.serviceID, let kind = component?.kindID {
                slug = ComponentSlug(service: service, name: kind)
            }
            return trigger.fields.compactMap { field in
                guard field.id == "location", case .location(let area) = field.value, area.radius != nil else {
                    return nil
                }
                return UserTrigger(id: id, slug: slug, area: area)
            }
        }
    }
}
