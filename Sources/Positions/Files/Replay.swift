public import Geofences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A recorded track, at its own speed, faster, or as fast as it is read.
public struct Replay: PositionSource {
    public let fixes: [Fix]
    public let speed: Speed
    private let clock: any Clock<Duration>

    public enum Speed: Sendable, Hashable {
        /// So many times as fast as it was recorded; above 0.
        case times(Double)
        /// Without a pause.
        case maximum
    }

    /// Replays fixes in the order given. A pause of more than an hour is shortened to an hour.
    public init(_ fixes: [Fix], speed: Speed = .times(1), clock: any Clock<Duration> = ContinuousClock()) {
        self.fixes = fixes
        self.speed = speed
        self.clock = clock
    }

    public func updates() -> AsyncThrowingStream<PositionUpdate, any Error> {
        let playback = Playback(fixes: fixes, speed: speed, clock: clock)
        return AsyncThrowingStream { try await playback.next() }
    }
}

/// Where a replay is; one reader calls `next`, so the actor is never contended.
private actor Playback {
    private let fixes: [Fix]
    private let speed: Replay.Speed
    private let clock: any Clock<Duration>
    private var place = 0

    init(fixes: [Fix], speed: Replay.Speed, clock: any Clock<Duration>) {
        self.fixes = fixes
        self.speed = speed
        self.clock = clock
    }

    func next() async throws -> PositionUpdate? {
        guard place < fixes.count else { return nil }
        if place > 0, case .times(let factor) = speed, factor > 0 {
            let pause = fixes[place].time.timeIntervalSince(fixes[place - 1].time)
            let scaled = min(max(pause, 0), 3_600) / factor
            if scaled > 0 { try await clock.sleep(for: .seconds(scaled)) }
        }
        try Task.checkCancellation()
        defer { place += 1 }
        return .fix(fixes[place])
    }
}
