import ConnectButton
import Foundation
import Handshake
import IFTTTConnect
import OAuth
import Observation

/// The shop: its connections, the accounts of its customer, and the models of the buttons.
@MainActor @Observable
final class Shop {
    /// A calendar, and one with areas (F107).
    static let connections = ["cAl3nDar", "aReAs2go"]

    var settings = Settings.stored() {
        didSet {
            guard settings != oldValue else { return }
            settings.store()
            // Buttons keep the settings that they were made with.
            models = [:]
        }
    }
    /// Why the shop cannot be opened.
    private(set) var problem: String?
    /// What to tell the customer.
    var alert: String?
    private(set) var descriptions: [String: Connection] = [:]

    @ObservationIgnored private var handshake: Handshake?
    @ObservationIgnored private var models: [String: ConnectButtonModel] = [:]
    @ObservationIgnored private(set) var places: Places?
    @ObservationIgnored private var running: Task<Void, Never>?

    private static var redirect: RedirectURI { get throws { try RedirectURI("com.example.grocery:/connect") } }

    /// Opens the vault, and asks IFTTT for the connections.
    func open() async {
        do {
            let origin = try EndpointURL(settings.origin, security: .allowingInsecureLoopback)
            let service = Service.ifttt.at(origin)
            let client = Client(service: service, id: "lumen_garden", redirect: .uri(try Self.redirect))
            let vault = try await KeychainVault.open()
            let handshake = try Handshake(client, vault: vault)
            self.handshake = handshake
            problem = nil
            for name in Self.connections where descriptions[name] == nil {
                descriptions[name] = try? await ConnectAPI(at: Hosts(allAt: origin)).connection(try ConnectionID(name))
            }
            let api = ConnectAPI(.stored(UserTokens(in: handshake)), at: Hosts(allAt: origin))
            let synchronizer = PlacesSynchronizer(of: "customer", api: api, vault: vault)
            running?.cancel()
            await running?.value
            let places = Places(synchronizer)
            running = Task { await places.run() }
            self.places = places
        } catch {
            problem = "\(error)"
        }
    }

    /// The API in the customer's name.
    var api: ConnectAPI? {
        guard let handshake, let origin = try? EndpointURL(settings.origin, security: .allowingInsecureLoopback) else {
            return nil
        }
        return ConnectAPI(.stored(UserTokens(in: handshake)), at: Hosts(allAt: origin))
    }

    /// The model of a connection's button.
    func model(of connection: String) -> ConnectButtonModel? {
        if let model = models[connection] { return model }
        guard let handshake else { return nil }
        do {
            let model = try ConnectButtonModel(
                connection, accounts: handshake, email: settings.suggestedEmail, locale: settings.locale ?? .user,
                environment: .system(tokens: tokens), prefetched: settings.isPrefetched ? descriptions[connection] : nil
            ) { [settings] configuration in
                configuration.skipsConfiguration = settings.usesOwnConfiguration
                configuration.appName = "Grocery Express"
            }
            // A page that the customer has closed needs no words (F111).
            model.onFailure = { [weak self] failure in
                if failure.kind.isError, failure.kind != .invalidEmail { self?.alert = Self.words(failure.kind) }
            }
            model.onConnect = { [weak self] connection in self?.turnedOn(connection) }
            models[connection] = model
            return model
        } catch {
            problem = "\(error)"
            return nil
        }
    }

    private var tokens: TokenDelivery {
        guard let customer = settings.customer else { return .redirect }
        return .redirectOrPartnerServer { UserToken(Secret(customer.token)) }
    }

    private func turnedOn(_ connection: Connection) {
        descriptions[connection.id.rawValue] = connection
        guard connection.usesLocation else { return }
        Task { await places?.activate(connection.id) }
    }

    /// Stores what the customer has chosen on the app's own screen.
    func configure(_ connection: Connection, to configuration: UserConnection) async throws {
        _ = try await api?.update(connection.id, to: configuration)
        models[connection.id.rawValue]?.configurationSaved()
        _ = await places?.synchronize()
    }

    /// Logs the customer out: the token and what was known go; the connections stay on at IFTTT.
    func logOut() async {
        for model in models.values { try? await model.signOut() }
        settings.customer = nil
    }

    private static func words(_ kind: ConnectButtonFailure.Kind) -> String {
        switch kind {
        case .offline: "You are offline. Nothing was changed."
        case .unavailable, .tooMany: "IFTTT does not answer just now. Try again in a moment."
        case .unknownConnection: "The shop does not offer it any more."
        case .notAllowed: "Log in with the account that made this connection."
        case .signInExpired: "Connect again to give the shop access to IFTTT."
        case .accountNotCreated: "Try it with another address."
        case .appNotOpened: "It works on IFTTT’s pages as well."
        case .notDisconnected: "It stays on until you disconnect it."
        case .invalidEmail, .interrupted, .cancelled: "You can connect whenever you like."
        }
    }
}
