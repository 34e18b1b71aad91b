import HTTPTypes
import Handshake
import OAuth

/// Retries idempotent reads by a policy (dossier 3).
struct Retrying: Sendable {
    let policy: RetryPolicy
    let time: TimeSource

    /// Sends a request, and retries it after retryable failures until the policy's deadline.
    ///
    /// - Parameter isSafe: whether the request only reads; other requests are sent once.
    /// - Returns: the last response, with any status.
    /// - Throws: ``RecurseCenterError``, `CancellationError`.
    func response(
        isSafe: Bool, _ send: () async throws -> ResponseMessage
    ) async throws -> ResponseMessage {
        let elapsed = Self.stopwatch(time.clock)
        var attempt = 0
        while true {
            let outcome: Result<ResponseMessage, RecurseCenterError>
            do {
                outcome = .success(try await send())
            } catch {
                guard let failure = RecurseCenterError.placing(error) as? RecurseCenterError else { throw error }
                outcome = .failure(failure)
            }
            guard isSafe, let pause = pause(after: outcome, attempt), elapsed() + pause <= policy.timeout,
                policy.timeout > .zero
            else { return try outcome.get() }
            try await time.clock.sleep(for: pause)
            attempt += 1
        }
    }

    /// The value of `Retry-After`.
    func retryAfter(_ response: ResponseMessage) -> Duration? {
        RetryAfter.pause(in: response.head, now: time.now())
    }

    /// The pause before the next attempt; nil when a retry cannot help.
    private func pause(after outcome: Result<ResponseMessage, RecurseCenterError>, _ attempt: Int) -> Duration? {
        switch outcome {
        case .success(let response):
            let status = response.head.status.code
            guard status == 429 || (500...599).contains(status) else { return nil }
            return retryAfter(response) ?? policy.pause(attempt)
        case .failure(let failure): return failure.isRetryable ? policy.pause(attempt) : nil
        }
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
