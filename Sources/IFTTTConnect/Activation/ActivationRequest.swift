public import OAuth

/// Where the user is sent to turn a connection on, as a value; its addresses are those of dossier 3.4.
package struct ActivationRequest: Sendable {
    package var connection: ConnectionID
    /// Where the pages and the app are.
    package var addresses: ActivationAddresses
    /// Where the user comes back, with the attempt's state in it.
    package var returnTo: String
    package var identity: SDKIdentity
    /// The installation's identifier; nil without consent.
    package var anonymousID: AnonymousID?
    /// The locale of the pages, spelled as it was given.
    package var locale: String?
    /// Whether the service's configuration page is left out.
    package var skipsConfiguration: Bool
    /// Who the user is, as far as it is known.
    package var user: ActivationUser?
    /// The one-time code of the partner's own OAuth server, so that the partner's service is connected without a second
    /// log-in.
    package var oauthCode: Secret?
    /// What unlocks an unpublished service.
    package var inviteCode: Secret?
    /// The mail programs that are installed.
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

    /// What the IFTTT app is asked to do.
    package enum AppAction: String, Sendable, Hashable {
        case activation
        case edit
        case view
    }

    /// The address of the web flow.
    package var webURL: String {
        let base = addresses.webFlow(connection)
        switch identity.platform {
        case .ios:
            return QueryEncoding.address(base, items: commonItems + userItems + mailItems + secretItems)
        case .android: return QueryEncoding.address(base, items: androidItems)
        }
    }

    /// The address that opens the IFTTT app; on Android the app claims the web flow's own address.
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

/// Where the pages of the activation and the IFTTT app are (dossier 2.1).
public struct ActivationAddresses: Sendable, Hashable, Codable {
    /// The site's origin, without a slash at its end.
    public let site: WebAddress
    /// What stands before a connection's identifier in an address that opens the IFTTT app.
    public let handoffPrefix: String

    /// The service itself.
    public static let production = ActivationAddresses(
        checkedSite: "https://ifttt.com", handoffPrefix: "ifttt-handoff-v1://connections/")

    /// Another site, such as a sandbox, and where the app is played there.
    ///
    /// - Parameters:
    ///   - site: the address of the site; only its origin counts.
    ///   - handoffPrefix: what takes the place of the app's scheme; the sandbox has a page for it.
    public init(site: EndpointURL, handoffPrefix: String = "ifttt-handoff-v1://connections/") {
        self.init(checkedSite: site.origin.description, handoffPrefix: handoffPrefix)
    }

    private init(checkedSite: String, handoffPrefix: String) {
        // An origin is an address of http or https; the other branch only satisfies the compiler's question.
        site = WebAddress(rawValue: checkedSite) ?? WebAddress(checked: "https://ifttt.com")
        self.handoffPrefix = handoffPrefix
    }

    /// The page that tells of privacy and terms.
    public var terms: String { site.rawValue + Hosts.termsPath }

    func webFlow(_ connection: ConnectionID) -> String { site.rawValue + "/access/api/" + connection.rawValue }

    func handoff(_ connection: ConnectionID) -> String { handoffPrefix + connection.rawValue }
}

/// Who is to turn a connection on, as far as it is known before the service's page opens.
public enum ActivationUser: Sendable, Hashable, Codable {
    /// A user of IFTTT, known by a token.
    case username(String)
    /// An address with an IFTTT account.
    case existing(EmailAddress)
    /// An address without one: the page will make it.
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
