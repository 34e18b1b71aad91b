import Beacons

/// Turns sightings into encounters. A pure value without a clock: the caller passes the time.
///
/// Gaps and durations are measured on a monotonic clock, so setting the calendar clock neither ends an encounter nor
/// lengthens it. Each kind of ``Trust`` has places of its own, so memory and look-ups are bounded whatever is received.
struct EncounterTracker: Sendable {
    /// How many people are tracked concurrently.
    static var capacity: Int { Trust.allCases.reduce(0) { $0 + $1.places } }
    /// How long a person must be silent to give way to one who is weaker.
    private static let shortestSilence = Duration.seconds(5)
    /// How many transmitters of a person are remembered.
    private static let maximumTransmitters = 4

    fileprivate struct Presence: Sendable {
        var encounter: Encounter
        /// When the person was heard first with the present trust.
        var began: Duration
        /// When the person was heard last.
        var heard: Duration
        var saved: Duration?
        var distance: Double?
        /// For order, also where the distance is not known.
        var estimatedDistance = Double.infinity
        var proximity = Proximity.unknown
        /// Smoothed, in dBm.
        var rssi: Double?
        /// Whether it changed since it was last returned for saving.
        var isChanged = true
        var announced: Double?
        var isBeingAnnounced = false
        /// Whether the person was one of a crowd, which the user was told of instead.
        var isOfCrowd = false
        /// The highest trust in this encounter.
        var trust: Trust
        /// Where the person was heard from; empty when the radio does not tell.
        var transmitters: [DeviceAddress] = []
        /// Whether the last sighting was of an identifier that two transmitters send.
        var isRelayed = false
    }

    /// What the caller must do after a sighting.
    struct Response: Sendable {
        /// A new encounter began.
        var began = false
        /// Ask the log whether to alert the user, then call ``EncounterTracker/announced(_:at:)``. Until then, further
        /// sightings do not ask again.
        var shouldAnnounce = false
        /// The person who was left out for the new one.
        var displaced: (person: UserNumber, encounter: Encounter)?
        /// What any device could have sent before a key verified the person: an encounter of its own, which has ended.
        var unverified: Encounter?
        /// The kind whose places are full, so that the person is not tracked.
        var full: Trust?
    }

    let rules: EncounterRules
    private var presences: [UserNumber: Presence] = [:]
    private var counts: [Trust: Int] = [:]
    private var transmitters = Transmitters()
    /// How far the farthest person of each kind was when another one found no place. For a second, a person as far or farther is
    /// refused without a search: otherwise each of thousands is compared with all who are near, at every tick.
    private var refused: [Trust: (distance: Double, instant: Duration)] = [:]
    private static let refusal = Duration.seconds(1)

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

    /// How sure it is who a person is, in this encounter.
    func trust(_ person: UserNumber) -> Trust { presences[person]?.trust ?? .unverified }

    /// Whether a person was heard only from transmitters that send for too many people. Such a person is listed and no more;
    /// friends, and those whom two transmitters send at the same time, never are.
    func isSuspect(_ person: UserNumber) -> Bool { presences[person].map(isSuspect) ?? false }

    private func isSuspect(_ presence: Presence) -> Bool {
        !presence.trust.isFriend && !presence.isRelayed && !presence.transmitters.isEmpty
            && presence.transmitters.allSatisfy { transmitters.isSuspect($0, of: presence.trust) }
    }

    /// Whether another device may relay the person's identifier: two transmitters send it at the same time, or its only one
    /// sends for several people whom keys verify.
    func isRelayed(_ person: UserNumber) -> Bool { presences[person].map(isRelayed) ?? false }

    private func isRelayed(_ presence: Presence) -> Bool { presence.isRelayed || isShared(presence) }

    private func isShared(_ presence: Presence) -> Bool {
        presence.trust != .unverified && !presence.transmitters.isEmpty
            && presence.transmitters.allSatisfy(transmitters.isShared)
    }

    /// How many people who are neither friends nor suspect were heard first, with the trust that they have, after a moment.
    ///
    /// - Parameter trust: the least trust of those who count.
    func arrivals(since instant: Duration, of trust: Trust = .unverified) -> Int {
        presences.values.count {
            $0.began >= instant && !$0.trust.isFriend && $0.trust >= trust && !isSuspect($0)
        }
    }

    /// Whom to look up and announce first: those whom a key verifies, then those who are being heard; a number that was sent once
    /// comes last.
    func priority(of person: UserNumber, at instant: Duration) -> Int {
        guard let presence = presences[person] else { return 5 }
        if presence.trust.isFriend { return 0 }
        if isSuspect(presence) { return 4 }
        guard instant - presence.heard < Self.shortestSilence else { return 3 }
        return presence.trust == .unverified ? 2 : 1
    }

    /// The distance, proximity, smoothed signal in dBm and time of a person's last sighting. For a person who may be
    /// relayed, only the time.
    func lastHeard(
        _ person: UserNumber
    ) -> (distance: Double?, proximity: Proximity, rssi: Double?, instant: Duration)? {
        presences[person].map { presence in
            guard !isRelayed(presence) else { return (nil, .unknown, nil, presence.heard) }
            return (presence.distance, presence.proximity, presence.rssi, presence.heard)
        }
    }

