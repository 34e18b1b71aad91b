import AsyncSupport
import Crypto
import HTTPTypes
import Logging
public import OAuth
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a keeper reports sessions that have ended, as a Standard Webhook.
///
/// Each report is a POST with the JSON object
/// `{"type":"account.ended","timestamp":"…","data":{"account","service","issuer","client_id","reason"}}`. Any status from 200 to 299 confirms it;
/// after another answer, or none, it is repeated up to four times within two minutes, unless the report before it was not confirmed either; and once
/// whenever a keeper lists the vault, until one is confirmed: that is stored with the account, so that neither a receiver that is away nor a keeper
/// that is killed loses an ending. Every keeper reports each ending that it finds, of a session in its queue, and all reports of one ending have the
/// same `webhook-id`: drop those that you have. A new webhook gets a report of every session that had ended before and is still stored. With a
/// secret, `webhook-signature` has the HMAC-SHA256 of id, time and content. No redirect is followed.
///
/// A webhook that does not answer within 10 s gets the next report after a pause that doubles from 2 seconds, at most five minutes; the others wait,
/// and are left to the next listing when the keeper ends. Such a webhook delays the end of ``Keeper/run()`` by 10 s at most, and that of
/// ``Keeper/runOnce(horizon:)`` by 80 s.
///
/// Source: the Standard Webhooks specification, version 1.
public struct KeeperWebhook: Sendable {
    let url: EndpointURL
    let secret: [UInt8]?

    /// Names the address, and the secret that signs.
    ///
    /// - Parameters:
    ///   - url: where reports go.
    ///   - secret: `whsec_` and 24 to 64 bytes in Base64; nil for reports without a signature.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` for a secret in another form.
    public init(_ url: EndpointURL, secret: Secret? = nil) throws(HandshakeError) {
        self.url = url
        guard let secret else {
            self.secret = nil
            return
        }
        let text = secret.reveal()
        guard text.hasPrefix("whsec_"), let bytes = Data(base64Encoded: String(text.dropFirst(6))),
            (24...64).contains(bytes.count)
        else {
            throw .configuration(
                member: "webhook secret",
                problem: "it must be whsec_ followed by 24 to 64 bytes in Base64; make one with: "
                    + "echo whsec_$(head -c 32 /dev/urandom | base64)")
        }
        self.secret = Array(bytes)
    }
}

/// A session that has ended, as a keeper found it.
struct KeeperEnding: Sendable {
    let account: AccountID
    let reason: HandshakeError.SignInReason
    /// Counts the grants of one session.
    let generation: Int
    /// When the last grant was issued, which tells a session from the next one under the same name.
    let issuedAt: Double
    /// Whether a listing has found it, as the next one will.
    var isListed = false

    /// The same for every process that finds this ending, and another for the next session's.
    var identifier: String {
        let parts = [account.service, account.issuer, account.client, account.name] + account.resources
        let session = "\(generation) \(issuedAt.bitPattern) \(reason.rawValue)"
        let name = VaultKey(.account, parts).canonical + Array(session.utf8)
        return "msg_" + Base64URL.encode(SHA256.hash(data: name).prefix(18))
    }
}

extension AccountRecord {
    /// The ending that no webhook has taken a report of; nil where there is none to report.
    var unreportedEnding: KeeperEnding? {
        guard case .ended(let reason) = state, reason != .absent, reason != .signingOut, !isReported else { return nil }
        return KeeperEnding(
            account: id, reason: reason, generation: generation, issuedAt: grant.issuedAt, isListed: true)
    }
}

/// The reports on their way to a webhook.
final class KeeperHook: Sendable {
    private let webhook: KeeperWebhook?
    private let accounts: any KeptAccounts
    private let time: TimeSource
    private let log: Logger
    private let endings: AsyncStream<KeeperEnding>
    private let queue: AsyncStream<KeeperEnding>.Continuation
    private let end = KeeperHookEnd()
    /// The identifiers of the reports that are queued or on their way, which each listing finds too.
    private let waiting = Mutex<Set<String>>([])

