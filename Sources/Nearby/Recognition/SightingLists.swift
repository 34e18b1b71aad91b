public import Beacons

/// The people behind ranged beacons, one list per tick.
///
/// A beacon counts as heard at a tick when a packet arrived since the tick before; ranging reports beacons for some seconds
/// after their last packet. For a person with several beacons, the nearest one counts; one that a key verifies comes first.
/// A four-byte identifier counts from its second window on, and its first sighting says for how long it was heard before.
///
/// The source has ranged every beacon already, so an attacker who invents identifiers can take the places of members. With a radio
/// use ``PeopleNearby/run(over:recognizing:sending:time:radioEvent:report:)``, which recognises before it ranges.
public struct SightingLists<Source: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Source.Element == RangingUpdate {
    private let source: Source
    /// Each iteration remembers its own evidence.
    private let recognition: @Sendable () -> SharedRecognition
    private let elapsed: @Sendable (Timestamp) -> Duration

    /// - Parameters:
    ///   - source: ranging updates.
    ///   - recognition: maps beacons to people.
    ///   - elapsed: the time since a fixed moment, on a monotonic clock. It receives the tick's calendar time, the only
    ///     clock of a recording.
    public init(
        of source: Source, recognition: Recognition, elapsed: @escaping @Sendable (Timestamp) -> Duration
    ) {
        self.source = source
        self.recognition = { SharedRecognition(recognition) }
        self.elapsed = elapsed
    }

    /// The lists of one iteration, with a recognition that ranging uses too.
    init(
        of source: Source, sharing recognition: SharedRecognition, elapsed: @escaping @Sendable (Timestamp) -> Duration
    ) {
        self.source = source
        self.recognition = { recognition }
        self.elapsed = elapsed
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(source: source.makeAsyncIterator(), recognition: recognition(), elapsed: elapsed)
    }

    /// The lists of one scan.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var source: Source.AsyncIterator
        fileprivate let recognition: SharedRecognition
        fileprivate let elapsed: @Sendable (Timestamp) -> Duration
        private var packets: [BeaconIdentity: Int] = [:]
        /// How many packets of each kind were left out so far.
        private var leftOut: [Int: Int] = [:]
        /// When people whom four bytes do not confirm yet were heard first and last.
        private var unconfirmed: [UserNumber: (first: Duration, last: Duration)] = [:]
        /// A longer silence is another encounter.
        private static var absence: Double { EncounterRules().absence }

        fileprivate init(
            source: Source.AsyncIterator, recognition: SharedRecognition,
            elapsed: @escaping @Sendable (Timestamp) -> Duration
        ) {
            self.source = source
            self.recognition = recognition
            self.elapsed = elapsed
        }

        /// The next list; nil at the end.
        public mutating func next() async throws -> SightingList? {
            try await next(isolation: nil)
        }

        /// The next list, without leaving the caller's actor; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> SightingList? {
            guard let update = try await source.next(isolation: actor) else { return nil }
            let instant = elapsed(update.time)
            var people: [UserNumber: Sighting] = [:]
            unconfirmed = unconfirmed.filter { seconds(instant - $0.value.last) <= Self.absence }
            for beacon in update.beacons where beacon.packets != packets[beacon.identity] {
                guard let found = recognition.recognize(beacon.identity, at: update.time) else { continue }
                guard let sighting = sighting(of: found, beacon, at: update.time, instant: instant) else { continue }
                people[found.person] = people[found.person].map { Self.better($0, sighting) } ?? sighting
            }
            packets = Dictionary(uniqueKeysWithValues: update.beacons.map { ($0.identity, $0.packets) })
            return SightingList(
                time: update.time.secondsSince1970, instant: instant,
                sightings: people.values.sorted { $0.person < $1.person }, leftOut: newlyLeftOut(in: update))
        }

        private mutating func newlyLeftOut(in update: RangingUpdate) -> [Trust: Int] {
            defer { leftOut = update.leftOutOfKind }
            var new: [Trust: Int] = [:]
            for (kind, count) in update.leftOutOfKind {
                let more = count - leftOut[kind, default: 0]
                if more > 0, let trust = Trust(rawValue: kind) { new[trust] = more }
            }
            return new
        }

        /// The sighting of a person; nil while it is not confirmed.
        private mutating func sighting(
            of found: Recognition.Found, _ beacon: RangedBeacon, at time: Timestamp, instant: Duration
        ) -> Sighting? {
            // Packets are about one tick old; after the clock was set, their times can say otherwise.
            let age = Swift.min(Swift.max(beacon.lastSeen.duration(to: time), .zero), .seconds(5))
            guard found.isConfirmed else {
                unconfirmed[found.person, default: (instant - age, instant - age)].last = instant - age
                return nil
            }
            let first = found.isByFourBytes ? unconfirmed.removeValue(forKey: found.person)?.first : nil
            return Sighting(
                of: found.person, at: time.advanced(by: .zero - age).secondsSince1970, instant: instant - age,
                distance: beacon.metres, proximity: beacon.proximity, rssi: beacon.rssi, trust: found.trust,
                circle: found.circle, isRelayed: beacon.isHeardTwice, transmitters: beacon.transmitters,
                unconfirmed: first.map { instant - age - $0 } ?? .zero)
        }

        /// What a key proves comes before what any device can send; then the nearer one counts.
        private static func better(_ left: Sighting, _ right: Sighting) -> Sighting {
            guard left.trust == right.trust else { return left.trust > right.trust ? left : right }
            return right.estimatedDistance < left.estimatedDistance ? right : left
        }
    }
}
