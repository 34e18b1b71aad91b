/// Reports when regions are entered and exited (dossier 6). It takes packets and ticks, and returns events.
///
/// A value without a clock: every call passes the time. Each region is entered once and exited once, however often its
/// beacons come and go. Nothing is exited within one scan window after the machine slept, the clock was set, or the monitor
/// was restored. It distinguishes at most ``Settings-swift.struct/capacity`` beacons; entering and exiting do not depend on them.
public struct RegionMonitor: Sendable {
    /// The regions, each once, in the order given.
    public let regions: [Region]
    public let settings: Settings
    /// Regions whose saved state is too old; no events are sent for them.
    public let expired: [Region]

    private var places: [Place]
    private var table: SightingTable<Void>
    private var timeline: SteadyTimeline
    /// When monitoring began, on the timeline.
    private var began: Timestamp?

    /// The maximum number of regions that iOS monitors per app.
    public static let maximumOnApple = 20

    /// The settings of monitoring.
    public struct Settings: Sendable, Hashable {
        /// How long no beacon must be heard before a region is exited.
        public var exitPeriod: Duration
        /// How long a scan takes to hear every beacon. After a pause, nothing is exited for that long.
        public var scanWindow: Duration = .seconds(10)
        /// The weakest signal that enters a region; nil accepts any. It does not apply to staying inside.
        public var weakestEntry: RSSI?
        /// The maximum number of beacons to distinguish.
        public var capacity = 4_096
        /// How frames are parsed.
        public var parser = FrameParser()

        public init(exitPeriod: Duration) {
            self.exitPeriod = exitPeriod
        }

        /// Exits after ten seconds.
        public static let foreground = Settings(exitPeriod: .seconds(10))
        /// Exits after thirty seconds.
        public static let background = Settings(exitPeriod: .seconds(30))
    }

    private struct Place: Sendable {
        let region: Region
        var lastSeen: Timestamp?
        var isInside = false
    }

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - regions: the regions; duplicates count once.
    ///   - settings: the settings of monitoring.
    ///   - state: the state that an earlier monitor saved; other regions start as unknown.
    ///   - now: the present, on the packets' clock.
    public init(
        _ regions: [Region], settings: Settings = .foreground, restoring state: SavedState? = nil, now: Timestamp
    ) {
        var known: Set<Region> = []
        self.regions = regions.filter { known.insert($0).inserted }
        self.settings = settings
        table = SightingTable(capacity: settings.capacity)
        timeline = SteadyTimeline(jumpThreshold: .seconds(5))
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
            // A time in the future: the clock was set back since, so the age of the state is unknown.
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

    /// Limits of other platforms that the regions exceed. They do not affect monitoring.
    public var notices: [RegionNotice] {
        regions.count > Self.maximumOnApple ? [.manyRegions(regions.count)] : []
    }

    /// Adds a packet. Ignores beacons of no region.
    public mutating func receive(_ advertisement: Advertisement) -> [RegionEvent] {
        receive(settings.parser.frame(of: advertisement), rssi: advertisement.rssi, at: advertisement.time)
    }

    /// Adds a parsed frame.
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

    /// Exits regions that fell silent. Call it once a second: a region is exited at most one tick after its period.
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

    /// The end of the scan window in which nothing is exited: after the start, and after each jump of the clock.
    private var quietUntil: Timestamp? {
        [began, timeline.resumed].compactMap(\.self).max()?.advanced(by: settings.scanWindow)
    }

    /// The state of a region; nil when it is not monitored.
    public func state(of region: Region) -> RegionState? {
        guard let place = places.first(where: { $0.region == region }) else { return nil }
        if place.isInside { return .inside }
        if let quiet = quietUntil, place.lastSeen == nil, (timeline.now ?? quiet) < quiet { return .unknown }
        return .outside
    }

    /// The state for a later monitor. It says which regions are inside, and when their beacons were last heard.
    public func saved(at time: Timestamp) -> SavedState {
        let now = timeline.now ?? time
        return SavedState(
            time: time,
            inside: places.filter(\.isInside).map { place in
                // On the clock, which can differ from the timeline.
                SavedState.Entry(
                    region: place.region,
                    lastSeen: time.advanced(by: now.duration(to: place.lastSeen ?? now)))
            })
    }

    /// The regions that were inside, and when.
    public struct SavedState: Sendable, Hashable, Codable {
        /// When it was saved.
        public let time: Timestamp
        /// The regions that were inside.
        package let inside: [Entry]

        /// A region and when a beacon of it was last heard.
        package struct Entry: Sendable, Hashable, Codable {
            package let region: Region
            package let lastSeen: Timestamp
        }
    }
}
