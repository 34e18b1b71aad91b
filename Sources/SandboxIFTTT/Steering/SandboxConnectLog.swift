#if Sandbox
import SandboxCore

/// What the IFTTT stand-in writes down, by the name of its control route. Source: IFTTT Connect dossier, section 11.1.
public enum SandboxConnectLog: String, Sendable, CaseIterable {
    /// Analytics events as they came.
    case analytics = "analytics"
    /// Webhooks to partners, with the outcome of every attempt to deliver them.
    case webhooks = "webhooks"
    /// Webhooks that arrived at the partner inside the sandbox.
    case receivedWebhooks = "received-webhooks"
    /// Actions that ran and queries that were performed.
    case runs = "runs"
    /// Hints to poll.
    case notifications = "notifications"
    /// Areas that devices have seen entered or left. Each has its user and what became of it.
    case locationEvents = "location-events"
    /// Mails to users; their links are live.
    case mails = "mails"

    var note: String {
        switch self {
        case .analytics: "the analytics events"
        case .webhooks: "the webhooks that were sent"
        case .receivedWebhooks: "the webhooks that the partner inside received"
        case .runs: "the actions and queries that ran"
        case .notifications: "the hints to poll"
        case .locationEvents: "the areas that were entered or left, and what became of each"
        case .mails: "the mails, with live links"
        }
    }
}
#endif
