public import Beacons

/// Replays a recording as a radio (dossier 7.3). It has JSON lines such as
/// `{"t":1767225600.25,"addr":"D0:00:00:00:02:F7","rssi":-61,"ad":"1aff4c00…"}`.
///
/// | member | |
/// |---|---|
/// | `t` | seconds since 1970, or since the start of the recording |
/// | `addr` | the sender's address; optional or null |
/// | `rssi` | dBm; 127, 0, null or missing when it was not measured |
/// | `ad` | the advertising data in hexadecimal digits |
///
/// Other members and empty lines are ignored; a line is at most 8,192 bytes long.
///
/// Packets keep their recorded times. Pass ``time`` to an algorithm that reads a clock, so that it sees the recording's time at
/// any pace. A replay serves one scan at a time.
public struct RecordingReplay: Radio {
    /// The source of the lines.
    public enum Source: Sendable, Hashable {
        case file(String)
        case standardInput
        case lines([UInt8])
    }

    /// The speed of a replay.
    public struct Pace: Sendable, Hashable {
        /// Nil for no delays.
        let factor: Double?

        /// The recorded speed.
        public static let recorded = Pace(factor: 1)
        /// Without delays.
        public static let immediate = Pace(factor: nil)

        /// A multiple of the recorded speed.
        ///
        /// - Throws: ``RadioError/input(member:problem:)`` for anything but 0.001 to 1,000,000.
        public static func times(_ factor: Double) throws(RadioError) -> Pace {
            guard factor >= 0.001, factor <= 1_000_000 else {
                throw .input(member: "pace", problem: "the factor must be between 0.001 and 1000000")
            }
            return Pace(factor: factor)
        }
    }

    /// How invalid lines are handled.
    public enum Damage: Sendable, Hashable {
        /// They are reported as ``ScanEvent/damage(_:)`` and skipped. When no line can be read, or none of the first 100, the
        /// scan ends with ``RadioError/notARecording(_:)``.
        case skipped
        /// The first one ends the scan with ``RadioError/damagedRecording(_:)``.
        case fatal
    }

    /// The maximum pause between two packets, at every pace. A clock that jumped while recording, or a forged time,
    /// must not block the replay for days.
    public static let maximumPause = Duration.seconds(600)

    let source: Source
    let pace: Pace
    let damage: Damage
    let clock: any Clock<Duration>
    private let timeline = ReplayTimeline()

    /// Creates a replay.
    ///
    /// - Parameters:
    ///   - source: The source of the lines.
    ///   - pace: The speed.
    ///   - damage: How invalid lines are handled.
    ///   - clock: Measures the delays between packets.
    public init(
        _ source: Source, pace: Pace = .recorded, damage: Damage = .skipped,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.source = source
        self.pace = pace
        self.damage = damage
        self.clock = clock
    }

    /// The recording's time. It starts with the first packet, advances with each one, and stops after the last.
    ///
    /// Sleep on its clock before or while you scan: the first packet waits for that, for two seconds at most.
    public var time: ScanTime {
        timeline.share()
        return ScanTime(now: { [timeline] in timeline.time }, clock: timeline)
    }

    public func scan(for interest: ScanInterest) -> Scan {
        Scan(asking: {
            let reading = ReplayReading(replay: self, timeline: timeline, interest: interest)
            return { try await reading.next() }
        })
    }

    /// Not supported.
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
    private let replay: RecordingReplay
    private let timeline: ReplayTimeline
    private let interest: ScanInterest
    private let lines: LineReader
    private var hasBegun = false
    private var last: Timestamp?
    /// The packet that was read and not passed on yet.
    private var found: Advertisement?
    /// Whether any line could be read.
    private var isRecording = false
    /// The damage that was not reported yet.
    private var damage: [BeaconsError] = []
    private static let maximumDamage = 100

    init(replay: RecordingReplay, timeline: ReplayTimeline, interest: ScanInterest) {
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
        while true {
            if isRecording, !damage.isEmpty { return .damage(damage.removeFirst()) }
            if let advertisement = found {
                found = nil
                try await pass(to: advertisement.time)
                if interest.wants(advertisement.data) { return .advertisement(advertisement) }
            }
            guard let line = try await lines.next() else { break }
            switch line.content {
            case .failure(let error): try note(error)
            case .success(let advertisement):
                isRecording = isRecording || advertisement != nil
                found = advertisement
            }
        }
        if let first = damage.first { throw RadioError.notARecording(first) }
        return nil
    }

    private func note(_ error: BeaconsError) throws(RadioError) {
        guard replay.damage == .skipped else { throw .damagedRecording(error) }
        damage.append(error)
        guard isRecording || damage.count < Self.maximumDamage else { throw .notARecording(damage[0]) }
    }

    /// Advances the recording's time up to a packet. A packet older than the previous one is returned immediately.
    private func pass(to time: Timestamp) async throws {
        if last == nil { await timeline.begin() }
        let pause = last.map { $0.duration(to: time) } ?? .zero
        last = time
        if let factor = replay.pace.factor {
            var rest = Swift.min(pause, RecordingReplay.maximumPause)
            while rest > .zero {
                let step = Swift.min(rest, Self.step)
                try await replay.clock.sleep(for: step / factor)
                await timeline.advance(by: step)
                rest -= step
            }
        } else {
            try Task.checkCancellation()
            await timeline.advance(by: Swift.min(Swift.max(pause, .zero), RecordingReplay.maximumPause))
        }
        timeline.set(time)
    }

    /// The step in which the recording's time advances between two packets.
    private static let step = Duration.milliseconds(250)
}
