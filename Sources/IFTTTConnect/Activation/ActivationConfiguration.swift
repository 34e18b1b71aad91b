extension ConnectActivation {
    /// What an activation is about (dossier 3.1).
    public struct Configuration: Sendable, Hashable, Codable {
        public var connection: ConnectionID
        /// Where the user comes back.
        public var redirect: CallbackURL
        /// What the email field begins with; it need not be an address (dossier 10.2, W8).
        public var suggestedEmail: String
        /// Whether the service's configuration page is left out. The connection is then pending until the app has
        /// configured it.
        public var skipsConfiguration: Bool
        /// The locale of the service's pages, spelled as it is to be sent; nil leaves it to them.
        public var locale: String?
        /// What turning off asks of the user.
        public var disconnection: Disconnection
        /// Whether the token of a redirect is looked at; as the performer's ``TokenDelivery`` says.
        package var takesTokenFromRedirect: Bool
        /// How many seconds a redirect is waited for; one hour unless stated, because it may come by mail.
        public var attemptLifetime: Double
        public var addresses: ActivationAddresses
        public var identity: SDKIdentity
        /// The app's name, for analytics.
        public var appName: String?

        /// Describes an activation; everything else has its default and can be set.
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

    /// What turning off asks of the user (dossier 10.2, W1).
    public enum Disconnection: Sendable, Hashable, Codable {
        /// A second, explicit wish.
        case confirmed
        /// Nothing, but it can be taken back for so many seconds; only then the service is told.
        case undoable(seconds: Double)
        /// Nothing at all. One tap turns off.
        case immediate
    }
}
