public import Geofences

/// A way to learn where the user is. It is gpsd, GeoClue, Core Location, a file, or the app itself.
///
/// A source is a value and does nothing until its updates are iterated; it stops when the iteration is cancelled or dropped.
/// Each iteration runs by itself.
public protocol PositionSource: Sendable {
    /// Fixes and changes of the source's state, in order.
    ///
    /// A slow reader misses old fixes, never the newest; sources of a file wait for the reader instead. A device or a daemon that
    /// goes away is reported and waited for; the sequence throws ``PositionsError`` only for what waiting cannot fix.
    func updates() -> AsyncThrowingStream<PositionUpdate, any Error>
}

/// What a source reports.
public enum PositionUpdate: Sendable, Hashable {
    case fix(Fix)
    /// No position for now, and why. The source keeps trying.
    case unavailable(PositionsError)
    /// So many points of a file have no valid position or no time. Comes at its end.
    case passedOver(Int)
}

extension PositionSource {
    /// Only the fixes.
    public func fixes() -> AsyncCompactMapSequence<AsyncThrowingStream<PositionUpdate, any Error>, Fix> {
        updates().compactMap { update in
            if case .fix(let fix) = update { fix } else { nil }
        }
    }
}

/// How many updates wait for a slow reader.
let bufferedUpdates = 256

extension AsyncThrowingStream where Element == PositionUpdate, Failure == any Error {
    /// The updates that `run` reports until it ends or throws.
    init(
        reportedBy run:
            @escaping @Sendable (_ report: @escaping @Sendable (PositionUpdate) -> Void) async throws -> Void
    ) {
        self.init(bufferingPolicy: .bufferingNewest(bufferedUpdates)) { continuation in
            let task = Task {
                do {
                    try await run { continuation.yield($0) }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
