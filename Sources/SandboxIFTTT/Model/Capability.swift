#if Sandbox
import SandboxCore

/// A trigger, query or action inside a feature (IFTTT Connect dossier, section 1.7).
struct Capability: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case trigger, query, action

        /// The word in paths and service objects: `triggers`, `queries`, `actions`.
        var plural: String {
            self == .query ? "queries" : rawValue + "s"
        }
    }

    let id: String
    let kind: Kind
    let serviceID: String
    /// The name within its service, such as `start_drip`.
    let name: String
    let label: String
    var fields: [Field] = []
    /// Whether the partner may run it; triggers never can be.
    var isRunnable = true

    /// `service_id.name`, as paths and webhooks write it.
    var slug: String { "\(serviceID).\(name)" }
}

/// One feature of a connection.
struct Feature: Sendable {
    let id: String
    let title: String
    var description: String?
    var hasIcon = true
    /// Whether the configuration page has it ticked at first.
    var isOnAtFirst = true
    var fields: [Field] = []
    var capabilities: [Capability] = []
}

/// A connection as its owner defined it (section 1.1).
struct Connection: Sendable {
    let id: String
    let name: String
    let description: String
    /// The primary service first.
    let serviceIDs: [String]
    var hasCover = false
    /// Deprecated; one fixture still has them (section 1.6).
    var valuePropositions: [String] = []
    var enabledCount = 0
    let features: [Feature]
    /// What the fixture is for.
    let note: String

    var ownerID: String { serviceIDs[0] }

    func feature(_ id: String) -> Feature? {
        features.first { $0.id == id }
    }

    /// The first capability of that kind and slug, and its feature.
    func capability(_ kind: Capability.Kind, slug: String) -> (feature: Feature, capability: Capability)? {
        for feature in features {
            if let found = feature.capabilities.first(where: { $0.kind == kind && $0.slug == slug }) {
                return (feature, found)
            }
        }
        return nil
    }
}
#endif
