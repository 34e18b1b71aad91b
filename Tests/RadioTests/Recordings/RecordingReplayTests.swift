import Beacons
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import Radio

@Suite("Replaying a recording")
struct RecordingReplayTests {
    private static let first = line("1767225600", "D0:00:00:00:02:F7", -61, Packets.iBeacon)
    private static let second = line("1767225602.5", "D0:00:00:00:00:02", -70, Packets.altBeacon)

    private static func line(_ time: String, _ address: String, _ rssi: Int, _ bytes: [UInt8]) -> String {
        #"{"t":\#(time),"addr":"\#(address)","rssi":\#(rssi),"ad":"\#(hex(bytes))"}"#
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func replay(
        _ lines: [String], pace: RecordingReplay.Pace = .immediate, damage: RecordingReplay.Damage = .skipped,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> RecordingReplay {
        RecordingReplay(.lines(Array(lines.joined(separator: "\n").utf8)), pace: pace, damage: damage, clock: clock)
    }

    private static func events(_ scan: Scan) async throws -> [ScanEvent] {
        var events: [ScanEvent] = []
        for try await event in scan { events.append(event) }
        return events
    }

    private static func packets() throws -> [ScanEvent] {
        [
            .advertisement(try Packets.advertisement(Packets.iBeacon)),
            .advertisement(
                try Packets.advertisement(
                    Packets.altBeacon, "D0:00:00:00:00:02", rssi: -70, at: Air.now.advanced(by: .milliseconds(2_500)))),
        ]
    }

    @Test("BE-23: a recording comes as it was heard, with its own times")
    func order() async throws {
        let events = try await Self.events(Self.replay([Self.first, "", Self.second, ""]).scan())
        #expect(events == [.status(.listening(.recording))] + (try Self.packets()))
    }

    @Test("a last line without its end is read")
    func lastLine() async throws {
        #expect(try await Self.events(Self.replay([Self.first]).scan()).count == 2)
    }

    @Test("a damaged line is told of with its number and hides no other")
    func damage() async throws {
        let long = String(repeating: "x", count: RecordingCodec.maximumLineLength + 1)
        let lines = [Self.first, "nonsense", long, #"{"t":1,"rssi":-60}"#, Self.second]
        let events = try await Self.events(Self.replay(lines).scan())
        let numbers = events.compactMap { event -> Int? in
            if case .damage(.recording(let line, _)) = event { line } else { nil }
        }
        #expect(numbers == [2, 3, 4])
        #expect(events.filter { if case .advertisement = $0 { true } else { false } } == (try Self.packets()))
    }

    @Test("damage before the first line that can be read keeps its place")
    func earlyDamage() async throws {
        let events = try await Self.events(Self.replay(["a", "", "b", Self.first, "c"]).scan())
        let places = events.map { event -> Int? in
            if case .damage(.recording(let line, _)) = event { line } else { nil }
        }
        // The first event is the status.
        #expect(places == [nil, 1, 3, nil, 5])
    }

    @Test(
        "a file without a line that can be read is no recording, and is not read to its end",
        arguments: [1, 100, 100_000])
    func noRecording(count: Int) async throws {
        let error = await #expect(throws: RadioError.self) {
            _ = try await Self.events(Self.replay([""] + Array(repeating: "nonsense", count: count)).scan())
        }
        #expect(error == .notARecording(.recording(line: 2, problem: "it is not a JSON object")))
        #expect(try await Self.events(Self.replay([""]).scan()).count == 1)
    }

    @Test("a strict replay ends at the first damaged line")
    func strict() async throws {
        let replay = Self.replay([Self.first, "nonsense", Self.second], damage: .fatal)
        var events: [ScanEvent] = []
        let error = await #expect(throws: RadioError.self) {
            for try await event in replay.scan() { events.append(event) }
        }
        guard case .damagedRecording(.recording(line: 2, _)) = error else { throw AirError.unexpected }
        #expect(events.count == 2)
    }

    @Test("a line that never ends takes no more memory than the longest line")
    func endlessLine() async throws {
        let folder = try TemporaryFolder()
        let name = folder.path + "/recording.jsonl"
        try Data((String(repeating: "x", count: 5_000_000) + "\n" + Self.first + "\n").utf8)
            .write(to: URL(filePath: name))
        let events = try await Self.events(RecordingReplay(.file(name), pace: .immediate).scan())
        #expect(events.count == 3)
        #expect(events.last == (try Self.packets().first))
    }

    @Test("a device that never ends a line is no recording")
    func endlessDevice() async throws {
        let error = await #expect(throws: RadioError.self) {
            for try await _ in RecordingReplay(.file("/dev/zero"), pace: .immediate).scan() {}
        }
        #expect(error == .file(name: "/dev/zero", reason: "it has a line that does not end"))
    }

    @Test("what is not wanted is left out of a recording too")
    func interest() async throws {
        let events = try await Self.events(
            Self.replay([Self.first, Self.second]).scan(for: .iBeacons(.secretHandshake)))
        #expect(events == [.status(.listening(.recording)), try Self.packets()[0]])
    }

