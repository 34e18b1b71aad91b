public import OAuth

/// The app and the device of an activation. Every member is asked for when it is needed, so that no code is
/// stale (dossier 10.2, W13).
public struct ConnectEnvironment: Sendable {
    /// Opens the service's pages and the IFTTT app.
    public var browser: any ConnectBrowser
    /// A one-time code of the partner's OAuth server for the signed-in user. Nil shows the partner's log-in page.
    public var oauthCode: @Sendable () async throws -> Secret?
    /// The invite code of an unpublished service.
    public var inviteCode: @Sendable () async throws -> Secret?
    /// How the user token is obtained.
    public var tokenDelivery: TokenDelivery
    /// Whether the IFTTT app is installed; nil when unknown.
    public var isAppInstalled: @Sendable () async -> Bool?
    /// Whether web pages can be opened.
    public var canOpenPages: @Sendable () async -> Bool
    /// The installed mail programs.
    public var mailClients: @Sendable () async -> [MailClient]
    /// Returns when there is a network. On Apple's platforms the system reports it; elsewhere this is nil, and only the user
    /// retries loading. It is called after IFTTT could not be reached, and after a pause: if the network was available all the
    /// time, it may return immediately.
    public var connectivity: (@Sendable () async -> Void)?
    /// Yields each time the app enters the background.
    ///
    /// Nil where there is no background, or where the app sends ``ConnectActivation/Event/enteredBackground`` itself.
    public var backgroundEntries: (@Sendable () -> AsyncStream<Void>)?

    /// Creates the environment of a device with a browser and no other apps. Members can be set.
    ///
    /// - Parameters:
    ///   - browser: opens the service's pages.
    ///   - tokens: how the user token is obtained. With a server of your own: ``TokenDelivery/partnerServer(_:)``.
    public init(browser: some ConnectBrowser, tokens: TokenDelivery) {
        self.browser = browser
        oauthCode = { nil }
        inviteCode = { nil }
        tokenDelivery = tokens
        isAppInstalled = { nil }
        canOpenPages = { true }
        mailClients = { [] }
        #if canImport(Network)
        connectivity = { await NetworkReturn.wait() }
        #endif
    }
}
