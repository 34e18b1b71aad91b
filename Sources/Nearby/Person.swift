/// A person's profile. Every text comes from a service or from the person: escape it before display.
public struct Person: Sendable, Hashable, Codable {
    /// The name to show.
    public var name: String
    /// The batch in short form: `S1'14`.
    public var batch: String?
    /// The URL of the person's page; `https` only.
    public var page: String?

    /// Creates a profile.
    public init(name: String, batch: String? = nil, page: String? = nil) {
        self.name = name
        self.batch = batch
        self.page = page
    }
}

/// The result of looking up a number.
public enum Introduction: Sendable, Hashable {
    /// The person's profile.
    case known(Person)
    /// The service has no user with this number: the beacon is misconfigured or forged.
    case unknown
    /// The service could not be reached. The encounter is stored, and the name may follow.
    case unreachable
}
