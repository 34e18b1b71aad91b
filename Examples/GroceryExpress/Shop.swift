#if Server && Sandbox
import ConnectButton
import Handshake
import HandshakeServer
import Hummingbird
import IFTTTConnect
import Logging
import OAuth
import Sandbox
import Synchronization

/// The shop: its customers, its connections, and what mounts the buttons.
struct Shop: Sendable {
    let origin: String
    let sandbox: Sandbox
    let visits = Visits()
    let described = Described()
    let phones = Phones()
    let service: ConnectService
    let hosts: Hosts
    /// Counts for IFTTT what customers do to the buttons, those who agreed.
    let analytics: ConnectAnalytics
    /// The buttons whose configuration is the shop's own page, and those whose is IFTTT's.
    let own: ConnectButtonRoutes<BasicRequestContext>
    let hosted: ConnectButtonRoutes<BasicRequestContext>
    private let webhooks: WebhookRoutes<BasicRequestContext>
    private let tokens: UserTokenRoutes<BasicRequestContext>

    /// The connections of the sample (F107): an area and a zone, an area to enter and one to leave, a calendar.
    static let connections = ["aB3dE5fG", "aReAs2go", "cAl3nDar"]

    /// What the shop has before it knows its own address: which IFTTT, the vault, and who agreed to be counted.
    struct Books: Sendable {
        let ifttt: Service
        let vault = MemoryVault()
        let analytics: ConnectAnalytics
        /// How customers turn a connection off.
        let disconnection: ConnectActivation.Disconnection

        init(on sandbox: Sandbox, disconnection: ConnectActivation.Disconnection = .confirmed) throws {
            self.disconnection = disconnection
            ifttt = .ifttt.at(try EndpointURL(sandbox.ifttt.origin, security: .allowingInsecureLoopback))
            analytics = ConnectAnalytics(
                in: vault, appName: "Grocery Express", through: .init(hosts: Hosts(of: ifttt)))
        }
    }

    init(at origin: String, on sandbox: Sandbox, with books: Books) throws {
        guard let partner = sandbox.ifttt.connect?.partners.first else { throw ShopError.sandbox }
        let (ifttt, vault) = (books.ifttt, books.vault)
        self.origin = origin
        self.sandbox = sandbox
        hosts = Hosts(of: ifttt)
        service = ConnectService(key: Secret(partner.serviceKey), at: hosts)
        analytics = books.analytics
        var routes: [ConnectButtonRoutes<BasicRequestContext>] = []
        for (path, isOwn) in [("own", true), ("hosted", false)] {
            let address = try PublicAddress("\(origin)/connect/\(path)")
            var settings = try ConnectButtonSettings(
                at: address, offering: try Self.connections.map { try Self.offer(of: $0, isOwn: isOwn, books) }
            ) { [visits, service] customer in
                // The token in a redirect counts only for customers of whom the shop's server fetches none (W14).
                guard Self.canFetchToken(of: customer, sandbox, visits) else { return .redirect }
                return .partnerServer { try await Self.fetchedToken(of: customer, sandbox, visits, service) }
            }
            settings.analytics = analytics
            Self.lend(sandbox, to: &settings)
            _ = sandbox.registerRedirectURL(settings.callbackURL)
            let client = Client(
                service: ifttt, id: partner.id, redirect: .uri(try RedirectURI(settings.callbackURL)))
            let accounts = try Handshake(client, vault: vault)
            routes.append(
                try ConnectButtonRoutes(settings, accounts: accounts) { [visits] request, _ in
                    visits.known(request).flatMap { visit in
                        visit.customer.flatMap { try? ConnectButtonUser(id: $0, suggestedEmail: visit.email) }
                    }
                })
        }
        (own, hosted) = (routes[0], routes[1])
        webhooks = try WebhookRoutes(serviceKey: Secret(partner.serviceKey), vault: vault) { [routes, phones] webhook in
            if case .fired(let trigger) = webhook.event {
                phones[webhook.user, webhook.connection]?.hear(trigger, at: TimeSource.system.now())
            }
            // Whatever it says, an open page hears how it stands. IFTTT names customers as the shop does.
            for buttons in routes where Self.connections.contains(webhook.connection.rawValue) {
                try await buttons.refresh(webhook.connection, for: try ConnectButtonUser(id: webhook.user))
            }
            Logger(label: "GroceryExpress").info(
                "IFTTT says", metadata: ["event": "\(webhook.event.name)", "connection": "\(webhook.connection)"])
        }
        tokens = UserTokenRoutes(service, at: try PublicAddress("\(origin)/api")) { [visits] request, _ in
            visits.known(request)?.customer.flatMap { Self.partnerUser($0, sandbox) }
        }
        _ = sandbox.setWebhookPrefix(origin)
    }

    /// A connection's button, configured at the shop's own pages or at IFTTT's.
    private static func offer(of id: String, isOwn: Bool, _ books: Books) throws -> ConnectButtonOffer {
        var offer = ConnectButtonOffer(try ConnectionID(id))
        offer.disconnection = books.disconnection
        offer.skipsConfiguration = isOwn
        offer.page = LocalPath(rawValue: "/connections/\(id)")
        if isOwn { offer.setUpPage = LocalPath(rawValue: "/connections/\(id)/configure") }
        return offer
    }

