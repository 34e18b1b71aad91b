public import OAuth

/// The request that turns a connection on, as a value; its URLs are those of dossier 3.4.
package struct ActivationRequest: Sendable {
    package var connection: ConnectionID
    /// The URLs of the pages and the app.
    package var addresses: ActivationAddresses
    /// The callback, including the attempt's state.
    package var returnTo: String
    package var identity: SDKIdentity
    /// The installation's anonymous ID; nil without consent.
    package var anonymousID: AnonymousID?
    /// The locale of the pages, spelled as given.
    package var locale: String?
    /// Whether to skip the service's configuration page.
    package var skipsConfiguration: Bool
    /// The user, if known.
    package var user: ActivationUser?
    /// The one-time code of the partner's own OAuth server, which connects the partner's service without a second
    /// log-in.
    package var oauthCode: Secret?
    /// The invite code of an unpublished service.
    package var inviteCode: Secret?
    /// The installed mail programs.
    package var mailClients: [MailClient]

    package init(
        _ connection: ConnectionID, at addresses: ActivationAddresses = .production, callback returnTo: String
    ) {
        self.connection = connection
        self.addresses = addresses
        self.returnTo = returnTo
        identity = .standard
        skipsConfiguration = false
        mailClients = []
    }

    /// The action of the IFTTT app.
    package enum AppAction: String, Sendable, Hashable {
        case activation
        case edit
        case view
    }

    /// The URL of the web flow.
    package var webURL: String {
        let base = addresses.webFlow(connection)
        switch identity.platform {
        case .ios:
            return QueryEncoding.address(base, items: commonItems + userItems + mailItems + secretItems)
        case .android: return QueryEncoding.address(base, items: androidItems)
        }
    }

    /// The URL that opens the IFTTT app; on Android the app claims the web flow's URL.
    package func appURL(_ action: AppAction = .activation) -> String {
        switch identity.platform {
        case .ios:
            var items = commonItems + secretItems
            if let user { items.append(user.item) }
            items.append(("action", action.rawValue))
            return QueryEncoding.address(addresses.handoff(connection), items: items)
        case .android: return webURL
        }
    }

    private typealias Items = [(name: String, value: String)]

    private var commonItems: Items {
        var items: Items = [
            ("sdk_return_to", returnTo), ("sdk_version", identity.version),
            ("sdk_platform", identity.platform.rawValue),
        ]
        items.reserveCapacity(12)
        if let anonymousID { items.append(("sdk_anonymous_id", anonymousID.rawValue)) }
        if let locale { items.append(("locale", locale)) }
        if skipsConfiguration { items.append(("skip_config", "true")) }
        return items
    }

    private var userItems: Items {
        guard let user else { return [] }
        return user.isNew ? [user.item, ("sdk_create_account", "true")] : [user.item]
    }

    private var mailItems: Items {
        guard let user, !user.isNew else { return [] }
        return mailClients.map { ("available_email_app_schemes[]", $0.rawValue) }
    }

    private var secretItems: Items {
        var items: Items = []
        if let oauthCode, !oauthCode.isEmpty { items.append(("code", oauthCode.reveal())) }
        if let inviteCode, !inviteCode.isEmpty { items.append(("invite_code", inviteCode.reveal())) }
        return items
    }

    private var androidItems: Items {
        var items: Items = [
            ("sdk_version", identity.version), ("sdk_platform", identity.platform.rawValue),
            ("sdk_return_to", returnTo),
        ]
        if let anonymousID { items.append(("sdk_anonymous_id", anonymousID.rawValue)) }
        if let inviteCode, !inviteCode.isEmpty { items.append(("invite_code", inviteCode.reveal())) }
        if let user, user.isNew { items.append(("sdk_create_account", "true")) }
        if let oauthCode, !oauthCode.isEmpty { items.append(("code", oauthCode.reveal())) }
        items += mailItems
        if let user { items.append(user.item) }
        if skipsConfiguration { items.append(("skip_config", "true")) }
        if let locale { items.append(("locale", locale)) }
        return items
    }
}

/// The URLs of the activation's pages and of the IFTTT app (dossier 2.1).
public struct ActivationAddresses: Sendable, Hashable, Codable {
    /// The site's origin, without a trailing slash.
    public let site: WebAddress
    /// The prefix of a connection's identifier in a URL that opens the IFTTT app.
    public let handoffPrefix: String

    /// IFTTT itself.
    public static let production = ActivationAddresses(
        checkedSite: "https://ifttt.com", handoffPrefix: "ifttt-handoff-v1://connections/")

    /// Another site, such as a sandbox.
    ///
    /// - Parameters:
    ///   - site: the URL of the site; only its origin counts.
    ///   - handoffPrefix: the prefix that replaces the app's scheme; the sandbox has a page for it.
    public init(site: EndpointURL, handoffPrefix: String = "ifttt-handoff-v1://connections/") {
        self.init(checkedSite: site.origin.description, handoffPrefix: handoffPrefix)
    }

    private init(checkedSite: String, handoffPrefix: String) {
        // An origin is a valid URL; the fallback only satisfies the type checker.
        site = WebAddress(rawValue: checkedSite) ?? WebAddress(checked: "https://ifttt.com")
        self.handoffPrefix = handoffPrefix
    }

    /// The URL of privacy and terms.
    public var terms: String { site.rawValue + Hosts.termsPath }

    func webFlow(_ connection: ConnectionID) -> String { site.rawValue + "/access/api/" + connection.rawValue }

    func handoff(_ connection: ConnectionID) -> String { handoffPrefix + connection.rawValue }
}

/// The user who turns a connection on, as known before the service's page opens.
package enum ActivationUser: Sendable, Hashable, Codable {
    /// An IFTTT user, identified by a token.
    case username(String)
    /// An address with an IFTTT account.
    case existing(EmailAddress)
    /// An address without an account: the page creates one.
    case new(EmailAddress)

    var isNew: Bool {
        if case .new = self { true } else { false }
    }

    fileprivate var item: (name: String, value: String) {
        switch self {
        case .username(let name): ("username", name)
        case .existing(let email), .new(let email): ("email", email.rawValue)
        }
    }
}
