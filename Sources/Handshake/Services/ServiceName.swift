package import OAuth

extension Service {
    /// The name of a service that this package describes.
    public struct Name: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public init(stringLiteral value: String) {
            rawValue = value
        }

        /// All services that ``Service/named(_:_:)`` describes and can sign in to, by name.
        ///
        /// The ones that have a library of this package are among them.
        public static var all: [Name] {
            let own = Service.builtIn.map(\.name)
            return (own + ServiceIndex.supportedNames).sorted().map(Name.init(rawValue:))
        }
    }

    /// The service of this name, as the package describes it.
    ///
    /// ```swift
    /// let service = try Service.named(.github)
    /// let gitLab = try Service.named("gitlab-self-managed", ["host": "gitlab.example.org"])
    /// ```
    ///
    /// - Parameters:
    ///   - name: one of the constants, or any name of `handshake services`.
    ///   - values: the values of the service's placeholders.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when there is no such service, the package cannot sign
    ///   in to it, or a value is missing or wrong; ``HandshakeError/exchange(_:)`` for an address that is not accepted.
    public static func named(
        _ name: Name, _ values: [String: String] = [:]
    ) throws(HandshakeError) -> Service {
        if let service = BuiltInService.named(name.rawValue) { return try service.service(values) }
        guard let service = name.rawValue == ifttt.name ? ifttt : builtIn.first(where: { $0.name == name.rawValue })
        else {
            throw .configuration(
                member: "service", problem: "there is no built-in service “\(quoted(name.rawValue, limit: 80))”")
        }
        if let placeholder = values.keys.min() {
            throw .configuration(
                member: quoted(placeholder, limit: 80), problem: "\(service.displayName) has no placeholders")
        }
        return service
    }
}

extension BuiltInService {
    /// The service with values in place of its placeholders.
    ///
    /// - Parameters:
    ///   - values: the values of the placeholders.
    ///   - security: the rules for its addresses.
    /// - Throws: what ``Service/named(_:_:)`` throws.
    package func service(
        _ values: [String: String] = [:], security: TransportSecurity = .httpsOnly
    ) throws(HandshakeError) -> Service {
        if let unsupportedReason {
            throw .configuration(member: "service", problem: "\(title) is not supported: \(unsupportedReason)")
        }
        return try ServiceFacts(name: name, members: members(with: values), security: security).service()
    }
}

extension Service.Name {
    /// Airtable.
    public static let airtable: Self = "airtable"
    /// Asana.
    public static let asana: Self = "asana"
    /// Atlassian (Jira, Confluence).
    public static let atlassian: Self = "atlassian"
    /// Auth0.
    public static let auth0: Self = "auth0"
    /// Bitbucket Cloud.
    public static let bitbucket: Self = "bitbucket"
    /// Box.
    public static let box: Self = "box"
    /// Calendly.
    public static let calendly: Self = "calendly"
    /// ClickUp.
    public static let clickUp: Self = "clickup"
    /// Coinbase.
    public static let coinbase: Self = "coinbase"
    /// DigitalOcean.
    public static let digitalOcean: Self = "digitalocean"
    /// Discord.
    public static let discord: Self = "discord"
    /// DocuSign.
    public static let docuSign: Self = "docusign"
    /// Dropbox.
    public static let dropbox: Self = "dropbox"
    /// Eventbrite.
    public static let eventbrite: Self = "eventbrite"
    /// Facebook.
    public static let facebook: Self = "facebook"
    /// Figma.
    public static let figma: Self = "figma"
    /// Fitbit.
    public static let fitbit: Self = "fitbit"
    /// GitHub.
    public static let github: Self = "github"
    /// GitLab.
    public static let gitLab: Self = "gitlab"
    /// GitLab, self-managed.
    public static let gitLabSelfManaged: Self = "gitlab-self-managed"
    /// Google.
    public static let google: Self = "google"
    /// Heroku.
    public static let heroku: Self = "heroku"
    /// HubSpot.
    public static let hubSpot: Self = "hubspot"
    /// Instagram.
    public static let instagram: Self = "instagram"
    /// Intercom.
    public static let intercom: Self = "intercom"
    /// Keycloak.
    public static let keycloak: Self = "keycloak"
    /// LINE Login.
    public static let line: Self = "line"
    /// Linear.
    public static let linear: Self = "linear"
    /// LinkedIn.
    public static let linkedIn: Self = "linkedin"
    /// Mailchimp.
    public static let mailchimp: Self = "mailchimp"
    /// Mastodon.
    public static let mastodon: Self = "mastodon"
    /// Microsoft (Entra ID and personal accounts).
    public static let microsoft: Self = "microsoft"
    /// monday.com.
    public static let monday: Self = "monday"
    /// Notion.
    public static let notion: Self = "notion"
    /// Okta.
    public static let okta: Self = "okta"
    /// Patreon.
    public static let patreon: Self = "patreon"
    /// PayPal.
    public static let payPal: Self = "paypal"
    /// Pinterest.
    public static let pinterest: Self = "pinterest"
    /// Intuit QuickBooks.
    public static let quickBooks: Self = "quickbooks"
    /// Reddit.
    public static let reddit: Self = "reddit"
    /// Salesforce.
    public static let salesforce: Self = "salesforce"
    /// Slack.
    public static let slack: Self = "slack"
    /// Spotify.
    public static let spotify: Self = "spotify"
    /// Square.
    public static let square: Self = "square"
    /// Strava.
    public static let strava: Self = "strava"
    /// Stripe Connect.
    public static let stripe: Self = "stripe"
    /// Twitch.
    public static let twitch: Self = "twitch"
    /// X (Twitter).
    public static let x: Self = "x"
    /// Xero.
    public static let xero: Self = "xero"
    /// YouTube (through Google).
    public static let youTube: Self = "youtube"
    /// Zendesk.
    public static let zendesk: Self = "zendesk"
    /// Zoom.
    public static let zoom: Self = "zoom"
}
