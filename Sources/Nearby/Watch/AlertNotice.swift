import Beacons
import OAuth

/// What a notification about an alert has, on every platform.
struct AlertNotice: Sendable, Hashable {
    /// One for each person: a notice replaces the earlier one with the same identifier.
    let identifier: String
    /// For a screen that knows no markup; one that does needs it escaped.
    let title: String
    let body: String
    /// Whether a photo may be shown (``Trust/showsFace``). A relayed person may be elsewhere.
    let showsPhoto: Bool
    /// The person's page, which a click opens; nil for none.
    let page: String?
    /// Whether the user was told of the encounter already.
    let isSilent: Bool

    init(_ alert: Alert) {
        identifier = Self.identifier(of: alert.person)
        title = quoted(alert.title, limit: 120)
        body = quoted(alert.body, limit: 200)
        showsPhoto = alert.trust.showsFace && !alert.isRelayed
        page = alert.known?.page.flatMap { Self.mayBeOpened($0) ? $0 : nil }
        isSilent = alert.isUpdate
    }

    /// A crowd is no person: it replaces the notice about an earlier crowd.
    init(_ crowd: CrowdAlert) {
        (identifier, title, body) = ("crowd", crowd.title, crowd.body)
        (showsPhoto, page, isSilent) = (false, nil, false)
    }

    /// The identifier of the notice about a person.
    static func identifier(of person: UserNumber) -> String { "person \(person)" }

    /// Only `https`, or `http` on loopback, because the URL comes from a service.
    private static func mayBeOpened(_ page: String) -> Bool {
        (try? EndpointURL(page, security: .allowingInsecureLoopback)) != nil
    }
}
