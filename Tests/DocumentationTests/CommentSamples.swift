import Beacons
import Handshake
import HandshakeServer
import Hummingbird
import IFTTTConnect
import OAuth
import RecurseCenter
import Sandbox
import Sequencing

/// The code of the documentation comments, compiled; `CodeTests` compares. Other samples compile what the pages show too.
private enum CommentSamples {
    static func account(_ client: Client, _ vault: any Vault) async throws -> ResponseMessage {
        let handshake = try Handshake(client, vault: vault)
        let account = try await handshake.signIn(through: .systemBrowser)  // later: handshake.account()
        let response = try await account.send(.get, "profiles/me")
        return response
    }

    static func resource(_ vault: any Vault) async throws -> Account {
        let mcp = try await DiscoveredResource.discover("https://mcp.example.com/mcp")
        let handshake = try Handshake(try await mcp.register(as: "My App"), vault: vault)
        let account = try await handshake.signIn(through: .systemBrowser)
        return account
    }

    static func server(_ vault: any Vault) async throws -> Account {
        let service = try Service(
            name: "mine", authorizationServer: .discovered(Issuer("https://id.example.com"), security: .httpsOnly))
        let server = try await DiscoveredServer.discover(service, scopes: ["openid"])
        let client = try await server.client(registeredAs: "My App", in: vault)
        let account = try await Handshake(client, vault: vault).signIn(through: .systemBrowser)
        return account
    }

    static func services() throws -> [Service] {
        let service = try Service.named(.github)
        let gitLab = try Service.named("gitlab-self-managed", ["host": "gitlab.example.org"])
        return [service, gitLab]
    }

    static func key(_ file: [UInt8], _ service: Service) throws -> Client {
        let key = try SigningKey(parsing: file, keyID: "key-1")
        let client = Client.confidential(service: service, id: "app", key: key)
        print(key.publicKeySet)
        return client
    }

    static func bound(_ service: Service) -> Client {
        var client = Client(service: service, id: "app")
        client.options.dpop = .always
        return client
    }

    static func signed(_ service: Service, _ key: SigningKey, _ certificate: ClientCertificate) -> [Client] {
        var client = Client.confidential(service: service, id: "app", key: key)
        client.options.fapi2 = true
        client.options.signedRequests = .always
        client.options.responseMode = .jwt
        client.options.authorizationDetails = [
            AuthorizationDetail(type: "payment_initiation", ["amount": .string("12.50")])
        ]
        var certified = Client.confidential(service: service, id: "app", certificate: certificate)
        certified.options.fapi2 = true
        return [client, certified]
    }

    static func departing() async throws -> DiscoveredResource {
        var deviations = DiscoveredResource.Deviations()
        deviations.assumesS256 = true
        let api = try await DiscoveredResource.discover("https://mcp.example.com/mcp", deviating: deviations)
        return api
    }

    static func credential(_ data: String) throws -> FileVault {
        let key = try VaultMasterKey.credential(named: "handshake-key")
        let vault = try FileVault(directory: "\(data)/vault", masterKey: key)
        return vault
    }

    static func command(_ data: String) async throws -> FileVault {
        let key = try await VaultMasterKey.printed(by: ["pass", "show", "handshake-key"])
        let vault = try FileVault(directory: "\(data)/vault", masterKey: key)
        return vault
    }

    static func vault(data: String, config: String) throws -> FileVault {
        let vault = try FileVault(directory: "\(data)/handshake/vault", keyFile: "\(config)/handshake/key")
        return vault
    }

    static func sandbox(_ authorizationURL: String) async throws -> String {
        let sandbox = try await Sandbox.start()
        let redirect = try await sandbox.approve(authorizationURL)
        sandbox.inject(try FaultRule(parsing: "POST /token => drop x1"))
        sandbox.advanceClock(by: 3601)
        await sandbox.stop()
        return "\(redirect)"
    }

    static func ranging(_ packets: AsyncStream<Advertisement>) async throws {
        let settings = Ranging.Settings([.proximity(uuid: .secretHandshake)])
        for try await update in RangingUpdates(of: packets, settings: settings) {
            for beacon in update.beacons { print(beacon.identity, beacon.proximity) }
        }
    }

    static func recurseCenter(_ account: Account) async throws {
        let center = RecurseCenter(account)
        let me = try await center.profile(.me)
        try await center.checkIn(me.id)
    }

    static func activation(
        _ configuration: ConnectActivation.Configuration, url: String, now: Double,
        perform: ([ConnectActivation.Effect]) -> Void
    ) {
        var activation = ConnectActivation(configuration)
        perform(activation.handle(.appeared))
        perform(activation.handle(.connect(AttemptState(), at: now)))
        perform(activation.open(url, at: now))
    }

