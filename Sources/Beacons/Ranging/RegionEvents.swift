/// The events of region monitoring, until the source ends (dossier 6).
///
/// Entering is reported at the first packet, exiting at the tick after the exit period. The source is read once the first
/// event is requested; a slow reader slows the source down, and no event is lost. Each iteration reads the source again,
/// and throws what the source throws, or `CancellationError`.
public struct RegionEvents<Source: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Source.Element == Advertisement {
    private let source: Source
    private let monitor: RegionMonitor
    private let interval: Duration
    private let time: ScanTime
    private let save: @Sendable (RegionMonitor.SavedState) -> Void

    /// - Parameters:
    ///   - source: received packets, on the clock of `time`.
    ///   - monitor: the regions, and the state that an earlier monitor saved.
    ///   - interval: the time between ticks.
    ///   - time: the clock.
    ///   - save: receives the state to store, at each tick and at the end of the source, after the events before it.
    public init(
        of source: Source, monitor: RegionMonitor, every interval: Duration = .seconds(1), time: ScanTime = .system,
        save: @escaping @Sendable (RegionMonitor.SavedState) -> Void = { _ in }
    ) {
        self.source = source
        self.monitor = monitor
        self.interval = interval
        self.time = time
        self.save = save
    }

    public func makeAsyncIterator() -> some AsyncIteratorProtocol<RegionEvent, any Error> & Sendable {
        Iterator(self)
    }

    /// The events of one scan.
    private struct Iterator: AsyncIteratorProtocol, Sendable {
        private let events: RegionEvents
        private var reader: ScanReader<RegionScan>?
        /// Outputs that were read but not returned yet, the next one last.
        private var pending: [RegionScan.Output] = []
        private var isOver = false

        init(_ events: RegionEvents) {
            self.events = events
        }

        mutating func next() async throws -> RegionEvent? {
            while true {
                while let output = pending.popLast() {
                    switch output {
                    case .event(let event): return event
                    case .state(let state): events.save(state)
                    }
                }
                guard !isOver else { return nil }
                let reader = reader ?? start()
                // Set first, so that nothing follows an error.
                isOver = true
                pending = try await reader.next().reversed()
                isOver = pending.isEmpty
            }
        }

        private mutating func start() -> ScanReader<RegionScan> {
            let scan = RegionScan(monitor: events.monitor)
            let reader = ScanReader(scan, events.source, every: events.interval, time: events.time)
            self.reader = reader
            return reader
        }
    }
}

/// Monitoring as a scan: events, and the state to store after those of a tick.
struct RegionScan: ScanCore {
    static let maximumPending = 64

    enum Output: Sendable {
        case event(RegionEvent)
        case state(RegionMonitor.SavedState)
    }

    var monitor: RegionMonitor

    mutating func receive(_ advertisement: Advertisement) -> [Output] {
        monitor.receive(advertisement).map { .event($0) }
    }

    mutating func tick(at time: Timestamp) -> [Output] {
        monitor.tick(at: time).map { .event($0) } + [.state(monitor.saved(at: time))]
    }

    mutating func end(at time: Timestamp) -> [Output] { [.state(monitor.saved(at: time))] }
}
