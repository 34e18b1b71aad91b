import HTTPTypes
import Handshake
import OAuth

/// Repeats requests that only read, by a policy (dossier 3).
struct Retrying: Sendable {
    let policy: RetryPolicy
    let time: TimeSource

    /// Sends, and again after a passing failure while the policy allows it.
    ///
    /// - Parameter isSafe: whether the request only reads; any other is sent once.
    /// - Returns: the last answer, whatever its status.
    /// - Throws: ``RecurseCenterError``, `CancellationError`.
    func response(
        isSafe: Bool, _ send: () async throws -> ResponseMessage
    ) async throws -> ResponseMessage {
        let elapsed = Self.stopwatch(time.clock)
        var repetition = 0
        while true {
            let outcome: Result<ResponseMessage, RecurseCenterError>
            do {
                outcome = .success(try await send())
            } catch {
                guard let failure = RecurseCenterError.placing(error) as? RecurseCenterError else { throw error }
                outcome = .failure(failure)
            }
            guard isSafe, let pause = pause(after: outcome, repetition), elapsed() + pause <= policy.deadline,
                policy.deadline > .zero
            else { return try outcome.get() }
            try await time.clock.sleep(for: pause)
            repetition += 1
        }
    }

    /// What the service wished for in an answer.
    func wish(in response: ResponseMessage) -> Duration? {
        RetryAfter.pause(in: response.head, now: time.now())
    }

    /// The pause that an outcome deserves; nil when asking again cannot help.
    private func pause(after outcome: Result<ResponseMessage, RecurseCenterError>, _ repetition: Int) -> Duration? {
        switch outcome {
        case .success(let response):
            let status = response.head.status.code
            guard status == 429 || (500...599).contains(status) else { return nil }
            return wish(in: response) ?? policy.pause(repetition)
        case .failure(let failure): return failure.isPassing ? policy.pause(repetition) : nil
        }
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
