/// A time during which a person stayed near.
public struct Encounter: Sendable, Hashable, Codable {
    /// When the person was first heard: seconds since 1970.
    public var firstSeen: Double
    /// When the person was last heard: seconds since 1970.
    public var lastSeen: Double
    /// The length of the encounter in seconds, measured on a monotonic clock.
    public var duration: Double
    /// The smallest distance in metres; nil when the distance was never known.
    public var closest: Double?
    /// Whether the user was alerted.
    public var wasAnnounced: Bool

    /// Creates an encounter.
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
