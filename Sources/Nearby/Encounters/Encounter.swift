/// A time during which a person was near without a longer break.
public struct Encounter: Sendable, Hashable, Codable {
    /// When the person was first heard: seconds since 1970.
    public var firstSeen: Double
    /// When the person was last heard: seconds since 1970.
    public var lastSeen: Double
    /// How long it lasted, in seconds, by a clock that does not jump with the calendar's.
    public var duration: Double
    /// The smallest distance in metres; nil when none was ever known.
    public var closest: Double?
    /// Whether the user was told.
    public var wasAnnounced: Bool

    /// Describes an encounter.
    public init(
        firstSeen: Double, lastSeen: Double, duration: Double, closest: Double? = nil, wasAnnounced: Bool = false
    ) {
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.duration = duration
        self.closest = closest
        self.wasAnnounced = wasAnnounced
    }
}
