/// The beacons in range, once a second, until the source ends (dossier 6).
///
/// ```swift
/// let settings = Ranging.Settings([.proximity(uuid: .secretHandshake)])
/// for try await update in RangingUpdates(of: packets, settings: settings) {
///     for beacon in update.beacons { print(beacon.identity, beacon.proximity) }
/// }
/// ```
///
/// The source is read once the first update is requested. No packet is lost and none queues: a slow reader gets one update
/// that waited for it, and then the current one. When the source ends, a last update covers the packets since the one
/// before. Each iteration reads the source again, and throws what the source throws, or `CancellationError`.
public struct RangingUpdates<Source: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Source.Element == Advertisement {
    private let source: Source
    private let settings: Ranging.Settings
    private let admission: RangingAdmission?
    private let interval: Duration
    private let time: ScanTime

    /// - Parameters:
    ///   - source: received packets, on the clock of `time`.
    ///   - settings: the settings of ranging.
    ///   - interval: the time between updates.
    ///   - time: the clock.
    public init(
        of source: Source, settings: Ranging.Settings = Ranging.Settings(), every interval: Duration = .seconds(1),
        time: ScanTime = .system
    ) {
        self.init(of: source, settings: settings, admitting: nil, every: interval, time: time)
    }

    /// Ranges the beacons that are admitted.
    package init(
        of source: Source, settings: Ranging.Settings, admitting admission: RangingAdmission?,
        every interval: Duration = .seconds(1), time: ScanTime
    ) {
        self.source = source
        self.settings = settings
        self.admission = admission
        self.interval = interval
        self.time = time
    }

    public func makeAsyncIterator() -> some AsyncIteratorProtocol<RangingUpdate, any Error> & Sendable {
        Iterator(self)
    }

    /// The updates of one scan.
    private struct Iterator: AsyncIteratorProtocol, Sendable {
        private let updates: RangingUpdates
        private var reader: ScanReader<RangingScan>?
        /// Updates that were read but not returned yet, the next one last.
        private var pending: [RangingUpdate] = []
        private var isOver = false

        init(_ updates: RangingUpdates) {
            self.updates = updates
        }

        mutating func next() async throws -> RangingUpdate? {
            if let update = pending.popLast() { return update }
            guard !isOver else { return nil }
            let reader = reader ?? start()
            // Set first, so that nothing follows an error.
            isOver = true
            pending = try await reader.next().reversed()
            isOver = pending.isEmpty
            return pending.popLast()
        }

        private mutating func start() -> ScanReader<RangingScan> {
            let scan = RangingScan(ranging: Ranging(updates.settings, admitting: updates.admission))
            let reader = ScanReader(scan, updates.source, every: updates.interval, time: updates.time)
            self.reader = reader
            return reader
        }
    }
}

/// Ranging as a scan: one output per tick.
struct RangingScan: ScanCore {
    static let maximumPending = 1

    var ranging: Ranging
    private var hasNews = false

    init(ranging: Ranging) {
        self.ranging = ranging
    }

    mutating func receive(_ advertisement: Advertisement) -> [RangingUpdate] {
        ranging.receive(advertisement)
        hasNews = true
        return []
    }

    mutating func tick(at time: Timestamp) -> [RangingUpdate] {
        hasNews = false
        return [ranging.tick(at: time)]
    }

    mutating func end(at time: Timestamp) -> [RangingUpdate] {
        hasNews ? tick(at: time) : []
    }
}