    /// Adds a sighting.
    ///
    /// An unverified sighting does nothing while the person is near and verified: the encounter ends when no key has
    /// verified the person for longer than ``EncounterRules/absence``. The first sighting that a key verifies begins an
    /// encounter, and ends an unverified one. Sightings out of order never shorten an encounter.
    ///
    /// Call ``advance(to:)`` first: it ends encounters after too long a silence, so that this function does not extend
    /// them.
    mutating func note(_ sighting: Sighting) -> Response {
        var response = Response()
        // An attacker who repeats what others send must not make them suspect.
        if !sighting.isRelayed, let transmitter = sighting.transmitters.last {
            transmitters.note(sighting.person, trust: sighting.trust, from: transmitter, at: sighting.instant)
        }
        // What any device can send neither prolongs nor moves a person whom a key verified.
        if sighting.trust == .unverified, let known = presences[sighting.person], known.trust > .unverified {
            return response
        }
        guard var presence = presence(for: sighting, &response) else { return response }
        if sighting.trust > presence.trust, makePlace(for: sighting, &response) {
            counts[presence.trust, default: 1] -= 1
            counts[sighting.trust, default: 0] += 1
            response.unverified = presence.rise(to: sighting)
        }
        presence.hear(from: sighting.transmitters, limit: Self.maximumTransmitters)
        presence.take(sighting, absence: rules.absence, isMeasured: !isShared(presence))
        if !presence.isBeingAnnounced, !presence.isOfCrowd,
            Self.isDue(lastAnnounced: presence.announced, at: sighting.time, interval: rules.announcementInterval)
        {
            presence.isBeingAnnounced = true
            response.shouldAnnounce = true
        }
        presences[sighting.person] = presence
        return response
    }

    /// The person's presence, which begins where there is none; nil where there is no place for it.
    private mutating func presence(for sighting: Sighting, _ response: inout Response) -> Presence? {
        if let known = presences[sighting.person] { return known }
        guard makePlace(for: sighting, &response) else {
            response.full = sighting.trust
            return nil
        }
        counts[sighting.trust, default: 0] += 1
        response.began = true
        return Presence(
            encounter: Encounter(
                firstSeen: sighting.time - seconds(sighting.unconfirmed), lastSeen: sighting.time,
                duration: seconds(sighting.unconfirmed), trust: sighting.trust),
            began: sighting.instant, heard: sighting.instant, trust: sighting.trust)
    }

    /// Whether there is a place of the sighting's kind. Where all are taken, one person may give way.
    private mutating func makePlace(for sighting: Sighting, _ response: inout Response) -> Bool {
        guard counts[sighting.trust, default: 0] >= sighting.trust.places else { return true }
        guard !isRefused(sighting) else { return false }
        guard let person = dispensable(for: sighting) else {
            let kind = presences.values.lazy.filter { $0.trust == sighting.trust }
            refused[sighting.trust] = (kind.map(\.estimatedDistance).max() ?? 0, sighting.instant)
            return false
        }
        refused[sighting.trust] = nil
        response.displaced = remove(person).map { (person, $0) }
        return true
    }

    private func isRefused(_ sighting: Sighting) -> Bool {
        guard let last = refused[sighting.trust], sighting.estimatedDistance >= last.distance else { return false }
        return max(last.instant - sighting.instant, sighting.instant - last.instant) < Self.refusal
    }

    /// The person of the same kind who is left out: suspect and relayed people first, then the silent one who was near for the
    /// shortest time, then the farthest one, if farther than the new person. Where no power is stated, the weaker signal is the farther one.
    private func dispensable(for sighting: Sighting) -> UserNumber? {
        let kind = presences.lazy.filter { $0.value.trust == sighting.trust }
        func shortest(_ people: some Sequence<(key: UserNumber, value: Presence)>) -> UserNumber? {
            people.min {
                ($0.value.encounter.duration, $0.value.heard) < ($1.value.encounter.duration, $1.value.heard)
            }?.key
        }
        if let suspect = shortest(kind.filter { isSuspect($0.value) || isRelayed($0.value) }) { return suspect }
        let silent = kind.filter { sighting.instant - $0.value.heard >= Self.shortestSilence }
        if let person = shortest(silent) { return person }
        return kind.filter { $0.value.estimatedDistance > sighting.estimatedDistance }
            .max { ($0.value.estimatedDistance, $1.key) < ($1.value.estimatedDistance, $0.key) }?.key
    }

    /// Ends and returns the encounters of people who were silent for longer than ``EncounterRules/absence``.
    mutating func advance(to instant: Duration) -> [(person: UserNumber, encounter: Encounter)] {
        transmitters.advance(to: instant)
        let over = presences.filter { seconds(instant - $0.value.heard) > rules.absence }
        for person in over.keys { remove(person) }
        return over.map { ($0.key, $0.value.encounter) }.sorted { $0.0 < $1.0 }
    }

