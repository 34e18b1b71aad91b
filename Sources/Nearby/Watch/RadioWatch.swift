public import Beacons
public import Radio
import Synchronization

/// An event of the radio while people nearby are watched.
public enum RadioWatchEvent: Sendable, Hashable {
    /// The status of scanning.
    case listening(RadioStatus)
    /// The status of advertising.
    case sending(RadioStatus)
    /// Advertising failed permanently. The adapter may not support it, for example. Scanning continues.
    case sendingFailed(RadioError)
    /// A line of a recording cannot be read and is skipped.
    case damage(BeaconsError)
}

extension PeopleNearby {
    /// Watches over a radio until it ends or the task is cancelled. It advertises the user's identifier if there is
    /// one.
    ///
    /// A radio that cannot advertise still scans. With ``Pace/recorded``, encounters are measured on the recording's clock,
    /// the only one it has; otherwise on a monotonic clock.
    ///
    /// - Parameters:
    ///   - radio: the radio to scan with.
    ///   - recognition: maps beacons to people.
    ///   - broadcasts: what to advertise; nil for nothing.
    ///   - time: the clock of the packets; for a recording `RecordingReplay.time`.
    ///   - radioEvent: receives the radio's events, in order.
    ///   - report: receives every event. The watch awaits it.
    /// - Throws: what the radio throws while scanning; `CancellationError`. Running encounters are in the log by then.
    public func run(
        over radio: any Radio, recognizing recognition: Recognition, sending broadcasts: Broadcasts? = nil,
        time: ScanTime = .system, radioEvent: @escaping @Sendable (RadioWatchEvent) -> Void,
        report: @escaping @Sendable (NearbyUpdate) async -> Void
    ) async throws {
        async let _: Void = send(broadcasts, over: radio, radioEvent)
        let packets = radio.scan(for: .beacons).advertisements { event in
            switch event {
            case .advertisement: break
            case .status(let status): radioEvent(.listening(status))
            case .damage(let error): radioEvent(.damage(error))
            }
        }
        let recognition = SharedRecognition(recognition)
        let updates = RangingUpdates(
            of: packets, settings: Self.ranging, admitting: recognition.admission, time: time)
        // Leaving this scope cancels advertising and awaits its end.
        try await run(on: SightingLists(of: updates, sharing: recognition, elapsed: elapsed()), report: report)
    }

    private func send(
        _ broadcasts: Broadcasts?, over radio: any Radio, _ radioEvent: @escaping @Sendable (RadioWatchEvent) -> Void
    ) async {
        guard let broadcasts else { return }
        do {
            try await radio.advertise(broadcasts) { radioEvent(.sending($0)) }
        } catch let error as RadioError {
            radioEvent(.sendingFailed(error))
        } catch is CancellationError {
            // The watch has ended.
        } catch {
            radioEvent(.sendingFailed(.refused(operation: "sending", reason: "\(error)")))
        }
    }

    /// The time since the watch began, given a tick's calendar time.
    private func elapsed() -> @Sendable (Timestamp) -> Duration {
        switch pace {
        case .live:
            let start = ContinuousClock.now
            return { _ in ContinuousClock.now - start }
        case .recorded:
            let first = FirstTimestamp()
            return { first.value(orSet: $0).duration(to: $0) }
        }
    }

    /// The ranged beacons: service UUIDs, the fleet's iBeacons, and Eddystone UIDs, which carry rolling identifiers too.
    private static var ranging: Ranging.Settings {
        var settings = Ranging.Settings([
            .rollingService, .proximity(uuid: .secretHandshake), .eddystone(namespace: nil),
        ])
        settings.filter = .quick
        return settings
    }
}

/// The time of the first tick. A class with a lock, because the closure that reads it can be called from any task.
private final class FirstTimestamp: Sendable {
    private let first = Mutex<Timestamp?>(nil)

    func value(orSet time: Timestamp) -> Timestamp {
        first.withLock { first in
            let value = first ?? time
            first = value
            return value
        }
    }
}
