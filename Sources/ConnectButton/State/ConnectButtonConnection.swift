#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What the button shows of a connection.
public struct ConnectButtonConnection: Sendable, Hashable, Codable {
    /// The connection's identifier.
    public let id: String
    /// Its page at IFTTT, opened by the title of the About page.
    public let url: URL?
    /// The service whose app shows the button.
    public let primary: ConnectButtonService
    /// The connected service, which gives the button its colours. The primary one when there is no other (dossier 1.4).
    public let connecting: ConnectButtonService

    /// Creates the button's view of a connection.
    ///
    /// - Parameters:
    ///   - id: The connection's identifier.
    ///   - url: Its page at IFTTT.
    ///   - primary: The service whose app shows the button.
    ///   - connecting: The service that is connected.
    public init(id: String, url: URL?, primary: ConnectButtonService, connecting: ConnectButtonService) {
        self.id = id
        self.url = url
        self.primary = primary
        self.connecting = connecting
    }
}

/// What the button shows of a service. Names are untrusted: they are drawn as text and never as markup.
public struct ConnectButtonService: Sendable, Hashable, Codable {
    /// The full name, for *going to …*.
    public let name: String
    /// The short name, for the label.
    public let shortName: String
    /// The icon, drawn on the knob as it is delivered. IFTTT delivers it in white (dossier 1.4).
    public let icon: URL?
    /// The brand's colour.
    public let brand: ConnectButtonColor
    /// The service's page, opened by its icon on the About page.
    public let url: URL?

    /// Creates the button's view of a service.
    ///
    /// - Parameters:
    ///   - name: The full name.
    ///   - shortName: The short name.
    ///   - icon: The icon, drawn as delivered.
    ///   - brand: The brand's colour.
    ///   - url: The service's page.
    public init(name: String, shortName: String, icon: URL?, brand: ConnectButtonColor, url: URL?) {
        self.name = name
        self.shortName = shortName
        self.icon = icon
        self.brand = brand
        self.url = url
    }
}
