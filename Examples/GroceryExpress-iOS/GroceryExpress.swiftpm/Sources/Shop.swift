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
            // Buttons keep the settings that they were made with; only their colours can change while they are shown.
            var before = oldValue
            before.style = settings.style
            if settings != before { models = [:] }
        }
    }
    /// Why the shop cannot be opened.
    private(set) var problem: String?
    /// What to tell the customer.
    var alert: String?
    /// The connection whose configuration the customer is choosing.
    var configured: String?
    private(set) var descriptions: [String: Connection] = [:]

    @ObservationIgnored private var handshake: Handshake?
    @ObservationIgnored private var models: [String: ConnectButtonModel] = [:]
    @ObservationIgnored private(set) var places: Places?
    @ObservationIgnored private var running: Task<Void, Never>?
    /// What is being deleted is not fetched again.
    @ObservationIgnored private var isLeaving = false

    /// The name of everything that the device keeps of a customer: none acts with another's token.
    private var account: String { settings.customer?.rawValue ?? AccountID.defaultName }

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
            models = [:]
            problem = nil
            for name in Self.connections where descriptions[name] == nil {
                descriptions[name] = try? await ConnectAPI(at: Hosts(allAt: origin)).connection(try ConnectionID(name))
            }
            let api = ConnectAPI(.stored(UserTokens(in: handshake, as: account)), at: Hosts(allAt: origin))
            let synchronizer = PlacesSynchronizer(of: account, api: api, vault: vault)
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
        return ConnectAPI(.stored(UserTokens(in: handshake, as: account)), at: Hosts(allAt: origin))
    }

    /// The model of a connection's button.
    func model(of connection: String) -> ConnectButtonModel? {
        if let model = models[connection] { return model }
        guard let handshake else { return nil }
        do {
            let model = try ConnectButtonModel(
                connection, accounts: handshake, as: account, email: settings.suggestedEmail,
                locale: settings.locale ?? .user, environment: .system(tokens: tokens),
                prefetched: settings.isPrefetched ? descriptions[connection] : nil
            ) { [settings] configuration in
                configuration.skipsConfiguration = settings.usesOwnConfiguration
                configuration.appName = "Grocery Express"
            }
            // A page that the customer has closed needs no words (F111).
            model.onFailure = { [weak self] failure in
                if failure.kind.isError, failure.kind != .invalidEmail { self?.alert = Self.words(failure.kind) }
            }
            model.onConnect = { [weak self] connection in self?.turnedOn(connection) }
            // Here and not in a view, which keeps its place when the model is made again.
            model.onSetUp = { [weak self] _ in self?.configured = connection }
            models[connection] = model
            return model
        } catch {
            problem = "\(error)"
            return nil
        }
    }

    private var tokens: TokenDelivery {
        // A visitor has no account at the shop, so its server has no token of theirs.
        guard let customer = settings.customer else { return .redirect }
        // What the server answers is the only source: the token of a redirect is ignored (W14).
        return .partnerServer { [weak self] in await self?.token(of: customer) }
    }

    /// Stands for the app's own server, which answers the customer who is logged in.
    private func token(of customer: Settings.Customer) -> UserToken? {
        guard customer == settings.customer, !isLeaving else { return nil }
        return UserToken(Secret(customer.token))
    }

    private func turnedOn(_ connection: Connection) {
        descriptions[connection.id.rawValue] = connection
        guard connection.usesLocation else { return }
        Task { await places?.activate(connection.id) }
    }

    /// What the customer can choose of a connection, and has chosen.
    func configurationForm(of name: String) async throws -> ConfigurationForm {
        guard let api else { throw Closed() }
        let connection = try await api.connection(try ConnectionID(name))
        var options: [String: [FieldValue.Option]] = [:]
        for (id, owner, _) in ConfigurationQuestions.owners(in: connection) {
            for (field, choices) in try await api.fieldOptions(of: owner, in: connection.id).options {
                options["\(id).\(field)"] = choices
            }
        }
        return ConfigurationForm(connection, options: options)
    }

    /// Stores what the customer has chosen on the app's own screen.
    func configure(_ name: String, to configuration: UserConnection) async throws {
        guard let api else { throw Closed() }
        _ = try await api.update(try ConnectionID(name), to: configuration)
        models[name]?.configurationSaved()
        _ = await places?.synchronize()
    }

    /// Logs the customer out, and another one in: token, attempts and areas go; the connections stay on at IFTTT.
    ///
    /// Where something cannot be deleted, the customer stays logged in and sees why.
    func change(to customer: Settings.Customer?) async {
        isLeaving = true
        defer { isLeaving = false }
        var isDone = places != nil
        // Also those whose screen was not opened since the launch.
        for name in Self.connections {
            do {
                guard let model = model(of: name) else { throw Closed() }
                try await model.signOut()
            } catch {
                isDone = false
            }
        }
        do { try await places?.deactivate() } catch { isDone = false }
        guard isDone else {
            alert = "You are still logged in: not everything of yours could be deleted. Try again."
            return
        }
        settings.customer = customer
        // A description says what its customer has turned on.
        descriptions = [:]
        await open()
    }

    /// The vault could not be opened: ``problem`` says why.
    private struct Closed: Error {}

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
