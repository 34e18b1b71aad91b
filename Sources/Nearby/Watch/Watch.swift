import Beacons
import Handshake

/// The state of one ``PeopleNearby`` run: an actor, because answers arrive while ticks are taken in.
actor Watch {
    private var tracker: EncounterTracker
    private var introductions = Introductions()
    /// Alerts that wait for a name, until when they may come without one.
    private var waiting: [UserNumber: Duration] = [:]
    /// Those the user was told of without a name.
    private var nameless: Set<UserNumber> = []
    /// How many alerts may come without a name: numbers can be invented by the thousand.
    private var namelessAlerts = Allowance(atOnce: PeopleNearby.namelessAtOnce, thenEvery: .seconds(10))
    /// Those whose running encounter the log has.
    private var logged: Set<UserNumber> = []
    private var instant = Duration.zero
    private var questions = 0
    /// One element when an answer came since the last was read.
    nonisolated let answers: AsyncStream<Void>
    private let answered: AsyncStream<Void>.Continuation
    private var hasPruned = false
    /// What the log said no with of late, and when that was last told.
    private var troubles: [NearbyError: Duration] = [:]

    private static let troublePause = Duration.seconds(60)
    private static let mostTroubles = EncounterTracker.capacity

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

    /// Whether a question has not been answered yet.
    var isAsking: Bool { questions > 0 }

    /// Takes one tick in.
    func take(_ list: SightingList) async {
        instant = list.instant
        if !hasPruned {
            hasPruned = true
            await tryLog { _ = try await log.prune(at: list.time) }
        }
        for (person, encounter) in tracker.advance(to: list.instant) { await leave(person, encounter) }
        for sighting in list.sightings where sighting.person != own { await take(sighting) }
        for person in inOrderOfArrival() where !introductions.isNobody(person, at: instant) {
            guard introductions.shouldAsk(person, at: instant) else { continue }
            questions += 1
            ask.yield(person)
        }
        for (person, until) in waiting.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) where until <= instant {
            announceIfAllowed(person)
        }
        await save(all: false)
        await report(.people(people()))
    }

    /// Whether a question that waited for its turn is still to be put. A question about someone who left meanwhile is not:
    /// a sender that invents numbers must not keep those who are near waiting for their names.
    func isStillWanted(_ person: UserNumber) -> Bool {
        if tracker.encounter(with: person) != nil { return true }
        introductions.withdraw(person)
        questions -= 1
        answered.yield()
        return false
    }

    /// Takes an answer in.
    func note(_ introduction: Introduction, about person: UserNumber) async {
        introductions.note(introduction, about: person, at: instant)
        defer {
            questions -= 1
            answered.yield()
        }
        switch introduction {
        case .known(let known):
            await report(.introduced(person, known))
            if waiting[person] != nil {
                announce(person)
            } else if nameless.remove(person) != nil {
                show.yield(
                    Alert(
                        person: person, known: known, proximity: proximity(person), isUpdate: true))
            }
            await tryLog { try await log.introduce(person, as: known) }
        case .nobody:
            waiting[person] = nil
            nameless.remove(person)
            logged.remove(person)
            tracker.remove(person)
            // Someone whom the service once knew stays in the log: it may only hide from a sign-in that has ended.
            await tryLog {
                if try await log.history(of: person)?.known == nil { try await log.forget(person) }
            }
            await report(.nobody(person))
        case .unreachable: break
        }
    }

    /// Writes down what is near.
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
        guard !introductions.isNobody(person, at: instant) else { return }
        let response = tracker.note(sighting)
        if response.shouldAnnounce { await considerAnnouncing(sighting) }
        if response.began { await report(.arrived(person, introductions.known(person))) }
    }

    /// Asks the log whether the user is to be told. When the log cannot be asked, the next sighting tries again.
    private func considerAnnouncing(_ sighting: Sighting) async {
        let person = sighting.person
        let last = await tryLog { () -> Double in
            if introductions.known(person) == nil, let known = try await log.history(of: person)?.known {
                introductions.recall(known, about: person)
            }
            switch try await log.announce(person, at: sighting.time) {
            case .due:
                tracker.markAnnounced(person)
                waiting[person] = instant + PeopleNearby.patience
                return sighting.time
            case .recent(let time): return time
            }
        }
        tracker.announced(person, at: last)
        // Someone whose name an earlier question brought need not wait for another.
        if waiting[person] != nil, introductions.isFresh(person, at: instant) { announce(person) }
    }

    private func announce(_ person: UserNumber) {
        waiting[person] = nil
        let known = introductions.known(person)
        if known == nil { nameless.insert(person) }
        show.yield(Alert(person: person, known: known, proximity: proximity(person)))
    }

    /// Raises an alert without a name only while there are few of them; one that has to wait comes later, or with the name.
    private func announceIfAllowed(_ person: UserNumber) {
        guard introductions.known(person) != nil || namelessAlerts.take(at: instant) else { return }
        announce(person)
    }

    /// Those who have been near for longest are asked about first: a crowd that comes later does not push in.
    private func inOrderOfArrival() -> [UserNumber] {
        tracker.people.map { ($0, tracker.encounter(with: $0)?.firstSeen ?? .infinity) }
            .sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
    }

    private func proximity(_ person: UserNumber) -> Proximity {
        tracker.lastHeard(person)?.proximity ?? .unknown
    }

    private func leave(_ person: UserNumber, _ encounter: Encounter) async {
        if waiting[person] != nil { announceIfAllowed(person) }
        waiting[person] = nil
        nameless.remove(person)
        let wasLogged = logged.remove(person) != nil
        let kept = await tryLog { try await log.note(encounter, with: person, wasLogged: wasLogged) }
        await report(.left(person, introductions.known(person), (kept ?? nil) ?? encounter))
    }

    private func save(all: Bool) async {
        for (person, encounter) in tracker.encountersToSave(at: instant, all: all) {
            let wasLogged = logged.contains(person)
            let kept = await tryLog { try await log.note(encounter, with: person, wasLogged: wasLogged) }
            switch kept {
            case .some(.some(let merged)):
                tracker.merge(merged, with: person)
                guard logged.insert(person).inserted, let known = introductions.known(person) else { continue }
                // The answer may have come while the log had no such person.
                await tryLog { try await log.introduce(person, as: known) }
            case .some(.none):
                // The user has forgotten this person meanwhile: from here on it is another encounter.
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
                person: person, known: introductions.known(person), distance: last.distance,
                proximity: last.proximity, encounter: encounter,
                silence: max(0, seconds(instant - last.instant)))
        }.sorted { ($0.distance ?? .infinity, $0.person) < ($1.distance ?? .infinity, $1.person) }
    }

    /// Uses the log; a failure is reported, not fatal. The same failure is reported once a minute: each sighting tries anew,
    /// and two hundred people may be near.
    ///
    /// - Returns: nil when it failed.
    @discardableResult private func tryLog<Result>(_ body: () async throws -> Result) async -> Result? {
        do {
            return try await body()
        } catch let error as NearbyError {
            if let told = troubles[error], instant - told < Self.troublePause { return nil }
            if troubles.count >= Self.mostTroubles { troubles = [:] }
            troubles[error] = instant
            await report(.trouble(error))
        } catch {
            // Cancelled: what is near is written by `finish`.
        }
        return nil
    }
}