    static func controller(
        _ activation: ConnectActivation, _ tokens: UserTokens, _ environment: ConnectEnvironment,
        show: (ConnectController.Update) -> Void
    ) async {
        let controller = ConnectController(activation, tokens: tokens, environment: environment)
        let updates = controller.updates()
        async let running: Void = controller.run()
        controller.send(.appeared)
        for await update in updates { show(update) }
        await running
    }

    static func connection(_ token: UserToken) async throws -> Connection {
        let ifttt = ConnectAPI(.user(token))
        let connection = try await ifttt.connection(ConnectionID("aB3dE5fG"))
        return connection
    }

    static func service(key: Secret, partnerToken: Secret) async throws -> UserToken {
        let ifttt = ConnectService(key: key)
        let token = try await ifttt.userToken(for: "garden-1001", accessToken: partnerToken)
        return token
    }

    static func buttons(
        _ handshake: Handshake, _ router: Router<BasicRequestContext>, _ settings: ConnectButtonSettings,
        session: @escaping @Sendable (Request) async throws -> (user: String, Void)?
    ) throws {
        let buttons = try ConnectButtonRoutes<BasicRequestContext>(settings, accounts: handshake) { request, _ in
            try await session(request).map { try ConnectButtonUser(id: $0.user) }
        }
        buttons.add(to: router.group("connect"))
    }

    static func connectedAccounts(
        _ handshake: Handshake, _ router: Router<BasicRequestContext>, at address: PublicAddress,
        user: @escaping @Sendable (Request, BasicRequestContext) async throws -> String?
    ) throws {
        let signIn = try SignInRoutes<BasicRequestContext>(
            handshake, at: address, respond: ConnectedAccountsRoutes<BasicRequestContext>.returnToPage, user: user)
        let accounts = ConnectedAccountsRoutes<BasicRequestContext>(handshake, at: address, user: user)
        signIn.add(to: router.group("connect"))
        accounts.add(to: router.group("connect"))
    }

    static func accountsOfAnApp(
        _ handshake: Handshake, at address: PublicAddress,
        user: @escaping @Sendable (Request, BasicRequestContext) async throws -> String?
    ) throws -> ConnectedAccountsRoutes<BasicRequestContext> {
        let accounts = ConnectedAccountsRoutes<BasicRequestContext>(
            handshake, at: address, app: try RedirectURI("com.example.app:/accounts"), user: user)
        return accounts
    }

    static func fileSelector(
        _ handshake: Handshake, _ router: Router<BasicRequestContext>, at address: PublicAddress,
        user: @escaping @Sendable (Request, BasicRequestContext) async throws -> String?,
        visitor: @escaping @Sendable (Request, BasicRequestContext) -> String
    ) {
        let files = FileSelectorRoutes<BasicRequestContext>(handshake, at: address, user: user)
        files.add(to: router.group("genes"))
        let registration = RegistrationRoutes<BasicRequestContext>(
            Registration(.identifier("your-client-id")), at: address, visitor: visitor)
        registration.add(to: router.group("genes"))
    }

    static func webhooks(
        _ key: Secret, _ vault: any Vault, _ router: Router<BasicRequestContext>,
        water: @escaping @Sendable (String, ConnectWebhook.Trigger) async -> Void
    ) throws {
        let webhooks = try WebhookRoutes<BasicRequestContext>(serviceKey: key, vault: vault) { webhook in
            if case .fired(let trigger) = webhook.event { await water(webhook.user, trigger) }
        }
        webhooks.add(to: router)
    }

    static func analytics<Responder: HTTPResponder>(
        _ vault: any Vault, _ settings: inout ConnectButtonSettings, _ application: inout Application<Responder>,
        userID: String
    ) async throws where Responder.Context == BasicRequestContext {
        let analytics = ConnectAnalytics(in: vault, appName: "Grocery Express")
        settings.analytics = analytics  // connects it to the buttons
        try await analytics.allow(for: userID)  // after the user agreed
        application.addServices(analytics)  // sends events in the background
    }

    static func overview(_ account: Account) async throws {
        let genome = Sequencing(account)
        let files = try await genome.files()
        let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: files[0].id)
        print(risk, vitaminD)
    }

    static func answers(_ genome: Sequencing, _ file: GeneticFile) async throws {
        let (risk, vitaminD) = try await genome.answers(.melanoma, .vitaminD, on: file.id)
        print(risk, vitaminD)
    }

    static func run(_ genome: Sequencing, _ file: FileID, show: (Any) -> Void) async throws {
        for try await step in genome.run(.melanoma, .vitaminD, on: file) {
            print("\(step.endedCount) of \(step.chains.count)")
            if let risk = step[.melanoma] { show(risk) }
        }
    }
}

private func keepAccounts(of handshake: Handshake) async {
    let keeper = Keeper(handshake)
    await keeper.run()  // until the task is cancelled
}
