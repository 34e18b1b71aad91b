public import Beacons
public import Radio
import Synchronization

/// What a radio does while people nearby are watched.
public enum RadioWatchEvent: Sendable, Hashable {
    /// How listening is going.
    case listening(RadioStatus)
    /// How sending is going.
    case sending(RadioStatus)
    /// Sending has failed for good, for example because the adapter cannot advertise. Listening goes on.
    case sendingFailed(RadioError)
    /// A line of a recording cannot be read and is left out.
    case damage(BeaconsError)
}

extension PeopleNearby {
    /// Watches over a radio until it ends or the task is cancelled, and sends an identifier meanwhile when there is one to send.
    ///
    /// A radio that cannot send goes on listening. With ``Pace/recorded``, encounters are measured on the recording's clock,
    /// which is all that a recording has; otherwise on a clock that never jumps.
    ///
    /// - Parameters:
    ///   - radio: what is listened to.
    ///   - recognition: who sends which beacon.
    ///   - broadcasts: what is sent; nil for nothing.
    ///   - time: the clock of the packets; for a recording `Replay.time`.
    ///   - radioEvent: is told how the radio does, in order.
    ///   - report: is told what happens. The watch waits for it.
    /// - Throws: what the radio throws while it listens; `CancellationError`. What was near is in the log by then.
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
        let updates = RangingUpdates(of: packets, settings: Self.ranging, time: time)
        // The end of this scope, for whatever reason, cancels the sending and waits for its end.
        try await run(on: SightingLists(of: updates, recognition: recognition, elapsed: elapsed()), report: report)
    }

    private func send(
        _ broadcasts: Broadcasts?, over radio: any Radio, _ radioEvent: @escaping @Sendable (RadioWatchEvent) -> Void
    ) async {
        guard let broadcasts else { return }
        do {
            try await radio.advertise(broadcasts) { radioEvent(.sending($0)) }
        } catch let error as RadioError {
            radioEvent(.sendingFailed(error))
        } catch {
            // Cancelled: the watch has ended.
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

    /// What is ranged: the fleet's iBeacons, and Eddystone UIDs, which carry long rolling identifiers.
    private static var ranging: Ranging.Settings {
        var settings = Ranging.Settings([.proximity(uuid: .secretHandshake), .eddystone(namespace: nil)])
        settings.filter = .quick
        return settings
    }
}

/// The time of the first tick. A class with a lock, because the function that remembers it may be called from any task.
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
