public import Beacons

/// What happens while people nearby are watched.
public enum NearbyUpdate: Sendable, Hashable {
    /// Somebody came near.
    case arrived(UserNumber, Person?)
    /// The service said who somebody is.
    case introduced(UserNumber, Person)
    /// The service knows nobody of this number; it is ignored for an hour.
    case nobody(UserNumber)
    /// Somebody left; what is kept of it.
    case left(UserNumber, Person?, Encounter)
    /// Everyone who is near now, the nearest first. Comes with every tick.
    case people([NearbyPerson])
    /// The log could not be read or written. Watching goes on, and writing is tried again.
    case trouble(NearbyError)
}

/// Somebody who is near.
public struct NearbyPerson: Sendable, Hashable {
    public let person: UserNumber
    public let known: Person?
    /// Metres; nil when unknown. Beyond a few metres it is noise (beacons dossier 11, row 9).
    public let distance: Double?
    /// How near that is, steadied.
    public let proximity: Proximity
    /// The encounter so far.
    public let encounter: Encounter
    /// Seconds since the last sighting.
    public let silence: Double

    /// Describes somebody who is near.
    public init(
        person: UserNumber, known: Person?, distance: Double?, proximity: Proximity, encounter: Encounter,
        silence: Double
    ) {
        self.person = person
        self.known = known
        self.distance = distance
        self.proximity = proximity
        self.encounter = encounter
        self.silence = silence
    }
}
