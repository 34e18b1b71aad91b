public import Handshake
public import Radio

/// What a watch begins with, and who is told of what happens.
public struct WatchPlan: Sendable {
    /// An event of the watch, beside those of the radio.
    public enum Event: Sendable {
        case update(NearbyUpdate)
        /// A wave was answered.
        case answered(MutualWave)
        /// A circle's tables could not be fetched, or keys not published. It is tried again.
        case circleFailed(NearbyError)
    }

    let people: KnownPeople
    let radio: any Radio
    let broadcasts: Broadcasts?
    let alerts: any Alerts
    let lookup: PeopleNearby.Lookup
    let radioEvent: @Sendable (RadioWatchEvent) -> Void
    let report: @Sendable (Event) async -> Void

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - people: who can be recognised.
    ///   - radio: hears them.
    ///   - broadcasts: what is sent; nil for nothing.
    ///   - alerts: shows alerts, except while the user is not to be disturbed.
    ///   - lookup: looks a person up; unless stated, circles and friends alone are known, and no service is asked.
    ///   - radioEvent: receives the radio's events, in order.
    ///   - report: receives the other events. The watch awaits it.
    public init(
        _ people: KnownPeople, over radio: any Radio, sending broadcasts: Broadcasts?, alerts: any Alerts,
        lookup: PeopleNearby.Lookup? = nil, radioEvent: @escaping @Sendable (RadioWatchEvent) -> Void,
        report: @escaping @Sendable (Event) async -> Void
    ) {
        self.people = people
        self.radio = radio
        self.broadcasts = broadcasts
        self.alerts = alerts
        self.lookup = lookup ?? { people.introduce($0, in: $1).map { .known($0) } ?? .unreachable }
        self.radioEvent = radioEvent
        self.report = report
    }
}

extension PeopleNearby {
    /// Watches with all that belongs to it.
    ///
    /// It keeps circles current, tells their servers of a leave or sign-out that they could not be told of, asks for answers to waves,
    /// hears, sends, logs and alerts, until the radio ends or what it depends on changes. Call it again
    /// after ``PeopleVault/Ending/changed``: the plan is then made of the new keys and circles.
    ///
    /// - Parameters:
    ///   - vault: where everything is stored.
    ///   - community: as for ``EncounterLog``.
    ///   - time: the clock of do-not-disturb, and of the end of published keys: nothing is sent after it.
    ///   - plan: says what to begin with. What it stores belongs in the vault that it is given, whose writes are refused once
    ///     everyone is forgotten.
    /// - Returns: what ended it.
    /// - Throws: ``NearbyError``, what the plan and the radio throw, `CancellationError`.
    public static func watch(
        in vault: any Vault, community: String, time: TimeSource = .system,
        plan: (PeopleVault) async throws -> WatchPlan
    ) async throws -> PeopleVault.Ending {
        let period = try await PeopleVault.open(vault, community: community)
        let plan = try await plan(period)
        let alerts = QuietableAlerts(plan.alerts, except: DoNotDisturb(in: period, community: community), now: time.now)
        let nearby = PeopleNearby(
            log: EncounterLog(in: period, community: community), ignoring: plan.people.own, alerts: alerts,
            lookup: plan.lookup)
        do {
            return try await period.run {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    defer { group.cancelAll() }
                    for circle in plan.people.circles {
                        group.addTask {
                            try await circle.keepSynchronized {
                                if let error = $0 { await plan.report(.circleFailed(error)) }
                            }
                        }
                        group.addTask { try await circle.keepCollectingWaves { await plan.report(.answered($0)) } }
                    }
                    group.addTask {
                        let scopes = plan.people.scopes
                        guard try await scopes.waitForEnd(in: period, community: community, time: time) else { return }
                        throw KeysEnded()
                    }
                    // Also where no circle is left.
                    group.addTask { try await CircleFarewell.keepDelivering(in: plan.people.environment) }
                    group.addTask {
                        try await nearby.run(
                            over: plan.radio, recognizing: plan.people.recognition, sending: plan.broadcasts,
                            radioEvent: plan.radioEvent, report: { await plan.report(.update($0)) })
                        throw WatchEnded()
                    }
                    do {
                        // The first that ends with an error ends all.
                        for try await _ in group {}
                    } catch is WatchEnded {
                        // The radio was a recording, which is over.
                    }
                }
            }
        } catch is KeysEnded {
            return .changed
        }
    }

    private struct WatchEnded: Error {}
    /// What is sent is of days whose keys were never published.
    private struct KeysEnded: Error {}
}
