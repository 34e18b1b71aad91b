/// A trigger, query or action of a service (dossier 2.9 and 2.11). Paths and webhooks name it as in
/// `lumen_garden.start_drip`.
public struct ComponentSlug: Sendable, Hashable {
    public let service: String
    public let name: String

    public init(service: String, name: String) {
        self.service = service
        self.name = name
    }
}

extension ComponentSlug: LosslessStringConvertible {
    /// Parses the service before the first period and the name after it. Nil when either is missing.
    public init?(_ description: String) {
        guard let period = description.firstIndex(of: ".") else { return nil }
        let name = description[description.index(after: period)...]
        guard period > description.startIndex, !name.isEmpty else { return nil }
        self.init(service: String(description[..<period]), name: String(name))
    }

    public var description: String { "\(service).\(name)" }
}

extension ComponentSlug {
    var segment: String {
        get throws(ConnectError) {
            guard !service.isEmpty, !name.isEmpty else {
                throw .input(member: "slug", problem: "expected a service and a name, such as lumen_garden.start_drip")
            }
            return try Hosts.segment(description, "slug")
        }
    }
}
