import IFTTTConnect

/// What a customer has configured before, for the fields of a form.
extension UserConnection {
    /// The area of the first configuration that is on.
    var area: LocationValue? {
        fields.lazy.compactMap { field in
            if case .location(let area) = field.value { area } else { nil }
        }.first
    }

    /// The texts and choices of the first configuration that is on, by field.
    var texts: [String: String] {
        Dictionary(
            fields.compactMap { field in
                switch field.value {
                case .text(let text): (field.id, text)
                case .option(let option): (field.id, option.value)
                case .options, .location, .other: nil
                }
            },
            uniquingKeysWith: { first, _ in first })
    }

    private var fields: [UserField] {
        guard let feature = features.first(where: \.isEnabled) else { return [] }
        return feature.fields + (feature.triggers + feature.queries + feature.actions).flatMap(\.fields)
    }
}
