public import Geofences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A recorded track, at its own speed, faster, or as fast as it is read.
public struct TrackReplay: PositionSource {
    public let speed: Speed
    private let track: Track
    private let clock: any Clock<Duration>

    public enum Speed: Sendable, Hashable {
        /// So many times as fast as it was recorded; above 0.
        case times(Double)
        /// Without a pause.
        case maximum
    }

    private enum Track {
        case fixes([Fix])
        case file(String, TrackFormat?)
    }

    /// Replays fixes in the order given. A pause of more than an hour is shortened to an hour.
    public init(_ fixes: [Fix], speed: Speed = .times(1), clock: any Clock<Duration> = .continuous) {
        (track, self.speed, self.clock) = (.fixes(fixes), speed, clock)
    }

    /// Replays a file or a pipe while it is read. The memory does not grow with its length.
    ///
    /// The updates throw ``PositionsError/unreadable(path:reason:)`` and the errors of ``GPX`` and ``NMEA``, after the
    /// fixes before the fault.
    ///
    /// - Parameters:
    ///   - path: the file, or `-` for standard input.
    ///   - format: nil to recognise it by the first character.
    ///   - speed: the pace, compared with the recording.
    ///   - clock: measures the delays.
    public init(
        file path: String, as format: TrackFormat? = nil, speed: Speed = .times(1),
        clock: any Clock<Duration> = .continuous
    ) {
        (track, self.speed, self.clock) = (.file(path, format), speed, clock)
    }

    public func updates() -> AsyncThrowingStream<PositionUpdate, any Error> {
        let playback = Playback(speed: speed, clock: clock)
        switch track {
        case .fixes(let fixes):
            let list = FixList(fixes)
            return AsyncThrowingStream { try await playback.play(list.next()) }
        case .file(let path, let format):
            let file = TrackFile(path, as: format)
            return AsyncThrowingStream {
                if let update = try await playback.play(file.next()) { return update }
                return await file.takePassedOver().map { .passedOver($0) }
            }
        }
    }
}

/// Where a replay is; one reader calls `next`, so the actor is never contended.
private actor FixList {
    private var rest: ArraySlice<Fix>

    init(_ fixes: [Fix]) { rest = fixes[...] }

    func next() -> Fix? { rest.popFirst() }
}

/// Pauses between fixes. An actor for the same reason.
private actor Playback {
    private let speed: TrackReplay.Speed
    private let clock: any Clock<Duration>
    private var last: Fix?

    init(speed: TrackReplay.Speed, clock: any Clock<Duration>) {
        self.speed = speed
        self.clock = clock
    }

    func play(_ fix: Fix?) async throws -> PositionUpdate? {
        guard let fix else { return nil }
        if let last, case .times(let factor) = speed, factor > 0 {
            let pause = fix.time.timeIntervalSince(last.time)
            let scaled = min(max(pause, 0), 3_600) / factor
            if scaled > 0 { try await clock.sleep(for: .seconds(scaled)) }
        }
        try Task.checkCancellation()
        last = fix
        return .fix(fix)
    }
}
