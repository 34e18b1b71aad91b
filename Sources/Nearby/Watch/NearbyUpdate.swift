public import Beacons
public import Circles

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
    /// Everyone who is near. Sent with every tick.
    ///
    /// Friends come first, then members, then unverified people; suspect people come last, also members. Within each kind the nearest
    /// come first. A list that is too long for its place is cut at its end, so what any device can send hides no member who is not
    /// suspect.
    case people([NearbyPerson])
    /// People of a kind are left out, because its places are taken.
    ///
    /// At most once a minute. `leftOut` counts packets and sightings since it was last told: a sender can raise it at will, and it is no
    /// number of people.
    case full(Trust, places: Int, leftOut: Int)
    /// One transmitter is several people, who are listed only. Told at most once a minute.
    case oneTransmitter
    /// Another device repeats the user's own identifier. Told at most once a minute.
    case repeatedSignal
    /// The log could not be read or written. Watching continues, and writing is retried.
    case logFailed(NearbyError)
}

/// A person who is near.
public struct NearbyPerson: Sendable, Hashable {
    public let person: UserNumber
    public let known: Person?
    /// Metres; nil when unknown. Beyond a few metres it is noise (beacons dossier 11, row 9).
    public let distance: Double?
    /// The distance's range, smoothed; see ``isRough``.
    public let proximity: Proximity
    /// The encounter so far.
    public let encounter: Encounter
    /// How sure it is who it is; any sender can use a plain number.
    public let trust: Trust
    /// The circle whose keys recognise the person, and whose name and photo count.
    ///
    /// Nil for a friend, and for a plain number, which any device can send.
    public let circle: CircleScope?
    /// Whether every transmitter of the person sends for too many people.
    public let isSuspect: Bool
    /// Whether another device may relay the person's identifier.
    ///
    /// Two transmitters send it at the same time, or the one that sends it is several people whom keys verify. There is no distance
    /// then.
    public let isRelayed: Bool
    /// The smoothed signal strength in dBm; nil when it was not measured.
    public let rssi: Double?

    /// Creates a person who is near.
    public init(
        person: UserNumber, known: Person?, distance: Double?, proximity: Proximity, encounter: Encounter,
        trust: Trust, circle: CircleScope? = nil, isSuspect: Bool = false, isRelayed: Bool = false, rssi: Double? = nil
    ) {
        self.person = person
        self.known = known
        self.distance = distance
        self.proximity = proximity
        self.encounter = encounter
        self.trust = trust
        self.circle = circle
        self.isSuspect = isSuspect
        self.isRelayed = isRelayed
        self.rssi = rssi
    }
}

extension NearbyPerson {
    /// Whether the proximity is a guess.
    ///
    /// The sender states no power then, so a usual one is assumed.
    public var isRough: Bool { proximity.isRough(at: distance) }

    /// The distance, a rough one where the sender states no power, in metres; for order only. Nil without a signal.
    package var estimatedDistance: Double? { distance ?? DistanceFormula.standard.roughMetres(rssi: rssi) }

    /// The order of a list, which is cut where there is room for some only: no invention, however near it says that it is, may come
    /// before a person whom a key verifies and who is not suspect.
    static func comesFirst(_ left: NearbyPerson, _ right: NearbyPerson) -> Bool {
        guard left.isSuspect == right.isSuspect else { return right.isSuspect }
        guard left.trust == right.trust else { return left.trust > right.trust }
        return (left.estimatedDistance ?? .infinity, left.person)
            < (right.estimatedDistance ?? .infinity, right.person)
    }
}
