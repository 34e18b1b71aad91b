/// How sure it is who a person is (circles dossier 3 and 7).
public enum Trust: Int, Sendable, Hashable, Comparable, CaseIterable, Codable {
    /// A plain number, four bytes of an identifier, or a member whose identity changed.
    ///
    /// Any device can send these.
    case unverified = 0
    /// A member of a circle sends what the circle's table names as the person's.
    ///
    /// That is no proof of who it is. Every member has the table, and its keys are symmetric: a member can send the identifiers of
    /// another one (circles dossier 1). People who are no members cannot. Only pairing is evidence.
    case circle = 1
    /// The user and the person have exchanged keys themselves.
    ///
    /// Only their devices have the keys, and others to whom the person gave them.
    case paired = 2

    /// Reads a stored trust. One that this version does not know counts as unverified.
    public init(from decoder: any Decoder) throws {
        self = try Trust(rawValue: decoder.singleValueContainer().decode(Int.self)) ?? .unverified
    }

    /// A stable word for programs, which people understand too.
    package var word: String {
        switch self {
        case .unverified: "unverified"
        case .circle: "circle"
        case .paired: "paired"
        }
    }

    public static func < (left: Trust, right: Trust) -> Bool { left.rawValue < right.rawValue }

    /// How many people of each kind are tracked concurrently. No kind takes the place of another, so that a crowd of one
    /// hides no person of another.
    var places: Int {
        switch self {
        case .unverified: 512
        case .circle: 1_280
        case .paired: 256
        }
    }
}