    /// How many reports wait at most. More are left to the next listing.
    private static let capacity = 10_000
    private static let attempts = 5
    /// The pauses between attempts, and between reports to a webhook that does not answer.
    private static let backOff = BackOff(first: .seconds(2), longest: .seconds(300))
    /// How long one request may take, and how long all of them together delay the end of a keeper that was cancelled.
    static let maximumRequestTime = 10.0

    init(_ webhook: KeeperWebhook?, by accounts: any KeptAccounts, time: TimeSource, log: Logger) {
        self.webhook = webhook
        self.accounts = accounts
        self.time = time
        self.log = log
        (endings, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.capacity))
    }

    /// Queues a report, unless it waits already. One of a listing that there is no room for is not logged.
    func add(_ ending: KeeperEnding) {
        guard webhook != nil, waiting.withLock({ $0.insert(ending.identifier).inserted }) else { return }
        guard case .dropped = queue.yield(ending) else { return }
        _ = waiting.withLock { $0.remove(ending.identifier) }
        if !ending.isListed { warn("too many reports wait; this one is sent at a keeper's next listing", ending) }
    }

    private func warn(_ message: Logger.Message, _ ending: KeeperEnding) {
        log.warning(message, metadata: ["account": "\(ending.account)", "reason": "\(ending.reason.rawValue)"])
    }

    /// Takes no more reports. What waits is still delivered, unless the webhook does not answer.
    func finish() {
        queue.finish()
        end.finish(at: time.now())
    }

    private enum Outcome {
        case taken, refused, unanswered
    }

    /// Delivers reports until ``finish()``. When the calling task is cancelled, each report is tried once more at most, and none begins later
    /// than 10 s after ``finish()``.
    func deliver() async {
        // In a task that is not cancelled: what has ended is reported also at the end of the program.
        let delivery = Task {
            var last = Outcome.taken
            var unanswered = 0
            for await ending in endings {
                unanswered = last == .unanswered ? unanswered + 1 : 0
                if await !isLeftAlone(after: unanswered) {
                    // With pauses, reports that a webhook refuses at each listing, or one after the other, would delay all others.
                    let attempts = ending.isListed || last != .taken ? 1 : Self.attempts
                    last = await report(ending, attempts: attempts)
                }
                if last == .taken {
                    await note(ending)
                } else {
                    warn("a report did not reach the webhook; it is sent again at a keeper's next listing", ending)
                }
                _ = waiting.withLock { $0.remove(ending.identifier) }
            }
        }
        await withTaskCancellationHandler {
            await delivery.value
        } onCancel: {
            end.cancel(at: time.now())
        }
    }

    /// Pauses after reports that the webhook did not answer.
    ///
    /// - Returns: whether it gets no more: the keeper ends.
    private func isLeftAlone(after unanswered: Int) async -> Bool {
        guard unanswered > 0 else { return false }
        let pause = Self.backOff.pause(afterFailures: unanswered)
        return await end.untilCancelled(orFinished: true) { [time] in try await time.clock.sleep(for: pause) }
    }

    private func report(_ ending: KeeperEnding, attempts: Int) async -> Outcome {
        guard let webhook, let handshake = accounts.first else { return .refused }
        var outcome = Outcome.unanswered
        for attempt in 1...attempts {
            let left = end.secondsLeft(of: Self.maximumRequestTime, at: time.now())
            guard left > 0 else { return .unanswered }
            do {
                let response = try await handshake.environment.transport.send(
                    request(of: ending, to: webhook), limits: TransferLimits(timeout: .seconds(left)))
                if (200..<300).contains(response.head.status.code) { return .taken }
                outcome = .refused
                log.warning("the webhook refused a report", metadata: ["status": "\(response.head.status.code)"])
            } catch {
                outcome = .unanswered
                log.warning("the webhook could not be reached", metadata: ["host": "\(webhook.url.origin)"])
            }
            guard attempt < attempts else { break }
            let pause = Self.backOff.pause(afterFailures: attempt)
            let isOver = await end.untilCancelled { [time] in try await time.clock.sleep(for: pause) }
            if isOver { break }
        }
        return outcome
    }

    /// Stores that the webhook has taken a report. A keeper that was cancelled does not: the next listing then sends the report again.
    private func note(_ ending: KeeperEnding) async {
        _ = await end.untilCancelled { [self] in
            do { try await accounts.noteReported(ending) } catch {
                guard !(error is CancellationError) else { return }
                warn("the webhook took a report, and that could not be stored: it is sent again", ending)
            }
        }
    }

    private func request(of ending: KeeperEnding, to webhook: KeeperWebhook) throws -> RequestMessage {
        let account = ending.account
        let id = ending.identifier
        let now = Int64(time.now())
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let content = try encoder.encode(
            Body(
                type: "account.ended", timestamp: Date(timeIntervalSince1970: Double(now)).ISO8601Format(),
                data: .init(
                    account: account.name, service: account.service, issuer: account.issuer, client: account.client,
                    reason: ending.reason.rawValue)))
        var fields: HTTPFields = [.contentType: "application/json"]
        fields.add("webhook-id", id)
        fields.add("webhook-timestamp", "\(now)")
        if let secret = webhook.secret {
            let signed = Array("\(id).\(now).".utf8) + content
            let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: secret))
            fields.add("webhook-signature", "v1," + Data(code).base64EncodedString())
        }
        return RequestMessage(.post, webhook.url, headers: fields, content: .bytes(Array(content)))
    }

    private struct Body: Encodable {
        struct Members: Encodable {
            let account: String
            let service: String
            let issuer: String
            let client: String
            let reason: String

            enum CodingKeys: String, CodingKey {
                case account, service, issuer, reason
                case client = "client_id"
            }
        }

        let type: String
        let timestamp: String
        let data: Members
    }
}

