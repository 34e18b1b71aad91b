public import Beacons

/// Watches who is near: keeps the log, asks who somebody is, and tells the user once.
///
/// It knows no radio and no service. Sightings come in once a second, a closure says who somebody is, and an ``Alerts``
/// shows what there is to show. It guarantees:
///
/// * A person is announced at most once in ``EncounterRules/announcementInterval``, also across restarts and processes:
///   the log notes it before the alert appears. A crash between the two loses the alert.
/// * There is one question in flight a person, and at most ``questionsAtOnce`` in all. About someone who left before the
///   question's turn came, none is put. However many numbers are heard, there are 300 questions in one go, and then one in
///   two seconds.
/// * An alert waits for the name no longer than ``patience``; then it comes with what is known, and is replaced when the
///   name arrives. Without a name there are at most ``namelessAtOnce`` alerts in one go, and then one in ten seconds: numbers
///   can be invented by the thousand.
/// * What is near when the task is cancelled is in the log before ``run(on:report:)`` returns.
///
/// A sighting is no proof: anyone can send any number (beacons dossier 8.1).
public struct PeopleNearby: Sendable {
    /// How many questions about people run at once.
    public static let questionsAtOnce = 4

    /// How long an alert waits for the name, and the end of a run for answers.
    public static let patience = Duration.seconds(3)

    /// How many alerts come without a name in one go.
    public static let namelessAtOnce = 50

    /// Asks the service who somebody is.
    public typealias WhoIs = @Sendable (UserNumber) async -> Introduction

    private let log: EncounterLog
    private let own: UserNumber?
    private let alerts: any Alerts
    private let clock: any Clock<Duration>
    private let whoIs: WhoIs

    /// How time passes between two ticks.
    public enum Pace: Sendable, Hashable {
        /// As the clock goes: nobody is waited for.
        case live
        /// As somebody reads a recording: the next tick comes when the questions of this one are answered, so that names
        /// come as early as they would have come on the day.
        case recorded
    }

    let pace: Pace

    /// Prepares a watch.
    ///
    /// - Parameters:
    ///   - log: where encounters are kept, and by which rules.
    ///   - own: the user's own number, which is ignored; nil when there is none.
    ///   - alerts: where the user is told.
    ///   - pace: how time passes between two ticks.
    ///   - clock: what the end of a run waits on.
    ///   - whoIs: says who somebody is. It may take its time, and should end when its task is cancelled.
    public init(
        log: EncounterLog, ignoring own: UserNumber?, alerts: any Alerts, pace: Pace = .live,
        clock: any Clock<Duration> = ContinuousClock(), whoIs: @escaping WhoIs
    ) {
        self.log = log
        self.own = own
        self.alerts = alerts
        self.pace = pace
        self.clock = clock
        self.whoIs = whoIs
    }

    /// Watches until the sightings end or the task is cancelled.
    ///
    /// - Parameters:
    ///   - sightings: one list a tick, about once a second, also when nobody is near.
    ///   - report: is told what happens. The watch waits for it.
    /// - Throws: what the sightings throw; `CancellationError`. What was near is in the log by then.
    public func run<Sightings: AsyncSequence & Sendable>(
        on sightings: Sightings, report: @escaping @Sendable (NearbyUpdate) async -> Void
    ) async throws where Sightings.Element == SightingList {
        let (questions, asking) = AsyncStream.makeStream(of: UserNumber.self)
        let (toShow, showing) = AsyncStream.makeStream(of: Alert.self)
        let watch = Watch(log: log, ignoring: own, report: report, ask: asking, show: showing)
        async let shown: Void = { [alerts] in for await alert in toShow { await alerts.show(alert) } }()

        let ending = await withTaskGroup(of: Step.self) { group in
            group.addTask { .sightingsEnded(await feed(sightings, to: watch)) }
            for _ in 0..<Self.questionsAtOnce {
                group.addTask { [whoIs] in
                    for await person in questions where await watch.isStillWanted(person) {
                        await watch.note(await whoIs(person), about: person)
                    }
                    return .askerDone
                }
            }
            return await end(&group, asking)
        }
        let isComplete = if case .success = ending { true } else { false }
        // Not in this task: when it is cancelled, the log is still to be written.
        await Task { await watch.finish(announcing: isComplete) }.value
        showing.finish()
        await shown
        try ending.get()
    }

    private enum Step: Sendable {
        case sightingsEnded(Result<Void, any Error>)
        case askerDone
        case patienceEnded
    }

    private func feed<Sightings: AsyncSequence & Sendable>(
        _ sightings: Sightings, to watch: Watch
    ) async -> Result<Void, any Error> where Sightings.Element == SightingList {
        do {
            var answers = watch.answers.makeAsyncIterator()
            for try await list in sightings {
                await watch.take(list)
                guard pace == .recorded else { continue }
                while await watch.isAsking, await answers.next() != nil {}
            }
            try Task.checkCancellation()
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Waits for the end of the sightings and, when that was no failure, a while for the answers that are due.
    private func end(
        _ group: inout TaskGroup<Step>, _ asking: AsyncStream<UserNumber>.Continuation
    ) async -> Result<Void, any Error> {
        var ending = Result<Void, any Error>.success(())
        var askers = Self.questionsAtOnce
        while let step = await group.next() {
            switch step {
            case .sightingsEnded(let result):
                ending = result
                asking.finish()
                if case .failure = result { group.cancelAll() }
                group.addTask { [clock] in
                    try? await clock.sleep(for: Self.patience)
                    return .patienceEnded
                }
            case .askerDone:
                askers -= 1
                if askers == 0 { group.cancelAll() }
            case .patienceEnded:
                group.cancelAll()
            }
        }
        return ending
    }
}
