public import Beacons

/// Everything stored about a person whom the user met.
public struct PersonHistory: Sendable, Hashable, Codable {
    public let person: UserNumber
    /// The profile as last fetched; nil when it could not be fetched yet.
    public var known: Person?
    /// When the user was last alerted: seconds since 1970.
    public var lastAnnounced: Double?
    /// How sure it was then who the person is; nil counts as unverified.
    public var announcedTrust: Trust?
    /// The encounters, oldest first.
    public var encounters: [Encounter]

    /// Creates an empty history.
    public init(of person: UserNumber) {
        self.person = person
        encounters = []
    }

    /// When the person was last heard: seconds since 1970.
    public var lastSeen: Double? { encounters.map(\.lastSeen).max() }

    /// Whether any device can have sent all of it.
    ///
    /// It is false where that is not known of an encounter.
    var isUnverified: Bool { encounters.allSatisfy { $0.trust == .unverified } }

    /// What ``rank`` compares: whether the person is known, days, duration, the last time, and the number.
    typealias Rank = (Int, Int, Double, Double, UserNumber)

    /// What orders unverified people where they are too many: first goes whom no service knows, then who was met on the fewest
    /// days, then who was near for the shortest time, then who was met the longest time ago.
    var rank: Rank {
        let days = Set(encounters.map { ($0.firstSeen / 86_400).rounded(.down) }).count
        return (known == nil ? 0 : 1, days, encounters.reduce(0) { $0 + $1.duration }, lastSeen ?? 0, person)
    }

    /// How many encounters are stored per person, whatever the retention. The oldest are deleted first.
    static let encounterLimit = 2000

    /// Adds a running or past encounter and returns it as the log then has it.
    ///
    /// One that begins less than `absence` seconds after the last one ended continues that one: the app was restarted, or
    /// two processes listen. An unverified encounter never continues a verified one, nor a verified one an unverified one: from
    /// when on a key has verified the person would be lost.
    mutating func note(_ encounter: Encounter, absence: Double) -> Encounter {
        guard let place = place(of: encounter, absence: absence) else {
            encounters.append(encounter)
            encounters.sort { $0.firstSeen < $1.firstSeen }
            encounters.removeFirst(max(0, encounters.count - Self.encounterLimit))
            return encounter
        }
        var merged = encounters[place]
        if merged.firstSeen == encounter.firstSeen || encounter.firstSeen <= merged.lastSeen {
            merged.duration = max(merged.duration, encounter.duration)
        } else {
            merged.duration += encounter.duration
        }
        merged.lastSeen = max(merged.lastSeen, encounter.lastSeen)
        merged.takeExtremes(of: encounter)
        encounters[place] = merged
        return merged
    }

    /// The index of the same encounter, or of the one that this continues.
    func place(of encounter: Encounter, absence: Double) -> Int? {
        encounters.lastIndex {
            $0.isVerified == encounter.isVerified
                && ($0.firstSeen == encounter.firstSeen
                    || ($0.firstSeen <= encounter.firstSeen && encounter.firstSeen - $0.lastSeen <= absence))
        }
    }

    /// Removes encounters that ended before a moment.
    ///
    /// - Returns: whether any was removed.
    mutating func removeEncounters(before moment: Double) -> Bool {
        let count = encounters.count
        encounters.removeAll { $0.lastSeen < moment }
        return encounters.count != count
    }
}