/// When the deliveries of a keeper have to end.
private final class KeeperHookEnd: Sendable {
    private struct State {
        var isCancelled = false
        var finishedAt: Double?
        /// What cancellation ends early.
        var work: Task<Void, Never>?
        /// Whether ``finish(at:)`` ends it too.
        var endsWithFinish = false
        /// When the later of both came.
        var beganAt: Double?

        var isWorkOver: Bool { isCancelled || endsWithFinish && finishedAt != nil }
    }

    private let state = Mutex(State())

    func cancel(at now: Double) {
        let work = state.withLock { state in
            state.isCancelled = true
            if state.finishedAt != nil { state.beganAt = state.beganAt ?? now }
            return state.work
        }
        work?.cancel()
    }

    func finish(at now: Double) {
        let work = state.withLock { state in
            state.finishedAt = state.finishedAt ?? now
            if state.isCancelled { state.beganAt = state.beganAt ?? now }
            return state.isWorkOver ? state.work : nil
        }
        work?.cancel()
    }

    /// How many of so many seconds are left. Without an end all of them are, and a clock that was set back gives no more.
    func secondsLeft(of seconds: Double, at now: Double) -> Double {
        state.withLock { state in
            guard let began = state.beganAt else { return seconds }
            return min(began + seconds - now, seconds)
        }
    }

    /// Runs what is cancelled when the keeper is, unless it was.
    ///
    /// - Parameter endsWithFinish: whether ``finish(at:)`` does the same.
    /// - Returns: whether it was cancelled.
    func untilCancelled(
        orFinished endsWithFinish: Bool = false, _ body: @escaping @Sendable () async throws -> Void
    ) async -> Bool {
        let work: Task<Void, Never>? = state.withLock { state in
            state.endsWithFinish = endsWithFinish
            guard !state.isWorkOver else { return nil }
            state.work = Task { _ = try? await body() }
            return state.work
        }
        guard let work else { return true }
        await work.value
        return state.withLock { state in
            state.work = nil
            return state.isWorkOver
        }
    }
}

extension HTTPFields {
    fileprivate mutating func add(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else { return }
        self[name] = value
    }
}
