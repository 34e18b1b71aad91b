public import Beacons

/// An event while people nearby are watched.
public enum NearbyUpdate: Sendable, Hashable {
    /// A person came near.
    case arrived(UserNumber, Person?)
    /// The service identified a person.
    case introduced(UserNumber, Person)
    /// The service has no person with this number; it is ignored for an hour.
    case unknown(UserNumber)
    /// A person left; with the encounter as stored.
    case left(UserNumber, Person?, Encounter)
    /// Everyone who is near, nearest first. Sent with every tick.
    case people([NearbyPerson])
    /// A person who was heard is left out, and why. Told at most once a minute.
    case leftOut(LeftOut)
    /// The log could not be read or written. Watching continues, and writing is retried.
    case logFailed(NearbyError)

    /// Why a person who was heard is left out.
    public enum LeftOut: String, Sendable, Hashable {
        /// One transmitter sends the numbers of several people.
        case oneTransmitter = "one_transmitter"
        /// More people are heard than are tracked.
        case tooMany = "too_many"
    }
}

/// A person who is near.
public struct NearbyPerson: Sendable, Hashable {
    public let person: UserNumber
    public let known: Person?
    /// Metres; nil when unknown. Beyond a few metres it is noise (beacons dossier 11, row 9).
    public let distance: Double?
    /// The distance's range, smoothed.
    public let proximity: Proximity
    /// The encounter so far.
    public let encounter: Encounter
    /// Seconds since the last sighting.
    public let silence: Double
    /// Whether a friend's key proves who it is; any sender can use a plain number.
    public let isVerified: Bool

    /// Creates a person who is near.
    public init(
        person: UserNumber, known: Person?, distance: Double?, proximity: Proximity, encounter: Encounter,
        silence: Double, isVerified: Bool
    ) {
        self.person = person
        self.known = known
        self.distance = distance
        self.proximity = proximity
        self.encounter = encounter
        self.silence = silence
        self.isVerified = isVerified
    }
}
