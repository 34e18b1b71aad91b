public import Beacons

/// A recording as a radio: JSON lines as `RecordingCodec` describes them (dossier 7.3).
///
/// Packets keep the times that were recorded. An algorithm that looks at a clock is given ``time``, so that it sees the time of the
/// recording, at whatever pace. A replay is for one scan at a time.
public struct Replay: Radio {
    /// Where the lines come from.
    public enum Source: Sendable, Hashable {
        case file(String)
        case standardInput
        case lines([UInt8])
    }

    /// How fast packets come.
    public struct Pace: Sendable, Hashable {
        /// Nil for no waiting at all.
        let factor: Double?

        /// As they were recorded.
        public static let recorded = Pace(factor: 1)
        /// One after the other, as fast as they are read.
        public static let atOnce = Pace(factor: nil)

        /// So many times as fast as they were recorded.
        ///
        /// - Throws: ``RadioError/input(member:problem:)`` for anything but 0.001 to 1,000,000.
        public static func times(_ factor: Double) throws(RadioError) -> Pace {
            guard factor >= 0.001, factor <= 1_000_000 else {
                throw .input(member: "pace", problem: "the factor must be between 0.001 and 1000000")
            }
            return Pace(factor: factor)
        }
    }

    /// What becomes of lines that cannot be read.
    public enum Damage: Sendable, Hashable {
        /// They are told of as ``ScanEvent/damage(_:)`` and left out.
        case skipped
        /// The first one ends the scan with ``RadioError/damagedRecording(_:)``.
        case fatal
    }

    /// A longer pause between two packets is cut to this, at every pace: a clock that jumped while it was recorded, or a packet
    /// with any time at all, must not keep the replay busy for days.
    public static let longestPause = Duration.seconds(600)

    let source: Source
    let pace: Pace
    let damage: Damage
    let clock: any Clock<Duration>
    private let timeline = ReplayTimeline()

    /// A replay.
    ///
    /// - Parameters:
    ///   - source: Where the lines come from.
    ///   - pace: How fast packets come.
    ///   - damage: What becomes of lines that cannot be read.
    ///   - clock: What the pauses between packets are measured on.
    public init(
        _ source: Source, pace: Pace = .recorded, damage: Damage = .skipped,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.source = source
        self.pace = pace
        self.damage = damage
        self.clock = clock
    }

    /// The time of the recording: it stands still until the first packet, passes as packets come, and stops behind the last.
    public var time: ScanTime {
        ScanTime(now: { [timeline] in timeline.time }, clock: timeline)
    }

    public func scan(for interest: ScanInterest) -> Scan {
        Scan(asking: {
            let reading = ReplayReading(replay: self, timeline: timeline, interest: interest)
            return { try await reading.next() }
        })
    }

    /// A recording sends nothing.
    ///
    /// - Throws: ``RadioError/notSupported(feature:)``, always.
    public func advertise<Source: AsyncSequence & Sendable>(
        _ broadcasts: Source, status: @escaping @Sendable (RadioStatus) -> Void
    ) async throws where Source.Element == Broadcast {
        throw RadioError.notSupported(feature: "sending from a recording")
    }
}

/// One pass through a recording.
private actor ReplayReading {
    private let replay: Replay
    private let timeline: ReplayTimeline
    private let interest: ScanInterest
    private let lines: LineReader
    private var hasBegun = false
    private var last: Timestamp?

    init(replay: Replay, timeline: ReplayTimeline, interest: ScanInterest) {
        self.replay = replay
        self.timeline = timeline
        self.interest = interest
        lines = LineReader(replay.source)
    }

    func next() async throws -> ScanEvent? {
        guard hasBegun else {
            hasBegun = true
            try await lines.open()
            return .status(.listening(.recording))
        }
        while let line = try await lines.next() {
            switch line.content {
            case .failure(let error):
                guard replay.damage == .skipped else { throw RadioError.damagedRecording(error) }
                return .damage(error)
            case .success(nil): continue
            case .success(let advertisement?):
                try await pass(to: advertisement.time)
                if interest.wants(advertisement.data) { return .advertisement(advertisement) }
            }
        }
        return nil
    }

    /// Lets the time of the recording pass up to a packet. A packet that is older than the one before comes at once.
    private func pass(to time: Timestamp) async throws {
        let pause = last.map { $0.duration(to: time) } ?? .zero
        last = time
        if let factor = replay.pace.factor {
            var rest = Swift.min(pause, Replay.longestPause)
            while rest > .zero {
                let step = Swift.min(rest, Self.step)
                try await replay.clock.sleep(for: step / factor)
                await timeline.advance(by: step)
                rest -= step
            }
        } else {
            try Task.checkCancellation()
            await timeline.advance(by: Swift.min(Swift.max(pause, .zero), Replay.longestPause))
        }
        timeline.set(time)
    }

    /// How finely the time of a recording passes between two packets.
    private static let step = Duration.milliseconds(250)
}
