/// Tells when regions are entered and left: packets and ticks in, events out (dossier 6).
///
/// A value without a clock: every call says what time it is. Each region is entered once and left once, however its
/// beacons come and go. Nothing is left within one scan window after the machine slept, the clock was set, or
/// the monitor was restored. At most ``Settings-swift.struct/capacity`` beacons are told apart; entering and leaving does not depend on it.
public struct RegionMonitor: Sendable {
    /// The regions, each once, in the order given.
    public let regions: [Region]
    public let settings: Settings
    /// Regions that were inside when the state was saved, too long ago to still hold; no event is made of them.
    public let expired: [Region]

    private var places: [Place]
    private var table: SightingTable<Void>
    private var timeline: SteadyTimeline
    /// When listening began, on the timeline.
    private var began: Timestamp?

    /// The most regions that iOS lets an app monitor.
    public static let mostOnApple = 20

    /// How regions are monitored.
    public struct Settings: Sendable, Hashable {
        /// How long nothing must be heard before a region is left.
        public var exitPeriod: Duration
        /// How long a scan takes to hear everybody, during which nothing is left after a pause.
        public var scanWindow: Duration = .seconds(10)
        /// The weakest packet that enters a region; nil takes any. It does not count for staying inside.
        public var weakestEntry: RSSI?
        /// The most beacons that are told apart.
        public var capacity = 4_096
        /// How frames are read.
        public var parser = FrameParser()

        public init(exitPeriod: Duration) {
            self.exitPeriod = exitPeriod
        }

        /// Left after ten seconds.
        public static let foreground = Settings(exitPeriod: .seconds(10))
        /// Left after thirty seconds.
        public static let background = Settings(exitPeriod: .seconds(30))
    }

    private struct Place: Sendable {
        let region: Region
        var lastSeen: Timestamp?
        var isInside = false
    }

    /// Watches regions.
    ///
    /// - Parameters:
    ///   - regions: the regions; one that comes twice counts once.
    ///   - settings: how they are monitored.
    ///   - state: what an earlier monitor saved; regions that it does not know begin afresh.
    ///   - now: the present, on the clock of the packets.
    public init(
        _ regions: [Region], settings: Settings = .foreground, restoring state: SavedState? = nil, now: Timestamp
    ) {
        var known: Set<Region> = []
        self.regions = regions.filter { known.insert($0).inserted }
        self.settings = settings
        table = SightingTable(capacity: settings.capacity)
        timeline = SteadyTimeline(leap: .seconds(5))
        let start = timeline.advance(to: now)
        began = start
        var saved: [Region: Timestamp] = [:]
        for entry in state?.inside ?? [] {
            saved[entry.region] = max(saved[entry.region] ?? entry.lastSeen, entry.lastSeen)
        }
        var places: [Place] = []
        var expired: [Region] = []
        for region in self.regions {
            var place = Place(region: region)
            // A time to come is of a clock that was set since: it says nothing of how long ago it was.
            if let lastSeen = saved[region] {
                if lastSeen <= now, lastSeen.duration(to: now) <= settings.exitPeriod {
                    place.isInside = true
                    place.lastSeen = lastSeen
                } else {
                    expired.append(region)
                }
            }
            places.append(place)
        }
        self.places = places
        self.expired = expired
    }

    /// What is unusual about the regions; nothing of it keeps them from being monitored.
    public var notices: [RegionNotice] {
        regions.count > Self.mostOnApple ? [.manyRegions(regions.count)] : []
    }

    /// Takes a packet. What is no beacon of any region is passed over.
    public mutating func receive(_ advertisement: Advertisement) -> [RegionEvent] {
        receive(settings.parser.frame(of: advertisement), rssi: advertisement.rssi, at: advertisement.time)
    }

    /// Takes a frame that was read already.
    public mutating func receive(_ frame: Frame, rssi: RSSI?, at time: Timestamp) -> [RegionEvent] {
        guard let identity = frame.identity else { return [] }
        let mayEnter = settings.weakestEntry.map { weakest in rssi.map { $0 >= weakest } ?? false } ?? true
        let now = timeline.advance(to: time)
        var events: [RegionEvent] = []
        var isWatched = false
        for index in places.indices where places[index].region.condition.contains(identity) {
            guard places[index].isInside || mayEnter else { continue }
            isWatched = true
            places[index].lastSeen = now
            guard !places[index].isInside else { continue }
            places[index].isInside = true
            events.append(.entered(places[index].region, by: identity, at: time))
        }
        guard isWatched else { return events }
        let (outcome, displaced) = table.note(identity, at: now, new: ()) { _ in }
        events += displaced.map { .disappeared($0, at: time) }
        if outcome == .new { events.append(.appeared(identity, at: time)) }
        return events
    }

    /// Leaves what has fallen silent. Call it once a second: a region is left at most one tick after its period.
    public mutating func tick(at time: Timestamp) -> [RegionEvent] {
        let now = timeline.advance(to: time)
        if let quiet = quietUntil, now < quiet { return [] }
        let oldest = now.advanced(by: .zero - settings.exitPeriod)
        var events = table.removeSilent(since: oldest).map { RegionEvent.disappeared($0, at: time) }
        for index in places.indices where places[index].isInside {
            guard let lastSeen = places[index].lastSeen, lastSeen < oldest else { continue }
            places[index].isInside = false
            events.append(.exited(places[index].region, at: time))
        }
        return events
    }

    /// Until when nothing is left: one scan window after the start and after each leap of the clock.
    private var quietUntil: Timestamp? {
        [began, timeline.resumed].compactMap(\.self).max()?.advanced(by: settings.scanWindow)
    }

    /// Whether one is inside a region; nil for one that is not monitored.
    public func state(of region: Region) -> RegionState? {
        guard let place = places.first(where: { $0.region == region }) else { return nil }
        if place.isInside { return .inside }
        if let quiet = quietUntil, place.lastSeen == nil, (timeline.now ?? quiet) < quiet { return .unknown }
        return .outside
    }

    /// What a later monitor needs: which regions are inside, and when their beacons were last heard.
    public func saved(at time: Timestamp) -> SavedState {
        let now = timeline.now ?? time
        return SavedState(
            time: time,
            inside: places.filter(\.isInside).map { place in
                // On the clock, which may not be where the timeline is.
                SavedState.Entry(
                    region: place.region,
                    lastSeen: time.advanced(by: now.duration(to: place.lastSeen ?? now)))
            })
    }

    /// Which regions were inside, and when.
    public struct SavedState: Sendable, Hashable, Codable {
        /// When it was saved.
        public let time: Timestamp
        /// The regions that were inside.
        public let inside: [Entry]

        /// A region and when a beacon of it was last heard.
        public struct Entry: Sendable, Hashable, Codable {
            public let region: Region
            public let lastSeen: Timestamp
        }
    }
}
