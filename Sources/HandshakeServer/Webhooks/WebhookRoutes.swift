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
/// A webhook counts when it carries the service key, compared in constant time, and was sent within ``tolerance`` of
/// now. It is handed to the app **once**: a webhook that comes again, to whichever process, is answered with 200 and
/// not handed over. When the app's handler throws, the answer is 500 and the webhook may come again; so it may when
/// the process dies in between.
///
/// Refusals have the error shape of the dossier, section 2.4: 401 for the key, 400 for content that is no webhook,
/// 413 beyond 1 MiB, 422 for one that is too old or from the future.
public struct WebhookRoutes<Context: RequestContext>: Sendable {
    /// How many seconds a webhook may be late or early.
    public static var tolerance: Double { 900 }

    private let keys: [Secret]
    private let ledger: DeliveryLedger
    private let time: TimeSource
    private let patience: Duration
    private let log: Logger
    private let handler: @Sendable (ConnectWebhook) async throws -> Void

    /// Prepares the route.
    ///
    /// - Parameters:
    ///   - serviceKey: what IFTTT proves itself with.
    ///   - former: the key before, while it is being replaced.
    ///   - vault: where it is remembered what was taken; all processes share it.
    ///   - time: what time it is.
    ///   - patience: how long the content may take to arrive.
    ///   - log: where warnings go; no secret ever does.
    ///   - handler: takes a webhook. IFTTT waits for it, so let it only note what is to be done.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for an empty key, with which anybody would
    ///   be IFTTT.
    public init(
        serviceKey: Secret, former: Secret? = nil, vault: any Vault, time: TimeSource = .system,
        patience: Duration = .seconds(10), log: Logger = Logger(label: "handshake.server"),
        handler: @escaping @Sendable (ConnectWebhook) async throws -> Void
    ) throws(HandshakeServerError) {
        keys = [serviceKey, former].compactMap(\.self)
        guard !keys.contains(where: \.isEmpty) else {
            throw .configuration(member: "service key", problem: "it is empty")
        }
        let owner = Base64URL.encode(SHA256.hash(data: Array(serviceKey.reveal().utf8)))
        ledger = DeliveryLedger(vault: vault, owner: owner, tolerance: Self.tolerance)
        self.time = time
        self.patience = patience
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
            throw RequestRefusal(.unauthorized, "unauthorized", "The service key is missing or wrong")
        }
        let reader = ContentReader(time: time, patience: patience)
        let content = try await reader.content(of: request, type: "application/json", limit: ConnectWebhook.limit)
        let id = request.headers[.requestID].map { String($0.prefix(256)) } ?? ""
        let webhook: ConnectWebhook
        do {
            webhook = try ConnectWebhook(
                content, type: type, name: event,
                requestID: id.isEmpty ? Base64URL.encode(SHA256.hash(data: content)) : id)
        } catch {
            throw RequestRefusal(.badRequest, "malformed", "\(error.pointer) should be \(error.expected)")
        }
        guard abs(webhook.sentAt - time.now()) <= Self.tolerance else {
            throw RequestRefusal(.unprocessableContent, "invalid_parameters", "/sent_at is not of now")
        }
        return webhook
    }

    private func take(_ webhook: ConnectWebhook) async throws -> Answer {
        switch try await ledger.claim(webhook, now: time.now()) {
        case .taken: return .taken
        case .busy: return .refused(RequestRefusal(.serviceUnavailable, "busy", "It is being taken", retryAfter: 5))
        case .full:
            return .refused(RequestRefusal(.serviceUnavailable, "unavailable", "Too many webhooks", retryAfter: 60))
        case .new: break
        }
        do {
            try await handler(webhook)
        } catch {
            log.error("the app did not take a webhook", metadata: ["reason": "\(type(of: error))"])
            try await ledger.settle(webhook, isDone: false)
            return .refused(RequestRefusal.internalError)
        }
        try await ledger.settle(webhook, isDone: true)
        return .taken
    }
}
