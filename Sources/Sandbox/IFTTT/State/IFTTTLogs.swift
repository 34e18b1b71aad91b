/// What the IFTTT stand-in did and was told, for inspection (IFTTT Connect dossier, section 11.1).
struct IFTTTLogs: Sendable {
    private(set) var events: [JSON] = []
    private(set) var webhooks: [IFTTTWebhook] = []
    private(set) var received: [JSON] = []
    private(set) var runs: [JSON] = []
    private(set) var notifications: [JSON] = []

    /// When a log has so many entries, its older half is forgotten.
    static let limit = 10_000

    mutating func add(event: JSON) { Self.append(event, to: &events) }
    mutating func add(webhook: IFTTTWebhook) { Self.append(webhook, to: &webhooks) }
    mutating func add(received hook: JSON) { Self.append(hook, to: &received) }
    mutating func add(run: JSON) { Self.append(run, to: &runs) }
    mutating func add(notification: JSON) { Self.append(notification, to: &notifications) }

    /// Notes how an attempt to deliver a webhook ended.
    mutating func note(_ attempt: IFTTTWebhook.Attempt, of id: String) {
        guard let index = webhooks.lastIndex(where: { $0.requestID == id }) else { return }
        webhooks[index].attempts.append(attempt)
    }

    private static func append<Entry>(_ entry: Entry, to log: inout [Entry]) {
        if log.count >= limit { log.removeFirst(limit / 2) }
        log.append(entry)
    }
}
