public import Beacons
public import Circles

/// Watches who is near. It writes the log, looks people up, and alerts the user once per person.
///
/// It knows no radio and no service. It receives sightings once a second; a closure looks people up, and an ``Alerts``
/// shows alerts. Guarantees:
///
/// * A person is announced at most once in ``EncounterRules/announcementInterval``, also across restarts and processes:
///   the log records it before the alert appears. A crash between the two loses the alert. A person whom a key
///   verifies only after an alert about the unverified number is announced again.
/// * Each person has at most one look-up in flight; all together at most ``maximumConcurrentLookups``. A person who left
///   before the look-up started is not looked up. Look-ups start in a burst of at most 300, then once in two seconds.
/// * An alert appears ``alertDelay`` after the person was first heard, without the name if that is not known by then, and is
///   replaced when the name arrives. More than eight people who arrive within a minute give one alert, because a sender can
///   invent thousands; friends are still announced one by one, also those by keys from a file. A person who was one of a
///   crowd is announced later only with a higher trust.
/// * A device that sends the numbers of several people may invent or relay them. People whom no key verifies are neither looked
///   up nor announced while they are heard only from devices that send for three people or more. People whom a key verifies are
///   announced with the remark that another device may relay them, when they are heard only from devices that send for three
///   verified people or more. From nine verified people on, only friends are announced. A person whom two devices send at the
///   same time is announced all the same, with that remark.
/// * When the task is cancelled, running encounters are in the log before ``run(on:report:)`` returns.
///
/// A sighting is no proof: any sender can use any number (beacons dossier 8.1).
public struct PeopleNearby: Sendable {
    /// How many look-ups run concurrently.
    public static let maximumConcurrentLookups = 4

    /// How long after the first packet an alert appears.
    ///
    /// The end of a run waits as long for pending look-ups.
    public static let alertDelay = Duration.seconds(3)

    /// Looks up a person, given the circle whose keys recognised the person.
    ///
    /// Without a circle it asks the service.
    public typealias Lookup = @Sendable (UserNumber, CircleScope?) async -> Introduction

    private let log: EncounterLog
    private let own: UserNumber?
    private let alerts: any Alerts
    private let clock: any Clock<Duration>
    private let lookup: Lookup

    /// Whether a tick waits for the look-ups of the tick before.
    ///
    /// A tick is one list of sightings. A radio gives one about once a second.
    public enum Pace: Sendable, Hashable {
        /// Takes each tick when it comes, without waiting for look-ups.
        case live
        /// Reads a recording. The next tick waits for the look-ups of this one, so that names arrive as early as they
        /// would have arrived live.
        case recorded
    }

    let pace: Pace

    /// Creates a watch.
    ///
    /// - Parameters:
    ///   - log: stores encounters, and has the rules.
    ///   - own: the user's own number, which is ignored; nil when there is none.
    ///   - alerts: shows alerts to the user.
    ///   - pace: whether a tick waits for the look-ups of the tick before.
    ///   - clock: measures the timeout at the end of a run.
    ///   - lookup: looks up a person. It should end when its task is cancelled.
    public init(
        log: EncounterLog, ignoring own: UserNumber?, alerts: any Alerts, pace: Pace = .live,
        clock: any Clock<Duration> = ContinuousClock(), lookup: @escaping Lookup
    ) {
        self.log = log
        self.own = own
        self.alerts = alerts
        self.pace = pace
        self.clock = clock
        self.lookup = lookup
    }

    /// Watches until the sightings end or the task is cancelled.
    ///
    /// - Parameters:
    ///   - sightings: one list per tick, about once a second, including empty lists.
    ///   - report: receives every event. The watch awaits it.
    /// - Throws: what the sightings throw; `CancellationError`. Running encounters are in the log by then.
    public func run<Sightings: AsyncSequence & Sendable>(
        on sightings: Sightings, report: @escaping @Sendable (NearbyUpdate) async -> Void
    ) async throws where Sightings.Element == SightingList {
        let (lookupRequests, requestLookup) = AsyncStream.makeStream(of: Watch.Question.self)
        let (toShow, showing) = AsyncStream.makeStream(of: Watch.Notice.self)
        let watch = Watch(log: log, ignoring: own, report: report, ask: requestLookup, show: showing, alerts: alerts)
        async let shown: Void = { [alerts] in
            for await notice in toShow {
                switch notice {
                case .person(let alert): await alerts.show(alert)
                case .crowd(let crowd): await alerts.show(crowd)
                }
            }
        }()

        let ending = await withTaskGroup(of: Step.self) { group in
            group.addTask { .sightingsEnded(await feed(sightings, to: watch)) }
            for _ in 0..<Self.maximumConcurrentLookups {
                group.addTask { [lookup] in
                    for await question in lookupRequests where await watch.isStillNeeded(question) {
                        let introduction = await lookup(question.person, question.circle)
                        await watch.note(introduction, about: question.person, in: question.circle)
                    }
                    return .lookupTaskEnded
                }
            }
            return await end(&group, requestLookup)
        }
        let isComplete = if case .success = ending { true } else { false }
        // In an unstructured task, because the log must be written even after cancellation.
        await Task { await watch.finish(announcing: isComplete) }.value
        showing.finish()
        await shown
        try ending.get()
    }

    private enum Step: Sendable {
        case sightingsEnded(Result<Void, any Error>)
        /// One of the tasks that look people up has ended.
        case lookupTaskEnded
        case timeoutEnded
    }

    private func feed<Sightings: AsyncSequence & Sendable>(
        _ sightings: Sightings, to watch: Watch
    ) async -> Result<Void, any Error> where Sightings.Element == SightingList {
        do {
            var answers = watch.answers.makeAsyncIterator()
            for try await list in sightings {
                await watch.take(list)
                guard pace == .recorded else { continue }
                // A signal can stand for several look-ups that ended, so the watch is asked after each.
                while await watch.hasPendingLookups, await answers.next() != nil {}
            }
            try Task.checkCancellation()
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Waits for the end of the sightings and, unless they failed, for pending look-ups up to the timeout.
    private func end(
        _ group: inout TaskGroup<Step>, _ requestLookup: AsyncStream<Watch.Question>.Continuation
    ) async -> Result<Void, any Error> {
        var ending = Result<Void, any Error>.success(())
        var lookupTasks = Self.maximumConcurrentLookups
        while let step = await group.next() {
            switch step {
            case .sightingsEnded(let result):
                ending = result
                requestLookup.finish()
                if case .failure = result { group.cancelAll() }
                group.addTask { [clock] in
                    try? await clock.sleep(for: Self.alertDelay)
                    return .timeoutEnded
                }
            case .lookupTaskEnded:
                lookupTasks -= 1
                if lookupTasks == 0 { group.cancelAll() }
            case .timeoutEnded:
                group.cancelAll()
            }
        }
        return ending
    }
}
