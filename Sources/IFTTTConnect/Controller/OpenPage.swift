import Handshake
import Synchronization

/// The open page: one at a time, and it can be closed by another task. A class, because a browser is a value and the
/// open page is not.
final class OpenPage: Sendable {
    private struct State {
        /// Finishes when the page is to close; nil when there is none.
        var closing: AsyncStream<Void>.Continuation?
        /// Tasks that wait for the page to close.
        var impatient: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Closes the previous page, and shows another until it has its answer.
    ///
    /// - Parameter body: shows the page; ends when its task is cancelled.
    /// - Returns: what the body returns.
    /// - Throws: `HandshakeError/signInAbandoned(_:)` when ``close()`` or another page closed it, and what the body
    ///   throws.
    func show(_ body: @escaping @Sendable () async throws -> String?) async throws -> String? {
        let closing = await begin()
        defer { hasClosed() }
        return try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                for await _ in closing {}
                try Task.checkCancellation()
                throw HandshakeError.signInAbandoned(.closed)
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Closes the page, and returns when it has closed.
    func close() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                guard let closing = state.closing else { return true }
                closing.finish()
                state.impatient.append(continuation)
                return false
            }
            if isClosed { continuation.resume() }
        }
    }

    /// Closes the previous page and replaces it: the stream finishes when the new one is to close.
    private func begin() async -> AsyncStream<Void> {
        let (closings, closing) = AsyncStream<Void>.makeStream()
        while true {
            await close()
            let isOurs = state.withLock { state in
                // Another task may have started meanwhile.
                guard state.closing == nil else { return false }
                state.closing = closing
                return true
            }
            if isOurs { return closings }
        }
    }

    private func hasClosed() {
        let impatient = state.withLock { state in
            defer { (state.closing, state.impatient) = (nil, []) }
            return state.impatient
        }
        for waiting in impatient { waiting.resume() }
    }
}
