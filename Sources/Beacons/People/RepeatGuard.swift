/// Lets each person through once a period, however many others come between (BE-12; dossier 11, complaint 10).
///
/// At most ``capacity`` people are remembered; beyond that, whoever was let through longest ago is forgotten.
public struct RepeatGuard<Person: Hashable & Sendable>: Sendable {
    public let period: Duration
    public let capacity: Int

    private var passed: [Person: Timestamp] = [:]

    public init(period: Duration = .seconds(3_600), capacity: Int = 10_000) {
        self.period = period
        self.capacity = max(1, capacity)
    }

    /// Whether a person may be told of now; if so, not again within the period.
    ///
    /// When the clock is set back, the period begins anew: nobody is told of twice, and nobody is waited for longer.
    public mutating func lets(_ person: Person, throughAt time: Timestamp) -> Bool {
        if let last = passed[person] {
            if time < last {
                passed[person] = time
                return false
            }
            guard last.duration(to: time) >= period else { return false }
        } else if passed.count >= capacity {
            makeRoom(at: time)
        }
        passed[person] = time
        return true
    }

    /// Forgets a person.
    public mutating func forget(_ person: Person) {
        passed[person] = nil
    }

    private mutating func makeRoom(at time: Timestamp) {
        passed = passed.filter { $0.value <= time && $0.value.duration(to: time) < period }
        // A sixteenth at a time, so that a crowd does not sort the list for each of its members.
        let tooMany = passed.count - capacity
        guard tooMany >= 0 else { return }
        for person in passed.sorted(by: { $0.value < $1.value }).prefix(tooMany + 1 + capacity / 16) {
            passed[person.key] = nil
        }
    }
}
