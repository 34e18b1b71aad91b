import Beacons
import Handshake

/// The state of one ``PeopleNearby`` run: an actor, because look-ups end while ticks arrive.
actor Watch {
    private var tracker: EncounterTracker
    private var lookups = ProfileLookups()
    /// Alerts that wait for a name, each with its deadline.
    private var waiting: [UserNumber: Duration] = [:]
    /// People who were announced without a name.
    private var unnamed: Set<UserNumber> = []
    /// Limits alerts without a name: a sender can invent thousands of numbers.
    private var unnamedAlerts = RateLimit(burst: PeopleNearby.unnamedAlertBurst, interval: .seconds(10))
    /// People whose running encounter is in the log.
    private var logged: Set<UserNumber> = []
    private var instant = Duration.zero
    private var questions = 0
    /// Yields after each look-up that ended since the last read.
    nonisolated let answers: AsyncStream<Void>
    private let answered: AsyncStream<Void>.Continuation
    /// When what has expired is deleted next.
    private var nextExpiry = Duration.zero
    /// Recent failures of the log, and when each was last reported.
    private var failures: [NearbyError: Duration] = [:]

    /// When it was last reported that a person is left out, by reason.
    private var leftOut: [NearbyUpdate.LeftOut: Duration] = [:]

    /// A watch can run for weeks.
    private static let expiryInterval = Duration.seconds(6 * 3600)
    private static let failureReportInterval = Duration.seconds(60)
    private static let maximumFailures = EncounterTracker.capacity

    private let log: EncounterLog
    private let own: UserNumber?
    private let report: @Sendable (NearbyUpdate) async -> Void
    private let ask: AsyncStream<UserNumber>.Continuation
    private let show: AsyncStream<Alert>.Continuation

    init(
        log: EncounterLog, ignoring own: UserNumber?, report: @escaping @Sendable (NearbyUpdate) async -> Void,
        ask: AsyncStream<UserNumber>.Continuation, show: AsyncStream<Alert>.Continuation
    ) {
        tracker = EncounterTracker(rules: log.rules)
        self.log = log
        self.own = own
        self.report = report
        self.ask = ask
        self.show = show
        (answers, answered) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether a look-up is pending.
    var isAsking: Bool { questions > 0 }

    /// Processes one tick.
    func take(_ list: SightingList) async {
        instant = list.instant
        if list.instant >= nextExpiry {
            nextExpiry = list.instant + Self.expiryInterval
            await tryLog { try await log.expire(at: list.time) }
        }
        // Those who are near come before those who leave: both share the limit of alerts without a name.
        announceThoseWhoWaited()
        for (person, encounter) in tracker.advance(to: list.instant) { await leave(person, encounter) }
        for sighting in Self.inOrderOfTrust(list.sightings) where sighting.person != own { await take(sighting) }
        for person in inOrderOfArrival() where !lookups.isUnknown(person, at: instant) {
            guard lookups.begin(person, at: instant) else { continue }
            questions += 1
            ask.yield(person)
        }
        await save(all: false)
        await report(.people(people()))
    }

    /// Announces people whose name did not come in time.
    private func announceThoseWhoWaited() {
        let late = waiting.filter { $0.value <= instant }
            .map { (priority: tracker.priority(of: $0.key, at: instant), until: $0.value, person: $0.key) }
            .sorted { ($0.priority, $0.until, $0.person) < ($1.priority, $1.until, $1.person) }
        for (_, _, person) in late { announceIfAllowed(person) }
    }

    /// Those whom a key verifies first, then the nearest: where only some can be taken, it is these.
    private static func inOrderOfTrust(_ sightings: [Sighting]) -> [Sighting] {
        sightings.sorted { left, right in
            guard left.isVerified == right.isVerified else { return left.isVerified }
            return (left.distance ?? .infinity, left.person) < (right.distance ?? .infinity, right.person)
        }
    }

    /// Whether a queued look-up is still needed. One for a person who left is not: a sender of invented numbers must not
    /// delay the names of those who are near.
    func isStillNeeded(_ person: UserNumber) -> Bool {
        if tracker.encounter(with: person) != nil { return true }
        lookups.withdraw(person, at: instant)
        questions -= 1
        answered.yield()
        return false
    }

    /// Adds the result of a look-up.
    func note(_ introduction: Introduction, about person: UserNumber) async {
        lookups.note(introduction, about: person, at: instant)
        defer {
            questions -= 1
            answered.yield()
        }
        switch introduction {
        case .known(let known):
            await report(.introduced(person, known))
            if waiting[person] != nil {
                announce(person)
            } else if unnamed.remove(person) != nil {
                show.yield(
                    Alert(
                        person: person, known: known, proximity: proximity(person),
                        isVerified: tracker.isVerified(person), isUpdate: true))
            }
            await tryLog { try await log.introduce(person, as: known) }
        case .unknown:
            waiting[person] = nil
            unnamed.remove(person)
            logged.remove(person)
            tracker.remove(person)
            // A person whom the service once knew stays in the log: a session that has ended can see fewer people.
            await tryLog {
                if try await log.history(of: person)?.known == nil { try await log.forget(person) }
            }
            await report(.unknown(person))
        case .unreachable: break
        }
    }

    /// Writes running encounters to the log.
    ///
    /// - Parameter announcing: whether alerts that still wait for a name appear without it.
    func finish(announcing: Bool) async {
        if announcing {
            for person in waiting.keys.sorted() { announceIfAllowed(person) }
        }
        await save(all: true)
    }

    private func take(_ sighting: Sighting) async {
        let person = sighting.person
        guard !lookups.isUnknown(person, at: instant) else { return }
        let response = tracker.note(sighting)
        if let reason = response.leftOut { return await tell(reason) }
        if let (person, encounter) = response.displaced { await leave(person, encounter) }
        if response.shouldAnnounce { await considerAnnouncing(sighting) }
        if response.began { await report(.arrived(person, lookups.known(person))) }
    }

    /// Asks the log whether to alert the user. When the log fails, the next sighting retries.
    private func considerAnnouncing(_ sighting: Sighting) async {
        let person = sighting.person
        let last = await tryLog { () -> Double in
            if lookups.known(person) == nil, let known = try await log.history(of: person)?.known {
                lookups.recall(known, about: person)
            }
            switch try await log.announce(person, at: sighting.time) {
            case .due:
                tracker.markAnnounced(person)
                waiting[person] = instant + PeopleNearby.nameTimeout
                return sighting.time
            case .recent(let time): return time
            }
        }
        tracker.announced(person, at: last)
        // The name may be known from an earlier look-up: do not wait for another.
        if waiting[person] != nil, lookups.isFresh(person, at: instant) { announce(person) }
    }

    private func tell(_ reason: NearbyUpdate.LeftOut) async {
        if let told = leftOut[reason], instant - told < Self.failureReportInterval { return }
        leftOut[reason] = instant
        await report(.leftOut(reason))
    }

    private func announce(_ person: UserNumber) {
        waiting[person] = nil
        let known = lookups.known(person)
        if known == nil { unnamed.insert(person) }
        show.yield(
            Alert(
                person: person, known: known, proximity: proximity(person), isVerified: tracker.isVerified(person)))
    }

    /// Shows an alert without a name if the rate limit allows it; otherwise it comes later, or with the name.
    private func announceIfAllowed(_ person: UserNumber) {
        guard lookups.known(person) != nil || unnamedAlerts.take(at: instant) else { return }
        announce(person)
    }

    /// Of those who are being heard, the ones who have been near for longest are looked up first, so that a crowd does not delay
    /// them.
    private func inOrderOfArrival() -> [UserNumber] {
        tracker.people.map { person in
            (
                priority: tracker.priority(of: person, at: instant),
                arrival: tracker.encounter(with: person)?.firstSeen ?? .infinity, person: person
            )
        }
        .sorted { ($0.priority, $0.arrival, $0.person) < ($1.priority, $1.arrival, $1.person) }.map(\.person)
    }

    private func proximity(_ person: UserNumber) -> Proximity {
        tracker.lastHeard(person)?.proximity ?? .unknown
    }

    private func leave(_ person: UserNumber, _ encounter: Encounter) async {
        if waiting[person] != nil { announceIfAllowed(person) }
        waiting[person] = nil
        unnamed.remove(person)
        let wasLogged = logged.remove(person) != nil
        let kept = await tryLog { try await log.note(encounter, with: person, wasLogged: wasLogged) }
        await report(.left(person, lookups.known(person), (kept ?? nil) ?? encounter))
    }

    private func save(all: Bool) async {
        for (person, encounter) in tracker.encountersToSave(at: instant, all: all) {
            let wasLogged = logged.contains(person)
            let kept = await tryLog { try await log.note(encounter, with: person, wasLogged: wasLogged) }
            switch kept {
            case .some(.some(let merged)):
                tracker.merge(merged, with: person)
                guard logged.insert(person).inserted, let known = lookups.known(person) else { continue }
                // The look-up may have ended before the log had a record of the person.
                await tryLog { try await log.introduce(person, as: known) }
            case .some(.none):
                // The user has forgotten this person meanwhile: what follows is another encounter.
                logged.remove(person)
                tracker.forget(person)
            case .none:
                tracker.saveAgain(person)
            }
        }
    }

    private func people() -> [NearbyPerson] {
        tracker.people.compactMap { person in
            guard let encounter = tracker.encounter(with: person), let last = tracker.lastHeard(person) else {
                return nil
            }
            return NearbyPerson(
                person: person, known: lookups.known(person), distance: last.distance,
                proximity: last.proximity, encounter: encounter,
                silence: max(0, seconds(instant - last.instant)), isVerified: tracker.isVerified(person))
        }.sorted { ($0.distance ?? .infinity, $0.person) < ($1.distance ?? .infinity, $1.person) }
    }

    /// Uses the log. A failure is reported, not fatal; the same failure at most once a minute, because each sighting retries
    /// and two hundred people may be near.
    ///
    /// - Returns: nil when it failed.
    @discardableResult private func tryLog<Result>(_ body: () async throws -> Result) async -> Result? {
        do {
            return try await body()
        } catch NearbyError.everyoneForgotten {
            // The owner of the vault ends this run.
        } catch let error as NearbyError {
            if let told = failures[error], instant - told < Self.failureReportInterval { return nil }
            if failures.count >= Self.maximumFailures { failures = [:] }
            failures[error] = instant
            await report(.logFailed(error))
        } catch {
            // Cancelled: `finish` writes running encounters.
        }
        return nil
    }
}
