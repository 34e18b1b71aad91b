/// What happens while people nearby are watched.
public enum NearbyUpdate: Sendable, Hashable {
    /// Somebody came near.
    case arrived(PersonID, Person?)
    /// The service said who somebody is.
    case introduced(PersonID, Person)
    /// Nobody has this number; it is ignored from now on.
    case nobody(PersonID)
    /// Somebody left; what is kept of it.
    case left(PersonID, Person?, Encounter)
    /// Everyone who is near now, the nearest first. Comes with every tick.
    case people([NearbyPerson])
    /// The log could not be read or written. Watching goes on, and writing is tried again.
    case trouble(NearbyError)
}

/// Somebody who is near.
public struct NearbyPerson: Sendable, Hashable {
    public let person: PersonID
    public let known: Person?
    /// Metres; nil when unknown. Beyond a few metres it is noise (beacons dossier 11, row 9).
    public let distance: Double?
    /// The encounter so far.
    public let encounter: Encounter
    /// Seconds since the last sighting.
    public let silence: Double

    /// Describes somebody who is near.
    public init(person: PersonID, known: Person?, distance: Double?, encounter: Encounter, silence: Double) {
        self.person = person
        self.known = known
        self.distance = distance
        self.encounter = encounter
        self.silence = silence
    }
}
