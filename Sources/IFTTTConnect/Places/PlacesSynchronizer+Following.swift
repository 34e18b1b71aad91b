public import Geofences
import Handshake

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Positions that the app reports itself, from a receiver to the service.
extension PlacesSynchronizer {
    /// Follows a user's positions until they end. It records crossings of the areas, and uploads them.
    ///
    /// It does together what ``receive(_:now:)`` does for each fix, ``advance(to:)`` each second, and ``run(activating:)`` beside
    /// them. No upload holds up a position. When they end without an error it uploads what waits.
    ///
    /// On Apple's platforms let the system monitor the areas instead, by a `RegionCoordinator` of the module
    /// `Positions`: it goes on while the app does not run.
    ///
    /// - Parameters:
    ///   - fixes: of a receiver, as `fixes()` of a `PositionSource` gives them; or of a recording that is still being written.
    ///   - isRecording: whether the first fixes may be old. Their age is not checked, and time passes from the first one of now on.
    ///   - connections: watched besides those of earlier calls.
    ///   - report: called when what a fix or the passing of time brought is durable; then `fix` is nil. The next fix waits for it.
    /// - Throws: the error of `fixes` or `report`; ``ConnectError/account(_:)`` when the vault cannot be used; `CancellationError`.
    public nonisolated func follow<Fixes: AsyncSequence & Sendable>(
        _ fixes: Fixes, isRecording: Bool = false, activating connections: [ConnectionID] = [],
        report: @escaping Report = { _, _, _ in }
    ) async throws where Fixes.Element == Fix {
        let (crossed, crossing) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (live, current) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let durable: Report = { fix, outcome, crossings in
            try await report(fix, outcome, crossings)
            if !crossings.isEmpty { crossing.yield() }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                guard isRecording else { return try await self.takeLive(fixes, durable) }
                for try await fix in fixes {
                    if self.isCurrent(fix) { current.yield() }
                    let (outcome, crossings) = try await self.receive(fix, now: nil)
                    try await durable(fix, outcome, crossings)
                }
            }
            group.addTask {
                if isRecording { for await _ in live { break } }
                try await self.passTime(durable)
            }
            group.addTask { try await self.run(activating: connections) }
            group.addTask { for await _ in crossed { await self.synchronize(.crossing) } }
            // The positions end, or one of the tasks fails.
            let ended = await group.nextResult()
            group.cancelAll()
            // One that waits for another synchronization is no part of these tasks.
            await self.stopSynchronization()
            try ended?.get()
        }
        // An iteration that is cancelled ends as if there were no more positions.
        try Task.checkCancellation()
        await synchronize(.forced)
    }

    /// Receives a fix, or nil when only time has passed, and what it brought.
    public typealias Report =
        @Sendable (_ fix: Fix?, _ outcome: FixOutcome, _ crossings: [AreaCrossing]) async throws -> Void

    /// Takes fixes with the times at which they came, however long those before take.
    private nonisolated func takeLive<Fixes: AsyncSequence & Sendable>(
        _ fixes: Fixes, _ report: Report
    ) async throws where Fixes.Element == Fix {
        let now = time.now
        let arrivals = AsyncThrowingStream<(Fix, Date), any Error>(bufferingPolicy: .bufferingNewest(1_024)) {
            continuation in
            let task = Task {
                do {
                    for try await fix in fixes { continuation.yield((fix, Date(timeIntervalSince1970: now()))) }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
        for try await (fix, arrival) in arrivals {
            let (outcome, crossings) = try await receive(fix, now: arrival)
            try await report(fix, outcome, crossings)
        }
    }

    /// Each second: a user who stands still may send no position more.
    private nonisolated func passTime(_ report: Report) async throws {
        while true {
            try await time.clock.sleep(for: .seconds(1))
            let (events, crossings) = try await advance(to: Date(timeIntervalSince1970: time.now()))
            try await report(nil, .accepted(events), crossings)
        }
    }

    private nonisolated func isCurrent(_ fix: Fix) -> Bool {
        (time.now() - fix.time.timeIntervalSince1970).magnitude <= GeofenceMonitor.Configuration().maximumAge
    }
}
