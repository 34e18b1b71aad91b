import ConnectButton
import Handshake
import HandshakeServer
import Hummingbird
import IFTTTConnect
import OAuth

/// The code of the pages about accounts and the Connect Button, compiled; `CodeTests` compares. IFTTT or a user would have to
/// answer, so it is not run.
private enum ButtonSamples {
    static func account(_ client: Client, _ vault: any Vault) async throws -> ResponseMessage {
        let handshake = try Handshake(client, vault: vault)
        let account = try await handshake.signIn(through: .systemBrowser)
        let response = try await account.send(.get, "profiles/me")
        return response
    }

    static func answer(_ activation: ConnectActivation, header: String, token: String) -> ConnectButtonAnswer {
        let state = ConnectButtonState(activation)
        let locale = ConnectButtonLocale(acceptLanguage: header)
        let answer = ConnectButtonAnswer(state, in: locale, revision: 7, token: token)
        return answer
    }

    static func controller(_ handshake: Handshake, _ browser: LoopbackBrowser) throws -> ConnectController {
        let configuration = ConnectActivation.Configuration(
            try ConnectionID("aB3dE5fG"), callback: browser.callbackURL, suggestedEmail: "ada@example.com")
        let controller = ConnectController(
            ConnectActivation(configuration), tokens: UserTokens(in: handshake),
            environment: ConnectEnvironment(browser: browser, tokens: .redirect))
        return controller
    }

    static func analytics(_ storage: AnalyticsStorage) async {
        let analytics = Analytics(to: ConnectAPI(), storage: storage)
        await analytics.allow()  // after the user agreed; refuse() withdraws the consent
        await analytics.run()  // sends what is counted, until the task is cancelled
    }

    private static func userToken(of user: String) async throws -> UserToken? { nil }

    static func routes(
        _ handshake: Handshake, _ router: Router<BasicRequestContext>, _ connection: ConnectionID,
        signedInUser: @escaping @Sendable (Request) async throws -> ConnectButtonUser?
    ) throws {
        let address = try PublicAddress("https://groceries.example/connect")
        let settings = try ConnectButtonSettings(at: address, offering: [ConnectButtonOffer(connection)]) { user in
            .partnerServer { try await userToken(of: user) }
        }
        let buttons = try ConnectButtonRoutes<BasicRequestContext>(settings, accounts: handshake) {
            request, _ in
            try await signedInUser(request)
        }
        buttons.add(to: router.group("connect"))
    }

    static func webhooks(
        key: Secret, _ vault: any Vault, _ buttons: ConnectButtonRoutes<BasicRequestContext>
    ) throws -> WebhookRoutes<BasicRequestContext> {
        let webhooks = try WebhookRoutes<BasicRequestContext>(serviceKey: key, vault: vault) { webhook in
            try await buttons.refresh(webhook.connection, for: ConnectButtonUser(id: webhook.user))
        }
        return webhooks
    }

    static func counted(
        _ settings: inout ConnectButtonSettings, _ application: inout Application<RouterResponder<BasicRequestContext>>,
        _ vault: any Vault, userID: String
    ) async throws {
        let analytics = ConnectAnalytics(in: vault, appName: "Grocery Express")
        settings.analytics = analytics
        application.addServices(analytics)
        try await analytics.allow(for: userID)  // refuse(for:) withdraws it
    }
}
