public import Geofences
import Synchronization

/// Positions that the app reports itself.
///
/// A class, because the reporting and the reading side share it. Each iteration gets every fix from its beginning on.
public final class PositionFeed: PositionSource {
    private typealias Continuation = AsyncThrowingStream<PositionUpdate, any Error>.Continuation

    private let readers = Mutex((next: 0, active: [Int: Continuation]()))

    public init() {}

    public func updates() -> AsyncThrowingStream<PositionUpdate, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: PositionUpdate.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(bufferedUpdates))
        let number = readers.withLock { readers in
            readers.next += 1
            readers.active[readers.next] = continuation
            return readers.next
        }
        continuation.onTermination = { [weak self] _ in self?.readers.withLock { $0.active[number] = nil } }
        return stream
    }

    /// Hands a fix to every reader.
    public func report(_ fix: Fix) {
        for reader in readers.withLock({ Array($0.active.values) }) { reader.yield(.fix(fix)) }
    }

    /// Ends every iteration.
    public func finish() {
        for reader in readers.withLock({ Array($0.active.values) }) { reader.finish() }
    }
}
