#if Server
import Crypto
import HTTPTypes
public import Handshake
public import Hummingbird
import IFTTTConnect
public import Logging
public import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Receives IFTTT's webhooks at `POST ifttt/v1/webhooks/{type}/{event}` below the partner's API prefix (dossier
/// 2.11).
///
/// ```swift
/// let webhooks = try WebhookRoutes<BasicRequestContext>(serviceKey: key, vault: vault) { webhook in
///     if case .fired(let trigger) = webhook.event { await water(for: webhook.user, trigger) }
/// }
/// webhooks.add(to: router)
/// ```
///
/// A webhook counts when it carries the service key, compared in constant time, and was sent neither too long ago nor too far
/// in the future by ``WebhookLimits``. Refusals have the error shape of the dossier, section 2.4: 401 for the key, 400 for content that is no webhook,
/// 413 beyond 1 MiB, 422 for one that is too old or from the future.
///
/// ### Once
///
/// A webhook is handed to the app **at most once while the processes that share the vault live**, also when it comes to
/// several of them concurrently, when the app takes long, and when the service key is changed. One that comes again is answered
/// with 200; one that the app is still at work on, with 503. It is handed over **again** when
///
/// * the handler threw, or did not end in ``WebhookLimits/handling``: the answer is 500, and the webhook may come again. A handler
///   that is not done in time is cancelled; one that does not heed that may still be at work when the webhook comes again;
/// * the process died, or stood still for a minute, after the handler began and before the vault knew that it ended;
/// * the vault could not be written after the handler returned, and the webhook comes to another process a minute later. The
///   answer is 200 all the same: the app has it.
///
/// So a handler that must not act twice, whatever happens, writes ``ConnectWebhook/requestID`` down in the same transaction as
/// what it does.
///
/// What makes a webhook the same again is its connection and its `X-Request-ID`, whatever time it carries; without that
/// field, its whole content. Several services may share a vault, since a connection belongs to one of them. The vault holds 4096
/// records for all webhooks there are, of 1024 webhooks each, and a webhook is forgotten when it is too old to be taken. There is room for
/// two million in a day; when a record is full the answer is 503, and the webhook comes again.
///
/// ### No order
///
/// Handlers run beside each other, in the order in which the webhooks arrive, if any: what says that a connection was turned off may
/// come before what says that it was turned on. Go by the times that the events carry, or ask IFTTT how it stands.
public struct WebhookRoutes<Context: RequestContext>: Sendable {
    private let keys: [Secret]
    private let ledger: DeliveryLedger
    private let time: TimeSource
    private let limits: WebhookLimits
    private let log: Logger
    private let handler: @Sendable (ConnectWebhook) async throws -> Void

    /// Prepares the route.
    ///
    /// - Parameters:
    ///   - serviceKey: what IFTTT proves itself with.
    ///   - former: the key before, while it is being replaced.
    ///   - vault: where it is remembered what was taken; all processes share it.
    ///   - limits: how late and how early a webhook may come, and how long it may take.
    ///   - time: what time it is.
    ///   - log: where warnings go; no secret ever does.
    ///   - handler: takes a webhook. IFTTT waits for it, so let it only note what is to be done.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for an empty key, with which anybody would
    ///   be IFTTT, and for limits that are none.
    public init(
        serviceKey: Secret, former: Secret? = nil, vault: any Vault, limits: WebhookLimits = WebhookLimits(),
        time: TimeSource = .system, log: Logger = Logger(label: "handshake.server"),
        handler: @escaping @Sendable (ConnectWebhook) async throws -> Void
    ) throws(HandshakeServerError) {
        keys = [serviceKey, former].compactMap(\.self)
        guard !keys.contains(where: \.isEmpty) else {
            throw .configuration(member: "service key", problem: "it is empty")
        }
        try limits.check()
        ledger = DeliveryLedger(
            vault: vault, time: time, tolerance: limits.late / .seconds(1), handling: limits.handling, log: log)
        self.time = time
        self.limits = limits
        self.log = log
        self.handler = handler
    }

    /// Adds the route to a router, or to the group of the API's prefix.
    public func add(to router: some RouterMethods<Context>) {
        router.post("ifttt/v1/webhooks/:type/:event") { request, context in
            let type = context.parameters.get("type") ?? ""
            let event = context.parameters.get("event") ?? ""
            return await answer(request, type: type, event: event).response
        }
    }

    private enum Answer {
        case taken
        case refused(RequestRefusal)

        var response: Response {
            switch self {
            case .taken: .json(Data("{}".utf8))
            case .refused(let refusal): refusal.response
            }
        }
    }

    private func answer(_ request: Request, type: String, event: String) async -> Answer {
        do {
            let webhook = try await read(request, type: type, event: event)
            return try await take(webhook)
        } catch let refusal as RequestRefusal {
            return .refused(refusal)
        } catch {
            log.error("a webhook could not be taken", metadata: ["reason": "\(Swift.type(of: error))"])
            return .refused(RequestRefusal(.serviceUnavailable, "unavailable", "Try again later", retryAfter: 5))
        }
    }

    /// Before the key is known to be right, nothing of the content is read.
    private func read(_ request: Request, type: String, event: String) async throws(RequestRefusal) -> ConnectWebhook {
        let given = Secret(request.headers[.serviceKey] ?? "")
        // Every key is compared, so that the time tells nothing of which it was.
        guard keys.map({ $0.matches(given) }).contains(true) else {
            throw RequestRefusal(
                .unauthorized, "unauthorized", "The service key is missing or wrong", challenge: "IFTTT-Service-Key")
        }
        let reader = ContentReader(time: time, patience: limits.patience)
        let content = try await reader.content(of: request, type: "application/json", limit: ConnectWebhook.limit)
        let webhook: ConnectWebhook
        do {
            webhook = try ConnectWebhook(
                content, type: type, name: event,
                requestID: Self.identifier(request.headers[.requestID] ?? "", of: content, event: "\(type)/\(event)"))
        } catch {
            throw RequestRefusal(.badRequest, "malformed", "\(error.pointer) should be \(error.expected)")
        }
        let age = time.now() - webhook.sentAt
        guard (-(limits.early / .seconds(1))...limits.late / .seconds(1)).contains(age) else { throw Self.notOfNow }
        return webhook
    }

    private static var notOfNow: RequestRefusal {
        RequestRefusal(.unprocessableContent, "invalid_parameters", "/sent_at is not of now")
    }

    /// What marks a delivery: the field's value, a digest of one that is very long, or of event and content without one.
    private static func identifier(_ field: String, of content: Data, event: String) -> String {
        if (1...256).contains(field.utf8.count) { return field }
        return Base64URL.encode(SHA256.hash(data: field.isEmpty ? Data("\(event)\0".utf8) + content : Data(field.utf8)))
    }

    private func take(_ webhook: ConnectWebhook) async throws -> Answer {
        switch try await ledger.deliver(webhook, to: handler) {
        case .taken: return .taken
        case .busy: return .refused(RequestRefusal(.serviceUnavailable, "busy", "It is being taken", retryAfter: 5))
        case .full:
            return .refused(RequestRefusal(.serviceUnavailable, "unavailable", "Too many webhooks", retryAfter: 60))
        case .forgotten: return .refused(Self.notOfNow)
        case .failed(let error):
            log.error("the app did not take a webhook", metadata: ["reason": "\(type(of: error))"])
            return .refused(RequestRefusal.internalError)
        }
    }
}
#endif
