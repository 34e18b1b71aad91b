import Beacons

/// Who is near now: turns sightings into encounters. A pure value; whoever holds it brings the time.
///
/// Gaps and durations are measured on the clock that never jumps, so that a calendar clock that is set neither ends an
/// encounter nor lengthens it.
struct EncounterTracker: Sendable {
    /// How many people can be near at once. Further ones are not tracked until somebody leaves: a sender that invents
    /// numbers costs memory and look-ups up to here.
    static let capacity = 2048

    private struct Presence: Sendable {
        var encounter: Encounter
        var heard: Duration
        var saved: Duration?
        var distance: Double?
        var proximity = Proximity.unknown
        /// Whether anything happened since it was last taken for saving.
        var isChanged = true
        var announced: Double?
        var isBeingAnnounced = false
    }

    /// What a sighting asks of whoever holds the tracker.
    struct Response: Sendable, Equatable {
        /// A new encounter began.
        var began = false
        /// The user may have to be told: ask the log, then say ``EncounterTracker/announced(_:at:)``. Not asked again
        /// before that.
        var shouldAnnounce = false
    }

    let rules: EncounterRules
    private var presences: [UserNumber: Presence] = [:]

    /// An empty tracker.
    init(rules: EncounterRules = EncounterRules()) {
        self.rules = rules
    }

    /// The people who are near, in the order of their numbers.
    var people: [UserNumber] { presences.keys.sorted() }

    /// The running encounter with a person.
    func encounter(with person: UserNumber) -> Encounter? {
        presences[person]?.encounter
    }

    /// How near a person was when last heard, and when that was.
    func lastHeard(_ person: UserNumber) -> (distance: Double?, proximity: Proximity, instant: Duration)? {
        presences[person].map { ($0.distance, $0.proximity, $0.heard) }
    }

    /// Takes a sighting in.
    ///
    /// Sightings that come out of order never shorten an encounter. Call ``advance(to:)`` first: a silence that was too
    /// long ends an encounter there, and adds nothing to its duration here.
    mutating func note(_ sighting: Sighting) -> Response {
        var response = Response()
        var presence: Presence
        if let known = presences[sighting.person] {
            presence = known
            let gap = seconds(sighting.instant - presence.heard)
            if gap <= rules.absence { presence.encounter.duration += max(0, gap) }
            presence.heard = max(presence.heard, sighting.instant)
        } else {
            guard presences.count < Self.capacity else { return response }
            let encounter = Encounter(firstSeen: sighting.time, lastSeen: sighting.time, duration: 0)
            presence = Presence(encounter: encounter, heard: sighting.instant)
            response.began = true
        }
        presence.encounter.lastSeen = max(presence.encounter.firstSeen, sighting.time)
        presence.distance = sighting.distance
        presence.proximity = sighting.proximity
        if let distance = sighting.distance {
            presence.encounter.closest = min(presence.encounter.closest ?? distance, distance)
        }
        presence.isChanged = true
        // An announcement in the future was made before the clock was set back: it counts as made now.
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

    /// Ends the encounters of those who were silent for longer than ``EncounterRules/absence``, and hands them out.
    mutating func advance(to instant: Duration) -> [(person: UserNumber, encounter: Encounter)] {
        let over = presences.filter { seconds(instant - $0.value.heard) > rules.absence }
        for person in over.keys { presences[person] = nil }
        return over.map { ($0.key, $0.value.encounter) }.sorted { $0.0 < $1.0 }
    }

    /// The changed encounters that were not handed out for ``EncounterRules/saveInterval``, or all of them at the end of
    /// a run.
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

    /// Says that an encounter which was handed out for saving could not be written.
    mutating func saveAgain(_ person: UserNumber) {
        presences[person]?.isChanged = true
    }

    /// Takes over what the log says about the running encounter: it may have begun in an earlier run, or in another
    /// process.
    mutating func merge(_ logged: Encounter, with person: UserNumber) {
        guard var presence = presences[person] else { return }
        presence.encounter.firstSeen = min(presence.encounter.firstSeen, logged.firstSeen)
        presence.encounter.duration = max(presence.encounter.duration, logged.duration)
        presence.encounter.closest = [presence.encounter.closest, logged.closest].compactMap(\.self).min()
        presence.encounter.wasAnnounced = presence.encounter.wasAnnounced || logged.wasAnnounced
        presences[person] = presence
    }

    /// Closes what a ``Response`` asked for.
    ///
    /// - Parameters:
    ///   - person: about whom.
    ///   - time: when the user was told last, be it now, earlier or by another process: seconds since 1970. With nil the
    ///     question stays open and is asked again with the next sighting.
    mutating func announced(_ person: UserNumber, at time: Double?) {
        presences[person]?.isBeingAnnounced = false
        if let time {
            presences[person]?.announced = time
        }
    }

    /// Notes that this encounter was the one that the user was told of.
    mutating func markAnnounced(_ person: UserNumber) {
        presences[person]?.encounter.wasAnnounced = true
        presences[person]?.isChanged = true
    }

    /// Forgets what was of a running encounter; the next sighting begins another. The announcement's interval goes on.
    mutating func forget(_ person: UserNumber) {
        guard var presence = presences[person] else { return }
        let last = presence.encounter.lastSeen
        presence.encounter = Encounter(firstSeen: last, lastSeen: last, duration: 0)
        presence.isChanged = false
        presences[person] = presence
    }

    /// Takes a person who turned out to be nobody out.
    mutating func remove(_ person: UserNumber) {
        presences[person] = nil
    }

    /// Whether more than the interval has passed since the last announcement, strictly (dossier 6.1, scenario 6).
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
