import Beacons

/// Turns sightings into encounters. A pure value without a clock: the caller passes the time.
///
/// Gaps and durations are measured on a monotonic clock, so setting the calendar clock neither ends an encounter nor
/// lengthens it.
struct EncounterTracker: Sendable {
    /// How many people are tracked concurrently. This bounds the memory and look-ups that a sender of invented numbers can cause.
    ///
    /// When it is full, a new person takes the place of the one who was near for the shortest time and is silent now: numbers that
    /// are sent once give way to people who stay. A person whom a key verifies never gives way, and is always let in while there is
    /// another.
    static let capacity = 2048
    /// How many people one transmitter can be, as long as no key verifies them. More than one, because a device may be passed on or
    /// have two beacons.
    static let maximumPerTransmitter = 3
    /// How long a person must be silent to give way.
    private static let shortestSilence = Duration.seconds(5)

    private struct Presence: Sendable {
        var encounter: Encounter
        var heard: Duration
        var saved: Duration?
        var distance: Double?
        var proximity = Proximity.unknown
        /// Whether it changed since it was last returned for saving.
        var isChanged = true
        var announced: Double?
        var isBeingAnnounced = false
        /// Whether a key has verified the person in this encounter.
        var isVerified: Bool
        /// Where the person was heard first.
        let transmitter: DeviceAddress?
    }

    /// What the caller must do after a sighting.
    struct Response: Sendable {
        /// A new encounter began.
        var began = false
        /// Ask the log whether to alert the user, then call ``EncounterTracker/announced(_:at:)``. Until then, further
        /// sightings do not ask again.
        var shouldAnnounce = false
        /// Who gave way to the new person.
        var displaced: (person: UserNumber, encounter: Encounter)?
        /// Why the person is not tracked.
        var leftOut: NearbyUpdate.LeftOut?
    }

    let rules: EncounterRules
    private var presences: [UserNumber: Presence] = [:]
    /// How many people without a key were heard from a transmitter.
    private var counts: [DeviceAddress: Int] = [:]

    /// Creates an empty tracker.
    init(rules: EncounterRules = EncounterRules()) {
        self.rules = rules
    }

    /// The people who are near, sorted by number.
    var people: [UserNumber] { presences.keys.sorted() }

    /// The running encounter with a person.
    func encounter(with person: UserNumber) -> Encounter? {
        presences[person]?.encounter
    }

    /// Whether a key has verified the person in this encounter.
    func isVerified(_ person: UserNumber) -> Bool { presences[person]?.isVerified ?? false }

    /// Whom to look up and announce first: those whom a key verifies, then those who are being heard; a number that was sent once
    /// comes last.
    func priority(of person: UserNumber, at instant: Duration) -> Int {
        guard let presence = presences[person] else { return 3 }
        if presence.isVerified { return 0 }
        return instant - presence.heard < Self.shortestSilence ? 1 : 2
    }

    /// The distance, proximity and time of a person's last sighting.
    func lastHeard(_ person: UserNumber) -> (distance: Double?, proximity: Proximity, instant: Duration)? {
        presences[person].map { ($0.distance, $0.proximity, $0.heard) }
    }

    /// Adds a sighting.
    ///
    /// Sightings out of order never shorten an encounter. Call ``advance(to:)`` first: it ends encounters after too long a
    /// silence, so that this function does not extend them.
    mutating func note(_ sighting: Sighting) -> Response {
        var response = Response()
        var presence: Presence
        if let known = presences[sighting.person] {
            presence = known
            let gap = seconds(sighting.instant - presence.heard)
            if gap <= rules.absence { presence.encounter.duration += max(0, gap) }
            presence.heard = max(presence.heard, sighting.instant)
        } else {
            if !sighting.isVerified, let transmitter = sighting.transmitter,
                counts[transmitter, default: 0] >= Self.maximumPerTransmitter
            {
                response.leftOut = .oneTransmitter
                return response
            }
            if presences.count >= Self.capacity {
                guard let person = dispensable(at: sighting.instant, evenIfHeard: sighting.isVerified) else {
                    response.leftOut = .tooMany
                    return response
                }
                response.displaced = remove(person).map { (person, $0) }
            }
            let encounter = Encounter(firstSeen: sighting.time, lastSeen: sighting.time, duration: 0)
            presence = Presence(
                encounter: encounter, heard: sighting.instant, isVerified: sighting.isVerified,
                transmitter: sighting.isVerified ? nil : sighting.transmitter)
            if let transmitter = presence.transmitter { counts[transmitter, default: 0] += 1 }
            response.began = true
        }
        presence.encounter.lastSeen = max(presence.encounter.firstSeen, sighting.time)
        presence.distance = sighting.distance
        presence.proximity = sighting.proximity
        presence.isVerified = presence.isVerified || sighting.isVerified
        if let distance = sighting.distance {
            presence.encounter.closest = min(presence.encounter.closest ?? distance, distance)
        }
        presence.isChanged = true
        // A time in the future means that the clock was set back: it counts as now.
        presence.announced = presence.announced.map { min($0, sighting.time) }
        if !presence.isBeingAnnounced,
            Self.isDue(lastAnnounced: presence.announced, at: sighting.time, interval: rules.announcementInterval)
        {
            presence.isBeingAnnounced = true
            response.shouldAnnounce = true
        }
        presences[sighting.person] = presence
        return response
    }

