import Beacons
import Circles
import Handshake

/// The state of one ``PeopleNearby`` run: an actor, because look-ups end while ticks arrive.
actor Watch {
    private var tracker: EncounterTracker
    private var lookups = ProfileLookups()
    private var brake = CrowdBrake()
    /// People who are to be announced, each with the time for it.
    private var waiting: [UserNumber: Duration] = [:]
    /// People who were announced without a name.
    private var unnamed: Set<UserNumber> = []
    /// Who recognises each person who is near.
    private var recognizers: [UserNumber: Recognizer] = [:]
    /// People whose running encounter is in the log.
    private var logged: Set<UserNumber> = []
    private var instant = Duration.zero
    /// The calendar time of the last tick.
    private var time = 0.0
    private var pendingLookups = 0
    /// Yields after each look-up that ended since the last read.
    nonisolated let answers: AsyncStream<Void>
    private let answered: AsyncStream<Void>.Continuation
    /// When what has expired is deleted next.
    private var nextExpiry = Duration.zero
    private var failures = RecentReports<NearbyError>()
    private var remarks = RecentReports<Remark>()
    /// How many people of each kind were left out since that was last reported.
    private var leftOut: [Trust: Int] = [:]

    private enum Remark: Hashable {
        case full(Trust)
        case oneTransmitter, repeated
    }

    /// How many unverified people were added to the log since it was last pruned.
    private var unverifiedSince = 0

    /// The time between two deletions of what has expired; a watch can run for weeks.
    private static let expiryInterval = Duration.seconds(6 * 3600)
    /// After so many more unverified people the log is pruned.
    private static let unverifiedStep = 64

    private let log: EncounterLog
    private let own: UserNumber?
    private let report: @Sendable (NearbyUpdate) async -> Void
    private let ask: AsyncStream<Question>.Continuation
    private let show: AsyncStream<Notice>.Continuation
    /// Where alerts that have expired are removed.
    private let alerts: (any Alerts)?

    /// The circle whose keys recognise a person; nil for a friend, and for what any device can send.
    private struct Recognizer {
        let trust: Trust
        let circle: CircleScope?
        let heard: Duration
    }

    /// After this time without a sighting by its keys, a circle gives way to another one that recognises the person.
    private static let recognizerSilence = Duration.seconds(5)

    /// Whom to look up, and in which circle; nil for none.
    struct Question: Sendable {
        let person: UserNumber
        var circle: CircleScope?
    }

    /// An alert about a person or a crowd.
    enum Notice: Sendable, Hashable {
        case person(Alert)
        case crowd(CrowdAlert)
    }

    init(
        log: EncounterLog, ignoring own: UserNumber?, report: @escaping @Sendable (NearbyUpdate) async -> Void,
        ask: AsyncStream<Question>.Continuation, show: AsyncStream<Notice>.Continuation,
        alerts: (any Alerts)? = nil
    ) {
        tracker = EncounterTracker(rules: log.rules)
        self.log = log
        self.own = own
        self.report = report
        self.ask = ask
        self.show = show
        self.alerts = alerts
        (answers, answered) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether a look-up is pending.
    var hasPendingLookups: Bool { pendingLookups > 0 }

    /// Processes one tick.
    func take(_ list: SightingList) async {
        (instant, time) = (list.instant, list.time)
        if instant >= nextExpiry {
            nextExpiry = instant + Self.expiryInterval
            await tryLog { try await log.expire(at: time, sparing: logged, alerts: alerts) }
        }
        updateBrake()
        // Those who are near come before those who leave.
        await announceThoseWhoWaited(all: false)
        for (person, encounter) in tracker.advance(to: instant) { await leave(person, encounter) }
        for (kind, count) in list.leftOut {
            leftOut[kind, default: 0] += count
            await remarkThatFull(kind)
        }
        for sighting in Self.inOrderOfTrust(list.sightings) { await take(sighting) }
        updateBrake()
        for person in inOrderOfArrival() where !lookups.isUnknown(person, in: circle(of: person), at: instant) {
            let circle = circle(of: person)
            guard !tracker.isSuspect(person), lookups.begin(person, in: circle, at: instant) else { continue }
            pendingLookups += 1
            ask.yield(Question(person: person, circle: circle))
        }
        await save(all: false)
        await report(.people(people()))
    }

    private func updateBrake() {
        let arrivals = tracker.arrivals(since: instant - CrowdBrake.period)
        if let crowd = brake.update(arrivals: arrivals, at: instant) { show.yield(.crowd(crowd)) }
    }

    /// Sightings in the order in which places are given: first those that a key verifies, then the nearest, or the strongest where no
    /// distance is known.
    private static func inOrderOfTrust(_ sightings: [Sighting]) -> [Sighting] {
        sightings.sorted { left, right in
            guard left.trust == right.trust else { return left.trust > right.trust }
            return (left.estimatedDistance, left.person) < (right.estimatedDistance, right.person)
        }
    }

    /// Whether a queued look-up is still needed. One for a person who left is not: a sender of invented numbers must not
    /// delay the names of those who are near.
    func isStillNeeded(_ question: Question) -> Bool {
        if tracker.encounter(with: question.person) != nil { return true }
        lookups.withdraw(question.person, in: question.circle, at: instant)
        pendingLookups -= 1
        answered.yield()
        return false
    }

    /// Adds the result of a look-up.
    func note(_ introduction: Introduction, about person: UserNumber, in circle: CircleScope? = nil) async {
        lookups.note(introduction, about: person, in: circle, at: instant)
        defer {
            pendingLookups -= 1
            answered.yield()
        }
        switch introduction {
        case .known(let known):
            await report(.introduced(person, known))
            if self.known(person) != nil, unnamed.remove(person) != nil {
                show.yield(.person(alert(about: person, isUpdate: true)))
            }
            await tryLog { try await log.introduce(person, as: known) }
        case .unknown:
            // The number may have been unverified when it was asked about. Now the keys of a circle say who it is.
            guard circle == self.circle(of: person) else { break }
            waiting[person] = nil
            unnamed.remove(person)
            logged.remove(person)
            recognizers[person] = nil
            tracker.remove(person)
            // A person whom the service once knew stays in the log: a session that has ended can see fewer people.
            await tryLog {
                if try await log.history(of: person)?.known == nil { try await log.forget(person) }
            }
            await report(.unknown(person))
        case .unreachable: break
        }
    }

    /// Writes running encounters to the log. Nothing retries after it, so each failure is reported.
    ///
    /// - Parameter announcing: whether alerts that still wait appear.
    func finish(announcing: Bool) async {
        failures = RecentReports()
        if announcing { await announceThoseWhoWaited(all: true) }
        await save(all: true)
    }

    private func take(_ sighting: Sighting) async {
        let person = sighting.person
        guard person != own else {
            // A plain number can be sent by another device of one's own.
            if sighting.trust != .unverified { await remark(.repeated) { .repeatedSignal } }
            return
        }
        guard !lookups.isUnknown(person, in: sighting.circle, at: instant) else { return }
        let response = tracker.note(sighting)
        if let kind = response.full {
            leftOut[kind, default: 0] += 1
            return await remarkThatFull(kind)
        }
        noteRecognizer(sighting)
        if let (person, encounter) = response.displaced { await leave(person, encounter) }
        if let unverified = response.unverified { _ = await store(unverified, with: person) }
        if tracker.isSuspect(person) { await remark(.oneTransmitter) { .oneTransmitter } }
        // More trust does not lengthen a wait that has begun.
        if response.shouldAnnounce, waiting[person] == nil { waiting[person] = instant + PeopleNearby.alertDelay }
        guard response.began else { return }
        // In a crowd of invented numbers the log is not read for each.
        if !brake.isActive || sighting.trust.isFriend { await recall(person) }
        await report(.arrived(person, known(person)))
    }

    /// A person's profile as the circle whose keys verify the person has it, or as the service and the log have it.
    private func known(_ person: UserNumber) -> Person? { lookups.known(person, in: circle(of: person)) }

    private func circle(of person: UserNumber) -> CircleScope? { recognizers[person]?.circle }

    /// Remembers which circle's keys recognised a person, with the trust that the person has.
    private func noteRecognizer(_ sighting: Sighting) {
        guard sighting.trust == tracker.trust(sighting.person) else { return }
        if let last = recognizers[sighting.person], last.trust == sighting.trust, last.circle != sighting.circle,
            sighting.instant - last.heard < Self.recognizerSilence
        {
            return
        }
        recognizers[sighting.person] = Recognizer(
            trust: sighting.trust, circle: sighting.circle, heard: sighting.instant)
    }

    /// Takes a person's profile from the log, until the service answers.
    private func recall(_ person: UserNumber) async {
        guard known(person) == nil else { return }
        let history = await tryLog { try await log.history(of: person) }
        if let known = (history ?? nil)?.known { lookups.recall(known, about: person) }
    }

    /// Announces people whose time has come.
    private func announceThoseWhoWaited(all: Bool) async {
        let late = waiting.filter { all || $0.value <= instant }
            .map { (priority: tracker.priority(of: $0.key, at: instant), until: $0.value, person: $0.key) }
            .sorted { ($0.priority, $0.until, $0.person) < ($1.priority, $1.until, $1.person) }
        for (_, _, person) in late { await decide(person) }
    }

    /// Announces a person, unless the person is suspect or one of a crowd, or was announced within the interval.
    private func decide(_ person: UserNumber) async {
        guard tracker.encounter(with: person) != nil else {
            waiting[person] = nil
            return
        }
        // A suspect goes on waiting: it may still be heard from a transmitter of its own.
        guard !tracker.isSuspect(person) else { return }
        waiting[person] = nil
        if isOfCrowd(person) { return tracker.countAsCrowd(person) }
        let trust = tracker.trust(person)
        let announcement = await tryLog { try await log.announce(person, trust: trust, at: time) }
        switch announcement {
        case .due(let known):
            if let known, self.known(person) == nil { lookups.recall(known, about: person) }
            tracker.markAnnounced(person)
            tracker.announced(person, at: time)
            if self.known(person) == nil { unnamed.insert(person) }
            show.yield(.person(alert(about: person, isUpdate: false)))
        case .recent(let last): tracker.announced(person, at: last)
        // The log failed: the next sighting asks again.
        case nil: tracker.announced(person, at: nil)
        }
    }

    /// Whether a person arrived in a crowd of the same trust. Invented numbers do not hide a person whom a key verifies.
    private func isOfCrowd(_ person: UserNumber) -> Bool {
        let trust = tracker.trust(person)
        guard brake.isActive, !trust.isFriend else { return false }
        return tracker.arrivals(since: instant - CrowdBrake.period, of: trust) > CrowdBrake.maximumArrivals
    }

    private func alert(about person: UserNumber, isUpdate: Bool) -> Alert {
        let last = tracker.lastHeard(person)
        let proximity = last?.proximity ?? .unknown
        return Alert(
            person: person, known: known(person), proximity: proximity,
            isRough: proximity.isRough(at: last?.distance), trust: tracker.trust(person), circle: circle(of: person),
            isRelayed: tracker.isRelayed(person), isUpdate: isUpdate)
    }

    /// People in the order of their look-ups: those near for longest come first, so that a crowd does not delay them.
    private func inOrderOfArrival() -> [UserNumber] {
        tracker.people.map { person in
            (
                priority: tracker.priority(of: person, at: instant),
                arrival: tracker.encounter(with: person)?.firstSeen ?? .infinity, person: person
            )
        }
        .sorted { ($0.priority, $0.arrival, $0.person) < ($1.priority, $1.arrival, $1.person) }.map(\.person)
    }

    private func leave(_ person: UserNumber, _ encounter: Encounter) async {
        waiting[person] = nil
        unnamed.remove(person)
        let kept = await store(encounter, with: person)
        await report(.left(person, known(person), kept ?? encounter))
        recognizers[person] = nil
    }

    /// Writes an encounter that has ended to the log. A person heard once in a crowd leaves no trace. An unverified person is
    /// written while near, unless ``EncounterTracker/encountersToSave(at:all:isCrowded:)`` leaves the person out.
    ///
    /// - Returns: the encounter as the log has it; nil where it is not in the log.
    private func store(_ encounter: Encounter, with person: UserNumber) async -> Encounter? {
        let wasLogged = logged.remove(person) != nil
        guard wasLogged || encounter.isVerified && (!brake.isActive || encounter.duration > 0) else { return nil }
        return await tryLog { try await log.note(encounter, with: person, wasLogged: wasLogged) } ?? nil
    }

    private func save(all: Bool) async {
        for (person, encounter) in tracker.encountersToSave(at: instant, all: all, isCrowded: brake.isActive) {
            let wasLogged = logged.contains(person)
            let kept = await tryLog { try await log.note(encounter, with: person, wasLogged: wasLogged) }
            switch kept {
            case .some(.some(let merged)):
                tracker.merge(merged, with: person)
                guard logged.insert(person).inserted else { continue }
                if tracker.trust(person) == .unverified { unverifiedSince += 1 }
                guard let known = known(person) else { continue }
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
        guard unverifiedSince >= Self.unverifiedStep else { return }
        unverifiedSince = 0
        await tryLog { try await log.prune(at: time, sparing: logged) }
    }

    private func people() -> [NearbyPerson] {
        tracker.people.compactMap { person in
            guard let encounter = tracker.encounter(with: person), let last = tracker.lastHeard(person) else {
                return nil
            }
            return NearbyPerson(
                person: person, known: known(person), distance: last.distance,
                proximity: last.proximity, encounter: encounter,
                trust: tracker.trust(person), circle: circle(of: person), isSuspect: tracker.isSuspect(person),
                isRelayed: tracker.isRelayed(person), rssi: last.rssi)
        }.sorted(by: NearbyPerson.comesFirst)
    }

    private func remarkThatFull(_ kind: Trust) async {
        await remark(.full(kind)) {
            .full(kind, places: kind.places, leftOut: leftOut.removeValue(forKey: kind) ?? 1)
        }
    }

    /// Reports a remark, at most once a minute.
    private func remark(_ remark: Remark, _ update: () -> NearbyUpdate) async {
        if remarks.begin(remark, at: instant) { await report(update()) }
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
        } catch is CancellationError {
            // `finish` writes running encounters.
        } catch {
            let error = error as? NearbyError ?? .vault(.unavailable("\(error)"))
            if failures.begin(error, at: instant) { await report(.logFailed(error)) }
        }
        return nil
    }
}
