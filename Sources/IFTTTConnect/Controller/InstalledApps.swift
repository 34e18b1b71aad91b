public import Handshake

/// The other apps of a device, as far as this app may know of them.
public protocol InstalledApps: Sendable {
    /// Whether there is an app that takes an address.
    func canOpen(_ address: String) async -> Bool

    /// Opens an address in the app that takes it.
    ///
    /// - Returns: false when the system did not: there is no such app any more, or the user said no.
    func open(_ address: String) async -> Bool

    /// One element each time this app has gone to the background.
    func backgroundEntries() -> AsyncStream<Void>
}

extension ConnectEnvironment {
    /// A device with a browser for IFTTT's pages and with other apps, of which IFTTT's may be one.
    ///
    /// - Parameters:
    ///   - pages: shows IFTTT's pages and catches their redirects.
    ///   - apps: opens the IFTTT app, and knows the mail programs that are installed.
    ///   - addresses: where the IFTTT app is: the configuration's ``ConnectActivation/Configuration/addresses``.
    public init(pages: some Browser, apps: some InstalledApps, addresses: ActivationAddresses = .production) {
        self.init(browser: AppBrowser(pages: PageBrowser(pages), apps: apps))
        isAppInstalled = { await apps.canOpen(addresses.handoffPrefix) }
        mailClients = {
            var clients: [MailClient] = []
            for client in MailClient.ios where await apps.canOpen(client.rawValue) { clients.append(client) }
            return clients
        }
        backgroundEntries = { apps.backgroundEntries() }
    }
}

/// Opens the IFTTT app, and IFTTT's pages where there is none.
private struct AppBrowser: ConnectBrowser {
    let pages: PageBrowser
    let apps: any InstalledApps

    /// Opens a destination. The IFTTT app brings its redirect by ``ConnectController/open(_:)``.
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
