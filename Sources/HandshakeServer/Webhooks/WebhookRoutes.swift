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

/// Receives IFTTT's webhooks (dossier 2.11). The route is `POST ifttt/v1/webhooks/{type}/{event}` below the partner's
/// API prefix.
///
/// ```swift
/// let webhooks = try WebhookRoutes<BasicRequestContext>(serviceKey: key, vault: vault) { webhook in
///     if case .fired(let trigger) = webhook.event { await water(webhook.user, trigger) }
/// }
/// webhooks.add(to: router)
/// ```
///
/// A webhook is accepted when it carries the service key, compared in constant time, and its time is within ``WebhookLimits``.
/// Refusals have the error shape of the dossier, section 2.4: 401 for the key, 400 for malformed content, 413 beyond 1 MiB,
/// 422 for one that is too old or from the future.
///
/// ### Once
///
/// A webhook is delivered to the app **at most once while the processes that share the vault live**, also when several
/// receive it concurrently, when the handler is slow, and when the service key is rotated. A repeated one is answered with
/// 200, and with 503 while the handler runs. It is delivered **again** when
///
/// * the handler threw, or exceeded ``WebhookLimits/handlerTimeout``: the answer is 500, and IFTTT may deliver it again. A handler
///   that exceeds the limit is cancelled; if it ignores that, it may still run when the webhook comes again;
/// * the process died, or was suspended for a minute, after the handler began and before the vault recorded its end;
/// * the vault could not be written after the handler returned, and another process receives the webhook a minute later. The
///   answer is 200 nevertheless, because the app has accepted it.
///
/// A handler that must never act twice stores ``ConnectWebhook/requestID`` in the same transaction as its
/// effect.
///
/// Connection and `X-Request-ID` identify a webhook, whatever time it carries; without that field, the whole content does.
/// Several services may share a vault, because a connection belongs to one of them. The vault holds at most 4096 records of
/// 1024 webhooks each, and drops webhooks that are too old to be accepted. That is room for two million a day; when a
/// record is full, the answer is 503 and IFTTT delivers the webhook again.
///
/// ### Order
///
/// Handlers run concurrently, so "disabled" may be handled before "enabled". Compare the times of the events, or fetch the
/// connection from IFTTT.
public struct WebhookRoutes<Context: RequestContext>: Sendable {
    private let keys: [Secret]
    private let ledger: DeliveryLedger
    private let time: TimeSource
    private let limits: WebhookLimits
    private let log: Logger
    private let handler: @Sendable (ConnectWebhook) async throws -> Void

    /// Creates the route.
    ///
    /// - Parameters:
    ///   - serviceKey: the key with which IFTTT authenticates.
    ///   - former: the previous key, during its rotation.
    ///   - vault: records accepted webhooks; shared by all processes.
    ///   - limits: the time limits.
    ///   - time: the clock.
    ///   - log: receives warnings; never a secret.
    ///   - handler: handles a webhook. IFTTT waits for it, so only record what is to be done.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for an empty key, which every attacker would know, and
    ///   for limits out of range.
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
            vault: vault, time: time, tolerance: limits.maximumAge / .seconds(1),
            handlerTimeout: limits.handlerTimeout, log: log)
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
        case accepted
        case refused(RequestRefusal)

        var response: Response {
            switch self {
            case .accepted: .json(Data("{}".utf8))
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
            log.error("a webhook could not be accepted", metadata: ["reason": "\(Swift.type(of: error))"])
            return .refused(RequestRefusal(.serviceUnavailable, "unavailable", "Try again later", retryAfter: 5))
        }
    }

    /// Checks the key before reading any content.
    private func read(_ request: Request, type: String, event: String) async throws(RequestRefusal) -> ConnectWebhook {
        let given = Secret(request.headers[.serviceKey] ?? "")
        // Compares every key, so that the time does not reveal which one matched.
        guard keys.map({ $0.matches(given) }).contains(true) else {
            throw RequestRefusal(
                .unauthorized, "unauthorized", "The service key is missing or wrong", challenge: "IFTTT-Service-Key")
        }
        let reader = ContentReader(time: time, timeout: limits.requestTimeout)
        let content = try await reader.content(of: request, type: "application/json", limit: ConnectWebhook.limit)
        let webhook: ConnectWebhook
        do {
            webhook = try ConnectWebhook(
                content, type: type, name: event,
                requestID: Self.identifier(request.headers[.requestID] ?? "", of: content, event: "\(type)/\(event)"))
        } catch {
            throw RequestRefusal(.badRequest, "malformed", "\(error.pointer) must be \(error.expected)")
        }
        let age = time.now() - webhook.sentAt
        guard (-(limits.clockSkew / .seconds(1))...limits.maximumAge / .seconds(1)).contains(age) else {
            throw Self.notOfNow
        }
        return webhook
    }

    private static var notOfNow: RequestRefusal {
        RequestRefusal(.unprocessableContent, "invalid_parameters", "/sent_at is too old or in the future")
    }

    /// The identifier of a delivery: the field's value, a digest of a long one, or of event and content without one.
    private static func identifier(_ field: String, of content: Data, event: String) -> String {
        if (1...256).contains(field.utf8.count) { return field }
        return Base64URL.encode(SHA256.hash(data: field.isEmpty ? Data("\(event)\0".utf8) + content : Data(field.utf8)))
    }

    private func take(_ webhook: ConnectWebhook) async throws -> Answer {
        switch try await ledger.deliver(webhook, to: handler) {
        case .accepted: return .accepted
        case .busy:
            return .refused(RequestRefusal(.serviceUnavailable, "busy", "This webhook is being handled", retryAfter: 5))
        case .full:
            return .refused(
                RequestRefusal(.serviceUnavailable, "unavailable", "Too many webhooks are pending", retryAfter: 60))
        case .forgotten: return .refused(Self.notOfNow)
        case .failed(let error):
            log.error("the handler of a webhook failed", metadata: ["reason": "\(type(of: error))"])
            return .refused(RequestRefusal.internalError)
        }
    }
}
#endif
