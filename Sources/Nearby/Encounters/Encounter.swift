public import Beacons

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
    /// The strongest signal in dBm, smoothed; nil when it was never measured.
    public var strongest: Double?
    /// Whether the user was alerted.
    public var wasAnnounced: Bool
    /// The highest trust in this encounter; nil when it is not known.
    ///
    /// Any device can send a number that is unverified: the person may not have been near. Logs of earlier versions do not say.
    public var trust: Trust?

    /// Creates an encounter.
    public init(
        firstSeen: Double, lastSeen: Double, duration: Double, closest: Double? = nil, strongest: Double? = nil,
        wasAnnounced: Bool = false, trust: Trust? = nil
    ) {
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.duration = duration
        self.closest = closest
        self.strongest = strongest
        self.wasAnnounced = wasAnnounced
        self.trust = trust
    }
}

extension Encounter {
    /// Whether a key verified the person. It is false where the trust is not known.
    var isVerified: Bool { (trust ?? .unverified) > .unverified }

    /// How near the person came. Rough where ``closest`` is nil: it follows from the strongest signal then.
    public var proximity: Proximity { Proximity(metres: estimatedDistance) }

    /// The smallest distance in metres, a rough one where it was never known, and nil without a signal; for order only.
    package var estimatedDistance: Double? { closest ?? DistanceFormula.standard.roughMetres(rssi: strongest) }

    /// Merges what another run or process has stored of the same encounter.
    mutating func merge(_ other: Encounter) {
        firstSeen = min(firstSeen, other.firstSeen)
        duration = max(duration, other.duration)
        takeExtremes(of: other)
    }

    /// Takes over the smallest distance, the strongest signal, the highest trust, and that the user was alerted.
    mutating func takeExtremes(of other: Encounter) {
        closest = [closest, other.closest].compactMap(\.self).min()
        strongest = [strongest, other.strongest].compactMap(\.self).max()
        wasAnnounced = wasAnnounced || other.wasAnnounced
        trust = [trust, other.trust].compactMap(\.self).max()
    }
}
