import AsyncSupport
import Beacons
import Circles

/// Decides whom to look up, and when: one look-up per person at a time. A pure value.
///
/// A failed look-up is retried after 30 seconds, then after twice as long each time, up to 10 minutes
/// (`recurse-center.md` D4, D5). However many numbers are heard, look-ups come in a burst of at most
/// ``lookupBurst`` and then once in two seconds: a sender of invented numbers must not overload the service.
///
/// Circles have names of their own for a number: a person whom a circle's keys recognise is looked up there.
struct ProfileLookups: Sendable {
    private struct Subject: Hashable {
        let person: UserNumber
        let circle: CircleScope?
    }

    private enum State: Sendable {
        /// The first look-up, or one after failures.
        case asking(failures: Int)
        case failed(count: Int, retry: Duration)
        /// The profile, when it arrived, and when to look it up again; nil while that look-up is under way.
        case known(Person, since: Duration, next: Duration?)
        case unknown(Duration)
    }

    /// How long a result is fresh (`recurse-center.md` D9).
    static let lifetime = Duration.seconds(3600)
    private static let firstPause = Duration.seconds(30)
    private static let maximumPause = Duration.seconds(600)
    /// The most results that are cached; the oldest are dropped first.
    private static let capacity = 2 * EncounterTracker.capacity

    /// The burst of look-ups: more than the people who fit into a room.
    static let lookupBurst = 300
    private var rateLimit = RateLimit(burst: lookupBurst, interval: .seconds(2))

    private var states: [Subject: State] = [:]
    /// Profiles from the log.
    private var recalled: [UserNumber: Person] = [:]

    /// The number of states.
    var count: Int { states.count }

    /// A person's profile: from the service or, until it has answered, from the log.
    func known(_ person: UserNumber, in circle: CircleScope? = nil) -> Person? {
        if case .known(let known, _, _) = states[Subject(person: person, circle: circle)] { return known }
        // The log does not say which circle has told it.
        return circle == nil ? recalled[person] : nil
    }

    /// Whether the profile from the service is fresh.
    func isFresh(_ person: UserNumber, at instant: Duration) -> Bool {
        guard case .known(_, let time, _) = states[Subject(person: person, circle: nil)] else { return false }
        return instant - time < Self.lifetime
    }

    /// Whether the service said that this number is unknown.
    func isUnknown(_ person: UserNumber, in circle: CircleScope? = nil, at instant: Duration) -> Bool {
        guard case .unknown(let time) = states[Subject(person: person, circle: circle)] else { return false }
        return instant - time < Self.lifetime
    }

    /// Begins a look-up of a person if one is due.
    ///
    /// - Returns: whether it began; ``note(_:about:in:at:)`` or ``withdraw(_:in:at:)`` then ends it.
    mutating func begin(_ person: UserNumber, in circle: CircleScope? = nil, at instant: Duration) -> Bool {
        let subject = Subject(person: person, circle: circle)
        let next: State
        switch states[subject] {
        case nil: next = .asking(failures: 0)
        case .asking: return false
        case .failed(let count, let retry):
            guard instant >= retry else { return false }
            next = .asking(failures: count)
        case .known(let known, let since, let due):
            guard let due, instant >= due else { return false }
            // The stale profile stays in use until the look-up ends.
            next = .known(known, since: since, next: nil)
        case .unknown(let time):
            guard instant - time >= Self.lifetime else { return false }
            next = .asking(failures: 0)
        }
        guard rateLimit.take(at: instant) else { return false }
        states[subject] = next
        return true
    }

    /// Withdraws a look-up that was never sent. A known profile stays.
    mutating func withdraw(_ person: UserNumber, in circle: CircleScope? = nil, at instant: Duration) {
        let subject = Subject(person: person, circle: circle)
        switch states[subject] {
        case .asking: states[subject] = nil
        case .known(let known, let since, nil): states[subject] = .known(known, since: since, next: instant)
        default: break
        }
        rateLimit.returnToken()
    }

    /// Adds a result.
    mutating func note(
        _ introduction: Introduction, about person: UserNumber, in circle: CircleScope? = nil, at instant: Duration
    ) {
        let subject = Subject(person: person, circle: circle)
        switch introduction {
        case .known(let known): states[subject] = .known(known, since: instant, next: instant + Self.lifetime)
        case .unknown: states[subject] = .unknown(instant)
        case .unreachable:
            if case .known(let known, let since, _) = states[subject] {
                // The stale profile stays in use, and is looked up again after the longest pause.
                states[subject] = .known(known, since: since, next: instant + Self.maximumPause)
                return
            }
            var failures = 1
            if case .asking(let count) = states[subject] { failures += count }
            let backOff = BackOff(first: Self.firstPause, longest: Self.maximumPause)
            states[subject] = .failed(count: failures, retry: instant + backOff.pause(afterFailures: failures))
        }
        if states.count > Self.capacity { forgetOldest() }
    }

    /// Adds a profile from the log.
    mutating func recall(_ known: Person, about person: UserNumber) {
        recalled[person] = known
    }

    private mutating func forgetOldest() {
        let answered = states.compactMap { subject, state -> (Subject, Duration)? in
            switch state {
            case .known(_, let time, _), .unknown(let time), .failed(_, let time): (subject, time)
            case .asking: nil
            }
        }
        for (subject, _) in answered.sorted(by: { $0.1 < $1.1 }).prefix(Self.capacity / 4) {
            states[subject] = nil
            recalled[subject.person] = nil
        }
    }
}