    /// What the buttons need of the shop: its own OAuth server's codes.
    private static func lend(_ sandbox: Sandbox, to settings: inout ConnectButtonSettings) {
        settings.oauthCode = { customer in
            try sandbox.ifttt.users.first { $0.subject == customer }.map {
                Secret(try sandbox.issueOAuthCode(for: $0.name))
            }
        }
    }

    /// Whether the shop's server fetches the customer's user token.
    private static func canFetchToken(of customer: String, _ sandbox: Sandbox, _ visits: Visits) -> Bool {
        visits.wantsToken(customer) && partnerUser(customer, sandbox)?.accessToken != nil
    }

    /// The user token that the shop's server fetches with its service key, of a customer for whom it does.
    private static func fetchedToken(
        of customer: String, _ sandbox: Sandbox, _ visits: Visits, _ service: ConnectService
    ) async throws -> UserToken? {
        guard visits.wantsToken(customer), let user = partnerUser(customer, sandbox), let token = user.accessToken
        else { return nil }
        return try await service.userToken(for: customer, accessToken: token)
    }

    /// A customer's user token: the one that came with the connection, otherwise the one that the shop fetches.
    func userToken(of customer: String) async throws -> UserToken? {
        if let token = try await own.userTokens(for: try ConnectButtonUser(id: customer)).token() { return token }
        return try await Self.fetchedToken(of: customer, sandbox, visits, service)
    }

    private static func partnerUser(_ customer: String, _ sandbox: Sandbox) -> PartnerUser? {
        guard let user = sandbox.ifttt.users.first(where: { $0.subject == customer }) else { return nil }
        let account = sandbox.ifttt.connect?.accounts.first { $0.partnerUserID == customer }
        return PartnerUser(id: customer, accessToken: account.map { Secret($0.partnerAccessToken) }) {
            Secret(try sandbox.issueOAuthCode(for: user.name))
        }
    }

    /// Everything that the shop answers.
    var router: Router<BasicRequestContext> {
        let router = Router()
        own.add(to: router.group("connect/own"))
        hosted.add(to: router.group("connect/hosted"))
        // Where a button looks for its server unless told otherwise: the pages to copy tell it nothing.
        // A server of your own adds its routes once, at the path of their address.
        hosted.add(to: router.group("connect"))
        webhooks.add(to: router)
        tokens.add(to: router.group("api"))
        ShopRoutes(shop: self).add(to: router)
        return router
    }

    /// The buttons that a visitor sees.
    func buttons(of visit: Visit) -> ConnectButtonRoutes<BasicRequestContext> {
        visit.usesOwnConfiguration ? own : hosted
    }

    /// A connection as the customer has it, read with the service key.
    func connection(_ id: ConnectionID, of customer: String?) async throws -> Connection {
        let found: Connection
        do {
            found = try await service.connection(id, for: customer, retry: .none)
        } catch let error as ConnectError
            where customer != nil && [.notFound, .unauthorized].contains(error.problemKind)
        {
            // IFTTT does not know a customer who has never turned it on.
            found = try await service.connection(id, retry: .none)
        }
        described.remember(found)
        return found
    }

    /// What a page says of a connection: as IFTTT described it last, which is asked again for the next page. Only the first
    /// description is awaited, and not for long; nil before there is one.
    func description(of id: ConnectionID, for customer: String?) async -> Connection? {
        let asked = Task { try? await connection(id, of: customer) }
        if let known = described[id] { return known }
        return await soon { await asked.value }
    }

    /// How long a page waits for IFTTT before it shows what is known.
    static let deadline = Duration.seconds(2)

    /// An answer if it comes soon. The work continues anyway, for the next page.
    func soon<Answer: Sendable>(_ work: @escaping @Sendable () async -> Answer?) async -> Answer? {
        let (answers, first) = AsyncStream<Answer?>.makeStream(bufferingPolicy: .bufferingOldest(1))
        Task { first.yield(await work()) }
        let limit = Task {
            try await Task.sleep(for: Self.deadline)
            first.yield(nil)
        }
        defer { limit.cancel() }
        return await answers.first { _ in true } ?? nil
    }
}

/// What IFTTT last said of each connection, so that no page waits for it twice.
///
/// A class, since requests share it.
final class Described: Sendable {
    private let held = Mutex<[ConnectionID: Connection]>([:])

    subscript(id: ConnectionID) -> Connection? { held.withLock { $0[id] } }

    func remember(_ connection: Connection) { held.withLock { $0[connection.id] = connection } }
}

extension ConnectWebhook.Event {
    /// What has happened, for the log.
    fileprivate var name: String {
        switch self {
        case .enabled: "enabled"
        case .updated: "updated"
        case .disabled: "disabled"
        case .fired(let trigger): "fired \(trigger.id)"
        case .other(let type, let name, _): "\(type)/\(name)"
        }
    }
}

/// Why the shop cannot open.
enum ShopError: Error {
    case sandbox
}
#endif
