import Handshake
import OAuth
import Synchronization
import TestFixtures

/// A transport that answers nothing before the test lets it; what is cancelled meanwhile it gives up.
final class HeldTransport: Transport {
    private struct State {
        var asked = 0
        var cancelled = 0
    }

    private let state = Mutex(State())
    private let (answers, release) = AsyncStream<Never>.makeStream()
    /// Opens at the first request.
    let asked = Gate()

    /// How many requests have come.
    var count: Int { state.withLock { $0.asked } }
    /// How many of them were given up.
    var cancelled: Int { state.withLock { $0.cancelled } }

    /// Lets the request that waits, and all to come, go on to the real service.
    func answer() { release.finish() }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        state.withLock { $0.asked += 1 }
        asked.open()
        for await _ in answers {}
        guard !Task.isCancelled else {
            state.withLock { $0.cancelled += 1 }
            throw CancellationError()
        }
        return try await PlatformTransport().send(request, limits: limits)
    }
}
