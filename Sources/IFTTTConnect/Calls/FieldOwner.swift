import OAuth

/// The owner of fields (dossier 2.9).
public enum FieldOwner: Sendable, Hashable {
    /// A trigger; with a feature, as part of that feature.
    case trigger(ComponentSlug, feature: String? = nil)
    /// A query; with a feature, as part of that feature.
    case query(ComponentSlug, feature: String? = nil)
    /// An action; with a feature, as part of that feature.
    case action(ComponentSlug, feature: String? = nil)
    case feature(String)

    /// The owner that a URL of field options names. The URL is a ``Connection/Component/fieldOptionsURL`` or a
    /// ``Connection/Feature/fieldOptionsURL``.
    ///
    /// Only the path is read: the request goes to the configured host, with the token or the key, whatever host the answer
    /// names.
    ///
    /// - Returns: nil for a URL of another connection, or of an undocumented form.
    public init?(_ address: WebAddress, in connection: ConnectionID) {
        guard let scheme = address.rawValue.firstRange(of: "://") else { return nil }
        let rest = address.rawValue[scheme.upperBound...]
        var segments: [String] = []
        for segment in rest.prefix(while: { $0 != "?" && $0 != "#" }).split(
            separator: "/", omittingEmptySubsequences: false
        ).dropFirst() {
            guard let segment = QueryEncoding.decode(segment.utf8) else { return nil }
            segments.append(segment)
        }
        guard segments.starts(with: ["v2", "connections", connection.rawValue]), segments.last == "field_options"
        else { return nil }
        self.init(path: segments.dropFirst(3).dropLast())
    }

    private init?(path: ArraySlice<String>) {
        let parts = Array(path)
        switch (parts.count, parts.first) {
        case (2, "features"):
            guard !parts[1].isEmpty else { return nil }
            self = .feature(parts[1])
        case (2, _): self.init(kind: parts[0], slug: parts[1], feature: nil)
        case (4, "features"):
            guard !parts[1].isEmpty else { return nil }
            self.init(kind: parts[2], slug: parts[3], feature: parts[1])
        default: return nil
        }
    }

    private init?(kind: String, slug: String, feature: String?) {
        guard let slug = ComponentSlug(slug) else { return nil }
        switch kind {
        case "triggers": self = .trigger(slug, feature: feature)
        case "queries": self = .query(slug, feature: feature)
        case "actions": self = .action(slug, feature: feature)
        default: return nil
        }
    }

    var path: String {
        get throws(ConnectError) {
            switch self {
            case .trigger(let slug, let feature): try Self.prefix(feature) + "triggers/" + (try slug.segment)
            case .query(let slug, let feature): try Self.prefix(feature) + "queries/" + (try slug.segment)
            case .action(let slug, let feature): try Self.prefix(feature) + "actions/" + (try slug.segment)
            case .feature(let id): "features/" + (try Hosts.segment(id, "feature"))
            }
        }
    }

    private static func prefix(_ feature: String?) throws(ConnectError) -> String {
        guard let feature else { return "" }
        return "features/" + (try Hosts.segment(feature, "feature")) + "/"
    }
}
