/// The beacons in range, once a second, for as long as packets may come (dossier 6).
///
/// ```swift
/// for try await update in RangingUpdates(of: packets, settings: Ranging.Settings([.proximity(uuid: .secretHandshake)])) {
///     for beacon in update.beacons { print(beacon.identity, beacon.proximity) }
/// }
/// ```
///
/// Nothing is asked of the source before the first update is. No packet is lost and none waits: a reader that is slow
/// gets one update that waited for it, and then the present again. When the source ends, a last update tells of the
/// packets since the one before. Each iteration asks the source anew.
public struct RangingUpdates<Source: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Source.Element == Advertisement {
    private let source: Source
    private let settings: Ranging.Settings
    private let interval: Duration
    private let time: ScanTime

    /// - Parameters:
    ///   - source: received packets, on the clock of `time`.
    ///   - settings: how ranging is done.
    ///   - interval: from one update to the next.
    ///   - time: what time it is, and how to wait.
    public init(
        of source: Source, settings: Ranging.Settings = Ranging.Settings(), every interval: Duration = .seconds(1),
        time: ScanTime = .system
    ) {
        self.source = source
        self.settings = settings
        self.interval = interval
        self.time = time
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// The updates of one scan.
    public struct Iterator: AsyncIteratorProtocol {
        private let updates: RangingUpdates
        private var reader: ScanReader<RangingScan>?
        /// What was read and not yet told, the next one last.
        private var pending: [RangingUpdate] = []
        private var isOver = false

        init(_ updates: RangingUpdates) {
            self.updates = updates
        }

        /// The next update; nil behind the last.
        ///
        /// - Throws: what the source throws; `CancellationError`.
        public mutating func next() async throws -> RangingUpdate? {
            if let update = pending.popLast() { return update }
            guard !isOver else { return nil }
            let reader = reader ?? start()
            // Until it is known better, so that nothing comes behind what is thrown.
            isOver = true
            pending = try await reader.next().reversed()
            isOver = pending.isEmpty
            return pending.popLast()
        }

        private mutating func start() -> ScanReader<RangingScan> {
            let scan = RangingScan(ranging: Ranging(updates.settings))
            let reader = ScanReader(scan, updates.source, every: updates.interval, time: updates.time)
            self.reader = reader
            return reader
        }
    }
}

/// Ranging as a scan: one output at each tick.
struct RangingScan: ScanCore {
    static let mostWaiting = 1

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
