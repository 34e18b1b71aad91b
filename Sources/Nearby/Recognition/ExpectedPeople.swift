public import Beacons
public import Radio

/// Whom a scan in the background looks for (circles dossier 2).
///
/// A phone in the background scans for a list of service UUIDs only. The list has, of each person, what is sent now and in the next
/// quarter of an hour: the app may sleep when this one ends.
public struct ExpectedPeople: Sendable {
    fileprivate struct Candidate: Sendable {
        /// The person's keys of each seed: friends and each circle have keys of their own.
        var keys: [[RollingDay: DayKey]] = []
        var isFriend = false
    }

    private var candidates: [UserNumber: Candidate] = [:]

    /// For how many seconds a person counts as met: seven days.
    public static let recency = 7 * 86_400.0

    public init() {}

    /// Adds the day keys of people, also of other days.
    ///
    /// Keys that are added in another call do not replace them: a person is looked for under all of them.
    public mutating func add(_ keys: [(UserNumber, DayKey)], areFriends: Bool) {
        for (person, own) in Dictionary(grouping: keys, by: \.0) {
            let days = Dictionary(own.map { ($0.1.day, $0.1) }, uniquingKeysWith: { $1 })
            candidates[person, default: Candidate()].keys.append(days)
            if areFriends { candidates[person]?.isFriend = true }
        }
    }

    /// What to look for from a moment on.
    ///
    /// Friends come first, then members who were met in the last seven days, then the others. Within the first two kinds, those
    /// who were met last come first; each of the others has the same chance in every quarter of an hour.
    ///
    /// - Parameters:
    ///   - time: the present.
    ///   - meetings: when people were met last: seconds since 1970.
    /// - Returns: a list that is right until the quarter of an hour ends. It is empty before 1970.
    public func services(at time: Timestamp, meetings: [UserNumber: Double] = [:]) -> ExpectedServices {
        guard let window = try? RollingWindow(at: time) else { return ExpectedServices([], until: time) }
        let windows = (-1...1).compactMap { offset in
            UInt32(exactly: Int64(window.number) + offset).map(RollingWindow.init(number:))
        }
        let expected = candidates.compactMap { person, candidate -> (rank: Rank, uuids: [RollingUUID])? in
            let uuids = candidate.keys.flatMap { keys in
                windows.compactMap { Self.uuid(of: keys, in: $0, at: time) }
            }
            guard let first = uuids.first else { return nil }
            let met = meetings[person].map { time.secondsSince1970 - $0 }.flatMap { $0 <= Self.recency ? $0 : nil }
            return (Rank(isFriend: candidate.isFriend, since: met, chance: first.description), uuids)
        }
        let end = window.start.advanced(by: RollingWindow.length)
        return ExpectedServices(expected.sorted { $0.rank < $1.rank }.flatMap(\.uuids), until: end)
    }

    /// What is sent with keys of one seed in a window; nil when that is over, or the key of its day is not known.
    private static func uuid(
        of keys: [RollingDay: DayKey], in window: RollingWindow, at time: Timestamp
    ) -> RollingUUID? {
        guard let key = keys[window.day], let token = key.token(in: window) else { return nil }
        let next = RollingWindow(number: window.number == .max ? window.number : window.number + 1)
        let term = key.term(of: window, next: keys[next.day])
        return time <= term.upperBound.advanced(by: DayKey.tolerance) ? RollingUUID(token) : nil
    }

    /// Who comes first.
    private struct Rank: Comparable {
        let isFriend: Bool
        /// How long ago the person was met, in seconds.
        let since: Double?
        /// Another one in each quarter of an hour, which no one chooses.
        let chance: String

        static func < (left: Rank, right: Rank) -> Bool {
            if left.isFriend != right.isFriend { return left.isFriend }
            let (one, other) = (left.since ?? .infinity, right.since ?? .infinity)
            return one == other ? left.chance < right.chance : one < other
        }
    }
}
