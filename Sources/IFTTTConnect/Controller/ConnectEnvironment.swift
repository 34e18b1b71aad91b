public import OAuth

/// What an activation needs of the app and of the device it runs on. Everything is asked for when it is needed, so that no
/// code is stale (dossier 10.2, W13).
public struct ConnectEnvironment: Sendable {
    /// Opens the service's pages and the IFTTT app.
    public var browser: any ConnectBrowser
    /// A one-time code of the partner's OAuth server for the user who is signed in to the partner; nil leaves it to the
    /// partner's log-in page.
    public var oauthCode: @Sendable () async throws -> Secret?
    /// What unlocks an unpublished service.
    public var inviteCode: @Sendable () async throws -> Secret?
    /// Where the user token comes from.
    public var tokenDelivery: TokenDelivery
    /// Whether the IFTTT app is installed; nil where that cannot be known, or where there is none.
    public var isAppInstalled: @Sendable () async -> Bool?
    /// Whether web pages can be opened.
    public var canOpenPages: @Sendable () async -> Bool
    /// The mail programs that are installed.
    public var mailClients: @Sendable () async -> [MailClient]
    /// Returns when there is a network. On Apple's platforms the system says so; elsewhere this is nil, nobody knows, and loading
    /// is tried again by the user alone. It is asked when IFTTT could not be reached, and not before a pause: where there is a
    /// network all along it may return immediately.
    public var connectivity: (@Sendable () async -> Void)?
    /// One element each time the app has gone to the background; nil where there is none, or where the app says so itself
    /// (``ConnectActivation/Event/enteredBackground``).
    public var backgroundEntries: (@Sendable () -> AsyncStream<Void>)?

    /// A device with a browser and no other apps; everything can be set.
    public init(browser: some ConnectBrowser) {
        self.browser = browser
        oauthCode = { nil }
        inviteCode = { nil }
        tokenDelivery = .redirect
        isAppInstalled = { nil }
        canOpenPages = { true }
        mailClients = { [] }
        #if canImport(Network)
        connectivity = { await NetworkReturn.wait() }
        #endif
    }
}
