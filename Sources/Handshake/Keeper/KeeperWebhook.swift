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
/// after another answer, or none, it is repeated up to four times within two minutes. Reports of one ending, by whichever process, have the same
/// `webhook-id`. With a secret, `webhook-signature` has the HMAC-SHA256 of id, time and content. No redirect is followed.
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

/// The reports on their way to a webhook.
final class KeeperHook: Sendable {
    private struct Ending: Sendable {
        let account: AccountID
        let reason: HandshakeError.SignInReason
        let generation: Int
    }

    private let webhook: KeeperWebhook?
    private let accounts: any KeptAccounts
    private let time: TimeSource
    private let log: Logger
    private let endings: AsyncStream<Ending>
    private let queue: AsyncStream<Ending>.Continuation

    /// How many reports wait at most. More are only logged.
    private static let capacity = 10_000
    private static let attempts = 5

    init(_ webhook: KeeperWebhook?, by accounts: any KeptAccounts, time: TimeSource, log: Logger) {
        self.webhook = webhook
        self.accounts = accounts
        self.time = time
        self.log = log
        (endings, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.capacity))
    }

    func add(_ account: AccountID, _ reason: HandshakeError.SignInReason, _ generation: Int) {
        guard webhook != nil else { return }
        if case .dropped = queue.yield(Ending(account: account, reason: reason, generation: generation)) {
            log.error("too many reports wait for the webhook; one was dropped", metadata: ["account": "\(account)"])
        }
    }

    func finish() { queue.finish() }

    /// Delivers reports until ``finish()``, also when the calling task is cancelled.
    func deliver() async {
        // In a task that is not cancelled: what has ended is reported also at the end of the program.
        let isCancelled = Flag()
        await withTaskCancellationHandler {
            await Task {
                for await ending in endings { await report(ending, isCancelled) }
            }.value
        } onCancel: {
            isCancelled.set()
        }
    }

    private func report(_ ending: Ending, _ isCancelled: Flag) async {
        guard let webhook, let handshake = accounts.first else { return }
        let backOff = BackOff(first: .seconds(2), longest: .seconds(60))
        for attempt in 1...Self.attempts {
            do {
                let message = try request(of: ending, to: webhook)
                let response = try await handshake.environment.transport.send(
                    message, limits: TransferLimits(timeout: .seconds(10)))
                if (200..<300).contains(response.head.status.code) { return }
                log.warning("the webhook refused a report", metadata: ["status": "\(response.head.status.code)"])
            } catch {
                log.warning("the webhook could not be reached", metadata: ["host": "\(webhook.url.origin)"])
            }
            guard attempt < Self.attempts, !isCancelled.isSet else { break }
            try? await time.clock.sleep(for: backOff.pause(afterFailures: attempt))
        }
        log.error("a report did not reach the webhook", metadata: ["account": "\(ending.account)"])
    }

    private func request(of ending: Ending, to webhook: KeeperWebhook) throws -> RequestMessage {
        let account = ending.account
        let parts = [account.service, account.issuer, account.client, account.name] + account.resources
        let name = VaultKey(.account, parts).canonical + Array("\(ending.generation) \(ending.reason.rawValue)".utf8)
        let id = "msg_" + Base64URL.encode(SHA256.hash(data: name).prefix(18))
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

/// What is set once, by another task.
private final class Flag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}

extension HTTPFields {
    fileprivate mutating func add(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else { return }
        self[name] = value
    }
}
