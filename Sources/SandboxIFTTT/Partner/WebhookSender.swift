#if Sandbox
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import SandboxCore

/// Delivers webhooks to a partner outside the sandbox, one after another (IFTTT Connect dossier, section 2.11).
///
/// A webhook is tried three times at most: again only when nothing answered or the answer was 5xx. Redirects are not
/// followed, so that nothing leaves loopback.
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
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout = .init(connect: .seconds(2), read: .seconds(5))
        // One client for each attempt, since a client must be shut down before its last reference goes.
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        var request = HTTPClientRequest(url: (job.hook.prefix ?? "") + job.hook.path)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "IFTTT-Service-Key", value: job.serviceKey)
        request.headers.add(name: "X-Request-ID", value: job.hook.requestID)
        request.body = .bytes(ByteBuffer(string: job.hook.body.text))
        let outcome: Webhook.Attempt
        do {
            let response = try await client.execute(request, timeout: .seconds(5))
            outcome = .answered(status: Int(response.status.code))
        } catch {
            outcome = .failed(reason: String(describing: type(of: error)))
        }
        try? await client.shutdown()
        return outcome
    }
}
#endif
