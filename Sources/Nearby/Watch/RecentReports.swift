/// When each of some things was last reported: the same one is reported once a minute at most.
struct RecentReports<Subject: Hashable & Sendable>: Sendable {
    private static var interval: Duration { .seconds(60) }
    private static var capacity: Int { EncounterTracker.capacity }

    private var reported: [Subject: Duration] = [:]

    /// Whether to report something now. If so, it counts as reported.
    mutating func begin(_ subject: Subject, at instant: Duration) -> Bool {
        if let last = reported[subject], instant - last < Self.interval { return false }
        if reported.count >= Self.capacity { reported = [:] }
        reported[subject] = instant
        return true
    }
}
