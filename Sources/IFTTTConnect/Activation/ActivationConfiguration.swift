extension ConnectActivation {
    /// The configuration of an activation (dossier 3.1).
    public struct Configuration: Sendable, Hashable, Codable {
        public var connection: ConnectionID
        /// The callback of the attempt.
        public var redirect: CallbackURL
        /// The initial text of the email field (dossier 10.2, W8). It need not be a valid address.
        public var suggestedEmail: String
        /// Whether to skip the service's configuration page. The connection is then pending until the app has
        /// configured it.
        public var skipsConfiguration: Bool
        /// The locale of the service's pages, sent as spelled here. Nil leaves the choice to them.
        public var locale: String?
        /// How the user confirms turning the connection off.
        public var disconnection: Disconnection
        /// Whether to read the token of a redirect; follows the performer's ``TokenDelivery``.
        package var takesTokenFromRedirect: Bool
        /// How long an attempt waits for its redirect, in seconds. Default: one hour, because the redirect may come by mail.
        public var attemptLifetime: Double
        public var addresses: ActivationAddresses
        package var identity: SDKIdentity
        /// The app's name, for analytics.
        public var appName: String?

        /// Creates a configuration; other members have defaults and can be set.
        public init(
            _ connection: ConnectionID, callback redirect: CallbackURL, suggestedEmail: String = "",
            skipsConfiguration: Bool = false, locale: String? = nil
        ) {
            self.connection = connection
            self.redirect = redirect
            self.suggestedEmail = suggestedEmail
            self.skipsConfiguration = skipsConfiguration
            self.locale = locale
            disconnection = .confirmed
            takesTokenFromRedirect = true
            attemptLifetime = 3600
            addresses = .production
            identity = .standard
        }
    }

    /// How the user confirms turning the connection off (dossier 10.2, W1).
    public enum Disconnection: Sendable, Hashable, Codable {
        /// The user is asked to confirm.
        case confirmed
        /// Without confirmation, but the user can undo it for this time. The service is notified only after this time.
        ///
        /// When a run ends earlier, the next run turns it off as it begins. A served button is turned off by the next
        /// request. `ConnectButtonModel` does not store it: when the process ends, the connection stays on.
        case undoable(seconds: Double)
        /// Immediately: one tap turns it off.
        case immediate
    }
}
