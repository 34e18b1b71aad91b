public import Beacons

/// All that is kept about a person one met.
public struct PersonHistory: Sendable, Hashable, Codable {
    public let person: UserNumber
    /// Who it is, as last heard from the service; nil when it could not be asked yet.
    public var known: Person?
    /// When the user was last told: seconds since 1970.
    public var lastAnnounced: Double?
    /// The encounters, the oldest first.
    public var encounters: [Encounter]

    /// Nothing yet.
    public init(of person: UserNumber) {
        self.person = person
        encounters = []
    }

    /// When the person was last heard: seconds since 1970.
    public var lastSeen: Double? { encounters.map(\.lastSeen).max() }

    /// How many encounters are kept of one person, whatever the retention: the oldest go first.
    static let encounterLimit = 2000

    /// Takes a running or past encounter in, and answers with what the log then says about it.
    ///
    /// One that begins before the last one has been over for `absence` seconds continues it: the app was started again,
    /// or two processes listen.
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
        merged.closest = [merged.closest, encounter.closest].compactMap(\.self).min()
        merged.wasAnnounced = merged.wasAnnounced || encounter.wasAnnounced
        encounters[place] = merged
        return merged
    }

    /// Where the encounter is that this one is, or continues.
    func place(of encounter: Encounter, absence: Double) -> Int? {
        encounters.lastIndex {
            $0.firstSeen == encounter.firstSeen
                || ($0.firstSeen <= encounter.firstSeen && encounter.firstSeen - $0.lastSeen <= absence)
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
