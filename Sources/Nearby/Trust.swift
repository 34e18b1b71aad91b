/// How sure it is who a person is (circles dossier 3 and 7).
///
/// The order is that of how few devices can send what recognises the person.
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
    /// Keys that came in a file recognise the person.
    ///
    /// Only devices of those who have the file can send these. The file names the person, and does not show who made it: only the
    /// fingerprint that both compare does (``RollingKeys/Shared/fingerprint``).
    case file = 3
    /// The user and the person have paired, and compared digits in person.
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
        case .file: "file"
        case .paired: "paired"
        }
    }

    public static func < (left: Trust, right: Trust) -> Bool { left.rank < right.rank }

    /// The numbers of the cases are stored, so a later one may belong between earlier ones.
    private var rank: Int {
        switch self {
        case .unverified: 0
        case .circle: 1
        case .file: 2
        case .paired: 3
        }
    }

    /// Whether no circle's table has the person's keys.
    ///
    /// Others may have them all the same: those who have the file, and those to whom the person has given keys.
    var isFriend: Bool { self >= .file }

    /// Whether a photo of the person may be shown.
    ///
    /// A face would make an attacker more believable who sends another person's number or identifier, or names another person in a
    /// file of keys.
    public var showsFace: Bool {
        switch self {
        case .unverified, .file: false
        case .circle, .paired: true
        }
    }

    /// How many people of each kind are tracked concurrently. No kind takes the place of another, so that a crowd of one
    /// hides no person of another.
    var places: Int {
        switch self {
        case .unverified: 512
        case .circle: 1_280
        case .file, .paired: 256
        }
    }
}
