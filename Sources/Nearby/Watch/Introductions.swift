import Beacons

/// Whom to ask about, and when: one question a person at a time, the next only after a while. A pure value.
///
/// A question that failed is put again after 30 seconds, then after twice as long each time, up to 10 minutes: also when
/// two hundred people stand in a room without a network (`recurse-center.md` D4, D5). However many numbers are heard, no more than
/// ``mostQuestions`` are put in one go, and then one in two seconds: a sender that invents numbers must not make this
/// machine a burden to the service.
struct Introductions: Sendable {
    private enum State: Sendable {
        /// The first question, or one after failures.
        case asking(failures: Int)
        case failed(count: Int, retry: Duration)
        /// The answer, and when it came or was last asked for again.
        case known(Person, Duration)
        case nobody(Duration)
    }

    /// How long an answer holds before it is asked for again (`recurse-center.md` D9).
    static let lifetime = Duration.seconds(3600)
    private static let firstPause = Duration.seconds(30)
    private static let longestPause = Duration.seconds(600)
    /// Answers about more people than this are dropped, the oldest first.
    private static let capacity = 2 * EncounterTracker.capacity

    /// How many questions may be put in one go: more than people fit into a room.
    static let mostQuestions = 300
    private var allowance = Allowance(atOnce: mostQuestions, thenEvery: .seconds(2))

    private var states: [UserNumber: State] = [:]
    /// What the log knew.
    private var recalled: [UserNumber: Person] = [:]

    /// About how many people something is kept.
    var count: Int { states.count }

    /// What is known of a person: from the service or, until it has answered, from the log.
    func known(_ person: UserNumber) -> Person? {
        if case .known(let known, _) = states[person] { known } else { recalled[person] }
    }

    /// Whether the service has answered and the answer is not old.
    func isFresh(_ person: UserNumber, at instant: Duration) -> Bool {
        if case .known(_, let time) = states[person] { instant - time < Self.lifetime } else { false }
    }

    /// Whether the service said that nobody has this number.
    func isNobody(_ person: UserNumber, at instant: Duration) -> Bool {
        if case .nobody(let time) = states[person] { instant - time < Self.lifetime } else { false }
    }

    /// Decides whether to ask now; when the answer is yes, the question counts as put.
    mutating func shouldAsk(_ person: UserNumber, at instant: Duration) -> Bool {
        let next: State
        switch states[person] {
        case nil: next = .asking(failures: 0)
        case .asking: return false
        case .failed(let count, let retry):
            guard instant >= retry else { return false }
            next = .asking(failures: count)
        case .known(let known, let time):
            guard instant - time >= Self.lifetime else { return false }
            // The old answer stays in use until the next one, and that is asked for once.
            next = .known(known, instant)
        case .nobody(let time):
            guard instant - time >= Self.lifetime else { return false }
            next = .asking(failures: 0)
        }
        guard allowance.take(at: instant) else { return false }
        states[person] = next
        return true
    }

    /// Takes back a question that was never put. An answer that is known already stays.
    mutating func withdraw(_ person: UserNumber) {
        if case .asking = states[person] { states[person] = nil }
        allowance.giveBack()
    }

    /// Takes an answer in.
    mutating func note(_ introduction: Introduction, about person: UserNumber, at instant: Duration) {
        switch introduction {
        case .known(let known): states[person] = .known(known, instant)
        case .nobody: states[person] = .nobody(instant)
        case .unreachable:
            if case .known(let known, _) = states[person] {
                // The old answer stays, and is asked for again after the longest pause.
                states[person] = .known(known, instant - Self.lifetime + Self.longestPause)
                return
            }
            var failures = 0
            if case .asking(let count) = states[person] { failures = count }
            let pause = min(Self.firstPause * (1 << min(failures, 6)), Self.longestPause)
            states[person] = .failed(count: failures + 1, retry: instant + pause)
        }
        if states.count > Self.capacity { forgetOldest() }
    }

    /// Takes over what the log knew already.
    mutating func recall(_ known: Person, about person: UserNumber) {
        recalled[person] = known
    }

    private mutating func forgetOldest() {
        let answered = states.compactMap { person, state -> (UserNumber, Duration)? in
            switch state {
            case .known(_, let time), .nobody(let time), .failed(_, let time): (person, time)
            case .asking: nil
            }
        }
        for (person, _) in answered.sorted(by: { $0.1 < $1.1 }).prefix(Self.capacity / 4) {
            states[person] = nil
            recalled[person] = nil
        }
    }
}
