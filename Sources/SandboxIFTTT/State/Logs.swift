#if Sandbox
import SandboxCore

/// What the IFTTT stand-in did and received, for inspection (IFTTT Connect dossier, section 11.1).
struct Logs: Sendable {
    private(set) var events: [JSON] = []
    private(set) var webhooks: [Webhook] = []
    private(set) var received: [JSON] = []
    private(set) var runs: [JSON] = []
    private(set) var notifications: [JSON] = []
    private(set) var crossings: [JSON] = []
    /// The records of devices that are in the log, by user: each counts once.
    private var crossingIDs: [String: Set<String>] = [:]

    /// When a log has so many entries, its older half is forgotten.
    static let limit = 10_000

    mutating func add(event: JSON) { Self.append(event, to: &events) }
    mutating func add(webhook: Webhook) { Self.append(webhook, to: &webhooks) }
    mutating func add(received hook: JSON) { Self.append(hook, to: &received) }
    mutating func add(run: JSON) { Self.append(run, to: &runs) }
    mutating func add(notification: JSON) { Self.append(notification, to: &notifications) }

    mutating func add(crossing: JSON, recordID: String, of login: String) {
        let isFull = crossings.count >= Self.limit
        Self.append(crossing, to: &crossings)
        crossingIDs[login, default: []].insert(recordID)
        guard isFull else { return }
        crossingIDs = crossings.reduce(into: [:]) { ids, crossing in
            guard let login = crossing["user_login"]?.scalarText, let id = crossing["record_id"]?.scalarText else {
                return
            }
            ids[login, default: []].insert(id)
        }
    }

    func knows(crossing recordID: String, of login: String) -> Bool {
        crossingIDs[login]?.contains(recordID) ?? false
    }

    /// Notes how an attempt to deliver a webhook ended.
    mutating func note(_ attempt: Webhook.Attempt, of id: String) {
        guard let index = webhooks.lastIndex(where: { $0.requestID == id }) else { return }
        webhooks[index].attempts.append(attempt)
    }

    private static func append<Entry>(_ entry: Entry, to log: inout [Entry]) {
        if log.count >= limit { log.removeFirst(limit / 2) }
        log.append(entry)
    }
}
#endif
