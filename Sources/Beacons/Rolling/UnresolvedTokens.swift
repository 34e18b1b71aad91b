/// Identifiers that nobody could be found for, kept for an hour in case a key comes late, and then dropped (dossier 8.4).
///
/// At most ``capacity`` are kept; a full store drops the oldest first, for whoever fills it can only be strangers.
public struct UnresolvedTokens: Sendable {
    /// One of them.
    public struct Sighting: Sendable, Hashable {
        public let token: RollingToken
        /// When it was heard last.
        public let time: Timestamp
    }

    public let capacity: Int
    /// How long one is kept.
    public static let retention = Duration.seconds(3_600)

    private var times: [RollingToken: Timestamp] = [:]

    public init(capacity: Int = 4_096) {
        self.capacity = max(1, capacity)
    }

    /// Keeps an identifier.
    public mutating func insert(_ token: RollingToken, at time: Timestamp) {
        if times[token] == nil, times.count >= capacity {
            dropOld(at: time)
            if times.count >= capacity {
                // A sixteenth at a time, so that a flood does not sort the store for each of its frames.
                for (token, _) in times.sorted(by: { $0.value < $1.value }).prefix(1 + capacity / 16) {
                    times[token] = nil
                }
            }
        }
        times[token] = time
    }

    /// Drops what is older than an hour, or of a time to come: then the clock was set, and its age is not known.
    public mutating func dropOld(at time: Timestamp) {
        times = times.filter { $0.value <= time && $0.value.duration(to: time) < Self.retention }
    }

    /// What is kept, the oldest first.
    public func sightings(at time: Timestamp) -> [Sighting] {
        var present = self
        present.dropOld(at: time)
        return present.times.map { Sighting(token: $0.key, time: $0.value) }.sorted { $0.time < $1.time }
    }
}
