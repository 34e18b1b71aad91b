/// What happens at the borders of regions, for as long as packets may come (dossier 6).
///
/// Entering is told at the first packet, leaving at the tick behind the exit period. Nothing is asked of the source before the
/// first event is; a reader that is slow slows the source down, and no event is lost. Each iteration asks the source anew.
public struct RegionEvents<Source: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Source.Element == Advertisement {
    public typealias Element = RegionEvent

    private let source: Source
    private let monitor: RegionMonitor
    private let interval: Duration
    private let time: ScanTime
    private let save: @Sendable (RegionMonitor.SavedState) -> Void

    /// - Parameters:
    ///   - source: received packets, on the clock of `time`.
    ///   - monitor: the regions, and what an earlier monitor saved.
    ///   - interval: from one look at the clock to the next.
    ///   - time: what time it is, and how to wait.
    ///   - save: is given the state to keep at each tick.
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

    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// The events of one scan.
    public struct Iterator: AsyncIteratorProtocol {
        private let events: RegionEvents
        private var monitor: RegionMonitor
        private var owner: ScanInputsOwner?
        /// Events of the last input, the next one last.
        private var pending: [RegionEvent] = []
        private var isOver = false

        init(_ events: RegionEvents) {
            self.events = events
            monitor = events.monitor
        }

        /// The next event; nil at the end of the source.
        ///
        /// - Throws: what the source throws; `CancellationError`.
        public mutating func next() async throws -> RegionEvent? {
            if let event = pending.popLast() { return event }
            guard !isOver else { return nil }
            let owner = owner ?? start()
            do {
                while let input = try await owner.inputs.next() {
                    take(input)
                    if let event = pending.popLast() { return event }
                }
            } catch {
                isOver = true
                throw error
            }
            isOver = true
            return nil
        }

        private mutating func take(_ input: ScanInput) {
            switch input {
            case .packet(let packet): pending = monitor.receive(packet).reversed()
            case .tick(let time):
                pending = monitor.tick(at: time).reversed()
                events.save(monitor.saved(at: time))
            }
        }

        private mutating func start() -> ScanInputsOwner {
            let owner = ScanInputsOwner()
            self.owner = owner
            owner.inputs.open(events.source, every: events.interval, time: events.time)
            return owner
        }
    }
}
