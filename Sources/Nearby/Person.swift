/// What is known of a person besides the number. All of it came from a service or from the person: show it escaped.
public struct Person: Sendable, Hashable, Codable {
    /// The name to show.
    public var name: String
    /// The batch to show, in short: `S1'14`.
    public var batch: String?
    /// A picture on this machine.
    public var photo: String?
    /// The person's page; `https` only.
    public var page: String?

    /// Describes a person.
    public init(name: String, batch: String? = nil, photo: String? = nil, page: String? = nil) {
        self.name = name
        self.batch = batch
        self.photo = photo
        self.page = page
    }
}

/// What came of asking who somebody is.
public enum Introduction: Sendable, Hashable {
    /// The person is known.
    case known(Person)
    /// The service says that nobody has this number: somebody's beacon is wrong, or lies.
    case nobody
    /// It could not be asked now. The encounter is kept and the name may follow.
    case unreachable
}
