#if Sandbox
import SandboxCore

/// Delivers webhooks to a partner outside the sandbox, one after another (IFTTT Connect dossier, section 2.11).
///
/// A webhook is tried three times at most: again only when no answer came, or one with status 5xx or that HTTP does not
/// have. Redirects are not followed, so that nothing leaves loopback.
///
/// A class, since it owns the task that delivers, which ends with it.
final class WebhookSender: Sendable {
    static let attempts = 3
    /// How many webhooks may wait; more are not delivered, and their log entries show no attempt.
    static let backlog = 1000

    private struct Job: Sendable {
        let hook: Webhook
        let serviceKey: String
        let report: @Sendable (Webhook.Attempt) -> Void
    }

    private let jobs: AsyncStream<Job>.Continuation
    private let task: Task<Void, Never>

    init() {
        let (stream, jobs) = AsyncStream<Job>.makeStream(bufferingPolicy: .bufferingOldest(Self.backlog))
        self.jobs = jobs
        task = Task {
            for await job in stream { await Self.deliver(job) }
        }
    }

    deinit { cancel() }

    /// - Parameter report: called with the outcome of each attempt.
    func send(
        _ hook: Webhook, serviceKey: String, report: @escaping @Sendable (Webhook.Attempt) -> Void
    ) {
        jobs.yield(Job(hook: hook, serviceKey: serviceKey, report: report))
    }

    /// Cancels pending deliveries.
    func cancel() {
        jobs.finish()
        task.cancel()
    }

    func ended() async {
        await task.value
    }

    private static func deliver(_ job: Job) async {
        for number in 1...attempts {
            let outcome = await attempt(job)
            job.report(outcome)
            if case .answered(let status) = outcome, status < 500 { return }
            guard number < attempts, (try? await Task.sleep(for: .milliseconds(100 << number))) != nil else { return }
        }
    }

    private static func attempt(_ job: Job) async -> Webhook.Attempt {
        let post = LoopbackPost(
            url: (job.hook.prefix ?? "") + job.hook.path,
            fields: [
                "Content-Type": "application/json", "IFTTT-Service-Key": job.serviceKey,
                "X-Request-ID": job.hook.requestID,
            ], content: job.hook.body.text)
        do {
            return .answered(status: try await post.status())
        } catch {
            return .failed(reason: String(describing: type(of: error)))
        }
    }
}
#endif
