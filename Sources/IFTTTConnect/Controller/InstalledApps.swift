public import Handshake

/// The other apps of a device, as far as this app may query them.
public protocol InstalledApps: Sendable {
    /// Whether an app can open a URL.
    func canOpen(_ address: String) async -> Bool

    /// Opens a URL in its app.
    ///
    /// - Returns: false when the system did not: the app was removed, or the user declined.
    func open(_ address: String) async -> Bool

    /// Yields each time this app enters the background.
    func backgroundEntries() -> AsyncStream<Void>
}

extension ConnectEnvironment {
    /// Creates the environment of a device with a browser and with other apps. The browser is for IFTTT's pages;
    /// IFTTT's app may be among the others.
    ///
    /// - Parameters:
    ///   - pages: shows IFTTT's pages and catches their redirects.
    ///   - apps: opens the IFTTT app, and knows the installed mail programs.
    ///   - tokens: how the user token is obtained. With a server of your own: ``TokenDelivery/partnerServer(_:)``.
    ///   - addresses: the URLs of the IFTTT app: the configuration's ``ConnectActivation/Configuration/addresses``.
    public init(
        pages: some Browser, apps: some InstalledApps, tokens: TokenDelivery,
        addresses: ActivationAddresses = .production
    ) {
        self.init(browser: AppBrowser(pages: PageBrowser(pages), apps: apps), tokens: tokens)
        isAppInstalled = { await apps.canOpen(addresses.handoffPrefix) }
        mailClients = {
            var clients: [MailClient] = []
            for client in MailClient.ios where await apps.canOpen(client.rawValue) { clients.append(client) }
            return clients
        }
        backgroundEntries = { apps.backgroundEntries() }
    }
}

extension ConnectEnvironment {
    /// Creates the environment of a device without other apps than a browser.
    ///
    /// - Parameters:
    ///   - pages: shows IFTTT's pages and catches their redirects.
    ///   - tokens: how the user token is obtained. With a server of your own: ``TokenDelivery/partnerServer(_:)``.
    public init(pages: some Browser, tokens: TokenDelivery) {
        self.init(browser: PageBrowser(pages), tokens: tokens)
    }
}

/// Opens the IFTTT app, or IFTTT's pages without it.
private struct AppBrowser: ConnectBrowser {
    let pages: PageBrowser
    let apps: any InstalledApps

    /// Opens a destination. The IFTTT app's redirect arrives through ``ConnectController/open(_:)``.
    func open(_ destination: ConnectActivation.Destination) async throws -> String? {
        guard destination.kind == .app else { return try await pages.open(destination) }
        guard await apps.open(destination.url) else {
            throw HandshakeError.configuration(member: "app", problem: "the system did not open the IFTTT app")
        }
        return nil
    }

    func close() async {
        await pages.close()
    }
}
