/// The beacons in range, once a second, for as long as packets may come (dossier 6).
///
/// ```swift
/// for try await update in RangingUpdates(of: packets, settings: Ranging.Settings([.proximity(uuid: .secretHandshake)])) {
///     for beacon in update.beacons { print(beacon.identity, beacon.proximity) }
/// }
/// ```
///
/// Nothing is asked of the source before the first update is. A reader that is slow slows the source down; no packet is lost and
/// at most a few dozen wait. When the source ends, a last update tells of the packets since the one before. Each iteration
/// asks the source anew.
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
        private var ranging: Ranging
        private var owner: ScanInputsOwner?
        private var hasNews = false
        private var isOver = false

        init(_ updates: RangingUpdates) {
            self.updates = updates
            ranging = Ranging(updates.settings)
        }

        /// The next update; nil behind the last.
        ///
        /// - Throws: what the source throws; `CancellationError`.
        public mutating func next() async throws -> RangingUpdate? {
            guard !isOver else { return nil }
            let owner = owner ?? start()
            do {
                while let input = try await owner.inputs.next() {
                    switch input {
                    case .packet(let packet):
                        ranging.receive(packet)
                        hasNews = true
                    case .tick(let time):
                        hasNews = false
                        return ranging.tick(at: time)
                    }
                }
            } catch {
                isOver = true
                throw error
            }
            isOver = true
            return hasNews ? ranging.tick(at: updates.time.now()) : nil
        }

        private mutating func start() -> ScanInputsOwner {
            let owner = ScanInputsOwner()
            self.owner = owner
            owner.inputs.open(updates.source, every: updates.interval, time: updates.time)
            return owner
        }
    }
}
