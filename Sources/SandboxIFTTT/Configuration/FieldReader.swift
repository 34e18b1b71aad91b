#if Sandbox
import SandboxCore

/// Reads values of fields as partners and pages send them, and collects what is wrong (IFTTT Connect dossier, sections
/// 1.9 and 2.9).
struct FieldReader: Sendable {
    private(set) var details: [Refusal.Detail] = []

    static let choiceMessage = "Choose a value offered by field options"
    /// Metres, for an area that came without.
    static let defaultRadius = 250.0

    mutating func refuse(_ pointer: String, _ message: String) {
        details.append(Refusal.Detail(parameter: pointer, message: message))
    }

    /// A value as it is stored; nil when it does not fit, which is noted.
    mutating func value(_ json: JSON, of field: Field, at pointer: String) -> JSON? {
        switch field.shape {
        case .unknown: return json
        case .text:
            if case .string(let text) = json, !text.isEmpty { return json }
            refuse(pointer, "Expected a text that is not empty")
        case .choice:
            if let option = Self.option(json, of: field) { return option.json }
            refuse(pointer, Self.choiceMessage)
        case .choices:
            guard let elements = json.elements, elements.count <= field.options.count else {
                refuse(pointer, "Expected a list of values offered by field options")
                return nil
            }
            let options = elements.compactMap { Self.option($0, of: field) }
            if options.count == elements.count {
                return .array(options.map { ["label": .string($0.label), "value": .string($0.value)] })
            }
            refuse(pointer, Self.choiceMessage)
        case .location(let hasRadius): return location(json, hasRadius: hasRadius, at: pointer)
        }
        return nil
    }

    /// The option that a bare value or an object with `value` chooses.
    private static func option(_ json: JSON, of field: Field) -> Field.Option? {
        let value = json["value"] ?? json
        guard case .string(let text) = value else { return nil }
        return field.options.first { $0.value == text }
    }

    /// Numbers may come as texts, and under their long names.
    private mutating func location(_ json: JSON, hasRadius: Bool, at pointer: String) -> JSON? {
        let latitude = (json["lat"] ?? json["latitude"])?.decimal
        let longitude = (json["lng"] ?? json["longitude"])?.decimal
        guard let latitude, (-90...90).contains(latitude) else {
            refuse(pointer + "/lat", "Expected degrees from -90 to 90")
            return nil
        }
        guard let longitude, (-180...180).contains(longitude) else {
            refuse(pointer + "/lng", "Expected degrees from -180 to 180")
            return nil
        }
        var location: JSON = ["lat": .decimal(latitude), "lng": .decimal(longitude)]
        if hasRadius {
            let radius = json["radius"].map(\.decimal) ?? Self.defaultRadius
            guard let radius, radius > 0, radius <= 100_000 else {
                refuse(pointer + "/radius", "Expected metres, more than 0 and at most 100000")
                return nil
            }
            location = location.adding("radius", .decimal(radius))
        }
        return location.adding("address", json["address"] ?? .null)
            .adding("description", json["description"] ?? .null).adding("zoom", json["zoom"] ?? .null)
    }

    /// Values by name, such as the `fields` of a run, which override stored ones for once.
    mutating func overrides(_ fields: JSON?, of known: [Field]) {
        guard let fields else { return }
        guard case .object(let members) = fields else { return refuse("/fields", "Expected an object") }
        for member in members {
            guard let field = known.first(where: { $0.id == member.name }) else {
                refuse("/fields/\(Self.escaped(member.name))", "There is no such field")
                continue
            }
            _ = value(member.value, of: field, at: "/fields/\(Self.escaped(member.name))")
        }
    }

    func finish() throws(Refusal) {
        guard details.isEmpty else { throw .invalid(details) }
    }

    /// A name inside a JSON pointer (RFC 6901 section 3).
    static func escaped(_ name: String) -> String {
        name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}

extension JSON {
    /// A number, or a text that is one; nil for infinities and for everything else.
    var decimal: Double? {
        scalarText.flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
    }
}
#endif