    /// The changed encounters that were not returned for ``EncounterRules/saveInterval``; at the end of a run, all changed
    /// ones.
    ///
    /// - Parameters:
    ///   - instant: the time.
    ///   - all: whether the run ends.
    ///   - isCrowded: whether people are left out who were heard once, or are unverified: a crowd of inventions must not fill the
    ///     disk, nor hide a meeting in the log.
    mutating func encountersToSave(
        at instant: Duration, all: Bool = false, isCrowded: Bool = false
    ) -> [(person: UserNumber, encounter: Encounter)] {
        let due = presences.filter { _, presence in
            guard presence.isChanged, !isLeftOut(presence, isCrowded: isCrowded) else { return false }
            guard !all, let saved = presence.saved else { return true }
            return seconds(instant - saved) >= rules.saveInterval
        }
        for person in due.keys {
            presences[person]?.saved = instant
            presences[person]?.isChanged = false
        }
        return due.map { ($0.key, $0.value.encounter) }.sorted { $0.0 < $1.0 }
    }

    /// Whether an encounter is not written, because it may be an invention. An unverified one of a crowd is written once it has lasted for
    /// ``EncounterRules/absence``; one that was written before is continued.
    private func isLeftOut(_ presence: Presence, isCrowded: Bool) -> Bool {
        switch presence.trust {
        case .file, .paired: return false
        case .circle: return isCrowded && presence.encounter.duration == 0
        case .unverified:
            guard presence.saved == nil else { return false }
            if isSuspect(presence) { return true }
            return (isCrowded || presence.isOfCrowd) && presence.encounter.duration < rules.absence
        }
    }

    /// Marks an encounter as changed again after writing it failed.
    mutating func saveAgain(_ person: UserNumber) {
        presences[person]?.isChanged = true
    }

    /// Merges the logged state of a running encounter: an earlier run or another process may have started it.
    mutating func merge(_ logged: Encounter, with person: UserNumber) {
        presences[person]?.encounter.merge(logged)
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

    /// Records that the user was told of a crowd instead. Only a higher trust asks again.
    mutating func countAsCrowd(_ person: UserNumber) {
        presences[person]?.isBeingAnnounced = false
        presences[person]?.isOfCrowd = true
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
        presence.encounter = Encounter(firstSeen: last, lastSeen: last, duration: 0, trust: presence.trust)
        presence.isChanged = false
        presences[person] = presence
    }

    /// Stops tracking a number that belongs to no person.
    ///
    /// - Returns: the encounter, if there was one.
    @discardableResult
    mutating func remove(_ person: UserNumber) -> Encounter? {
        guard let presence = presences.removeValue(forKey: person) else { return nil }
        counts[presence.trust, default: 1] -= 1
        return presence.encounter
    }

    /// Whether strictly more than the interval has passed since the last announcement (dossier 6.1, scenario 6).
    static func isDue(lastAnnounced: Double?, at time: Double, interval: Double) -> Bool {
        guard let lastAnnounced else { return true }
        return time - lastAnnounced > interval
    }
}

extension EncounterTracker.Presence {
    /// Takes over a higher trust. What any device could send before has announced another claim: the user is told of the person now.
    ///
    /// - Returns: the encounter that ends where a key verifies the person for the first time; nil where one has before.
    fileprivate mutating func rise(to sighting: Sighting) -> Encounter? {
        let earlier = trust == .unverified ? encounter : nil
        if earlier != nil {
            encounter = Encounter(firstSeen: sighting.time, lastSeen: sighting.time, duration: 0)
            heard = sighting.instant
            saved = nil
        }
        trust = sighting.trust
        encounter.trust = sighting.trust
        began = sighting.instant
        announced = nil
        isBeingAnnounced = false
        isOfCrowd = false
        return earlier
    }

    fileprivate mutating func hear(from addresses: [DeviceAddress], limit: Int) {
        for address in addresses.suffix(limit) where !transmitters.contains(address) {
            if transmitters.count >= limit { transmitters.removeFirst() }
            transmitters.append(address)
        }
    }

    /// - Parameter isMeasured: whether the signal is the person's own.
    fileprivate mutating func take(_ sighting: Sighting, absence: Double, isMeasured: Bool) {
        let gap = seconds(sighting.instant - heard)
        if gap <= absence { encounter.duration += max(0, gap) }
        heard = max(heard, sighting.instant)
        encounter.lastSeen = max(encounter.firstSeen, sighting.time)
        if isMeasured {
            encounter.closest = [encounter.closest, sighting.distance].compactMap(\.self).min()
            encounter.strongest = [encounter.strongest, sighting.rssi].compactMap(\.self).max()
        }
        distance = sighting.distance
        estimatedDistance = sighting.estimatedDistance
        rssi = sighting.rssi
        proximity = sighting.proximity
        isRelayed = sighting.isRelayed
        isChanged = true
        // A time in the future means that the clock was set back: it counts as now.
        announced = announced.map { min($0, sighting.time) }
    }
}

/// A duration in seconds.
func seconds(_ duration: Duration) -> Double {
    let (whole, attoseconds) = duration.components
    return Double(whole) + Double(attoseconds) / 1e18
}