    @Test("BE-23: packets come at the pace that was asked for", arguments: [1.0, 5.0])
    func pace(factor: Double) async throws {
        let clock = ManualClock()
        let replay = try Self.replay([Self.first, Self.second], pace: .times(factor), clock: clock)
        let count = Mutex(0)
        let reading = Task {
            for try await _ in replay.scan() { count.withLock { $0 += 1 } }
        }
        // 2.5 s in steps of 250 ms.
        for step in 1...10 {
            await clock.sleeper(of: .milliseconds(250) / factor)
            #expect(count.withLock { $0 } == 2, "before step \(step)")
            clock.advance(by: .milliseconds(250) / factor)
        }
        try await reading.value
        #expect(count.withLock { $0 } == 3)
    }

    @Test("a clock that leapt while it was recorded delays the replay by ten minutes at most, one set back not at all")
    func leap() async throws {
        let clock = ManualClock()
        let later = Self.first.replacing("1767225600", with: "1967225600")
        let replay = Self.replay([Self.first, later, Self.first], pace: .recorded, clock: clock)
        let reading = Task { try await Self.events(replay.scan()).count }
        for _ in 1...(600 * 4) {
            await clock.sleeper(of: .milliseconds(250))
            clock.advance(by: .milliseconds(250))
        }
        #expect(try await reading.value == 4)
    }

    @Test("a replay without delays passes ten minutes at most between two packets, whatever their times")
    func leapWithoutDelays() async throws {
        let later = Self.first.replacing("1767225600", with: "4000000000")
        let replay = Self.replay([Self.first, later])
        let clock = try #require(replay.time.clock as? ReplayTimeline)
        let begin = clock.now
        #expect(try await Self.events(replay.scan()).count == 3)
        #expect(begin.duration(to: clock.now) == RecordingReplay.maximumPause)
        #expect(replay.time.now().wholeSeconds == 4_000_000_000)
    }

    @Test("a replay without delays skips no tick, however many turns other tasks take", arguments: [0, 1000])
    func time(turns: Int) async throws {
        let lines = (0..<10).map { second in Self.first.replacing("1767225600", with: "\(1_767_225_600 + second)") }
        let replay = Self.replay(lines, pace: .immediate)
        let time = replay.time
        let ticks = Mutex<[Int64]>([])
        let ticking = Task {
            while true {
                try await time.clock.sleep(for: .seconds(1))
                ticks.withLock { $0.append(time.now().wholeSeconds - 1_767_225_600) }
                for _ in 0..<turns { await Task.yield() }
            }
        }
        // The recording begins when a task sleeps on its clock.
        while (time.clock as? ReplayTimeline)?.isAwaited == false { await Task.yield() }
        _ = try await Self.events(replay.scan())
        #expect(ticks.withLock { $0 } == Array(1...9))
        ticking.cancel()
    }

    /// A recording's clock whose reader is late: other tasks have many turns before it sleeps first.
    private struct LateClock: Clock {
        let timeline: ReplayTimeline
        let turns: Int

        var now: ReplayTimeline.Instant { timeline.now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ReplayTimeline.Instant, tolerance: Duration?) async throws {
            if timeline.now == ReplayTimeline.Instant(offset: .zero) {
                for _ in 0..<turns { await Task.yield() }
            }
            try await timeline.sleep(until: deadline, tolerance: tolerance)
        }
    }

    @Test(
        "a replay without delays waits for its reader's first tick, however late that begins", arguments: [0, 1_000])
    func lateReader(turns: Int) async throws {
        let lines = (0..<30).map { second in Self.first.replacing("1767225600", with: "\(1_767_225_600 + second)") }
        let replay = Self.replay(lines)
        let time = replay.time
        let late = LateClock(timeline: try #require(time.clock as? ReplayTimeline), turns: turns)
        let updates = RangingUpdates(
            of: replay.scan().advertisements(), time: ScanTime(now: time.now, clock: late))
        var first: RangingUpdate?
        for try await update in updates where first == nil { first = update }
        #expect(first?.time.wholeSeconds == 1_767_225_601)
    }

    @Test("a file that is not there is told of by name")
    func noFile() async {
        await #expect(throws: RadioError.file(name: "/nonexistent/a.jsonl", reason: "No such file or directory")) {
            try await Self.events(RecordingReplay(.file("/nonexistent/a.jsonl")).scan())
        }
    }

    @Test("a folder is no recording")
    func folder() async {
        await #expect(throws: RadioError.self) { try await Self.events(RecordingReplay(.file("/")).scan()) }
    }

    @Test("a recording sends nothing, and says so")
    func sends() async {
        await #expect(throws: RadioError.notSupported(feature: "sending from a recording")) {
            try await Self.replay([]).advertise(AdvertisingData(received: Packets.iBeacon))
        }
    }

    @Test("a pace that is none is refused", arguments: [0, -1, Double.nan, .infinity])
    func noPace(factor: Double) {
        #expect(throws: RadioError.self) { try RecordingReplay.Pace.times(factor) }
    }

    @Test("a waiting replay is cancelled immediately")
    func cancellation() async {
        let clock = ManualClock()
        let replay = Self.replay([Self.first, Self.second], pace: .recorded, clock: clock)
        let reading = Task { try await Self.events(replay.scan()) }
        await clock.sleeper(of: .milliseconds(250))
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }
}