    /// Ends and returns the encounters of people who were silent for longer than ``EncounterRules/absence``.
    mutating func advance(to instant: Duration) -> [(person: UserNumber, encounter: Encounter)] {
        let over = presences.filter { seconds(instant - $0.value.heard) > rules.absence }
        for person in over.keys { remove(person) }
        return over.map { ($0.key, $0.value.encounter) }.sorted { $0.0 < $1.0 }
    }

    /// The changed encounters that were not returned for ``EncounterRules/saveInterval``; at the end of a run, all changed
    /// ones.
    mutating func encountersToSave(
        at instant: Duration, all: Bool = false
    ) -> [(person: UserNumber, encounter: Encounter)] {
        let due = presences.filter { _, presence in
            guard presence.isChanged else { return false }
            guard !all, let saved = presence.saved else { return true }
            return seconds(instant - saved) >= rules.saveInterval
        }
        for person in due.keys {
            presences[person]?.saved = instant
            presences[person]?.isChanged = false
        }
        return due.map { ($0.key, $0.value.encounter) }.sorted { $0.0 < $1.0 }
    }

    /// Marks an encounter as changed again after writing it failed.
    mutating func saveAgain(_ person: UserNumber) {
        presences[person]?.isChanged = true
    }

    /// Merges the logged state of a running encounter: an earlier run or another process may have started it.
    mutating func merge(_ logged: Encounter, with person: UserNumber) {
        guard var presence = presences[person] else { return }
        presence.encounter.firstSeen = min(presence.encounter.firstSeen, logged.firstSeen)
        presence.encounter.duration = max(presence.encounter.duration, logged.duration)
        presence.encounter.closest = [presence.encounter.closest, logged.closest].compactMap(\.self).min()
        presence.encounter.wasAnnounced = presence.encounter.wasAnnounced || logged.wasAnnounced
        presences[person] = presence
    }

    /// Completes a request of ``Response/shouldAnnounce``.
    ///
    /// - Parameters:
    ///   - person: the person who is near.
    ///   - time: when the user was last alerted, by this process or another: seconds since 1970. Nil leaves the request
    ///     open; the next sighting asks again.
    mutating func announced(_ person: UserNumber, at time: Double?) {
        presences[person]?.isBeingAnnounced = false
        if let time {
            presences[person]?.announced = time
        }
    }

    /// Records that the user was alerted to this encounter.
    mutating func markAnnounced(_ person: UserNumber) {
        presences[person]?.encounter.wasAnnounced = true
        presences[person]?.isChanged = true
    }

    /// Forgets a running encounter; the next sighting starts another. The announcement interval continues.
    mutating func forget(_ person: UserNumber) {
        guard var presence = presences[person] else { return }
        let last = presence.encounter.lastSeen
        presence.encounter = Encounter(firstSeen: last, lastSeen: last, duration: 0)
        presence.isChanged = false
        presences[person] = presence
    }

    /// Stops tracking a number that belongs to no person.
    ///
    /// - Returns: the encounter, if there was one.
    @discardableResult
    mutating func remove(_ person: UserNumber) -> Encounter? {
        guard let presence = presences.removeValue(forKey: person) else { return nil }
        if let transmitter = presence.transmitter, let count = counts[transmitter] {
            counts[transmitter] = count > 1 ? count - 1 : nil
        }
        return presence.encounter
    }

    /// The person without a key who was near for the shortest time and is silent now, the longest silent one of several; nil when
    /// there is none.
    private func dispensable(at instant: Duration, evenIfHeard: Bool) -> UserNumber? {
        presences.filter { !$0.value.isVerified && (evenIfHeard || instant - $0.value.heard >= Self.shortestSilence) }
            .min { ($0.value.encounter.duration, $0.value.heard) < ($1.value.encounter.duration, $1.value.heard) }?.key
    }

    /// Whether strictly more than the interval has passed since the last announcement (dossier 6.1, scenario 6).
    static func isDue(lastAnnounced: Double?, at time: Double, interval: Double) -> Bool {
        guard let lastAnnounced else { return true }
        return time - lastAnnounced > interval
    }
}

/// A duration in seconds.
func seconds(_ duration: Duration) -> Double {
    let (whole, attoseconds) = duration.components
    return Double(whole) + Double(attoseconds) / 1e18
}
