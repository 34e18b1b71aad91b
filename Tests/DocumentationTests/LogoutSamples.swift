import HTTPTypes
import Handshake
import HandshakeServer
import Hummingbird
import OAuth

/// The code of the pages about logout and tokens without a browser, compiled; `CodeTests` compares. It needs a server, so it is not run.
private enum LogoutSamples {
    #if os(Linux) || os(macOS)
    static func signOut(_ account: Account) async throws {
        let report = try await account.signOut(returningTo: .loopback(port: 8765, path: "/signed-out")) { page in
            print(page.prompt())
            return try await SystemBrowser().show(signOut: page)
        }
        if report.serverSession == .ended { print("Signed out there, too.") }
    }
    #endif

    static func backchannel(_ handshake: Handshake, _ token: Secret) async throws {
        let logout = try await handshake.endSessions(logoutToken: token)
        for account in logout.accounts { print("end the app's own session of", account.name) }
    }

    static func routes(
        _ handshake: Handshake, _ address: PublicAddress, _ router: Router<BasicRequestContext>,
        signedInUser: @escaping @Sendable (Request) async throws -> String?,
        endSessions: @escaping @Sendable ([String]) async throws -> Void
    ) {
        let logout = LogoutRoutes<BasicRequestContext>(
            handshake, at: address,
            endSessions: { logout in try await endSessions(logout.accounts.map(\.name)) },
            endBrowserSession: { _, _ in [.setCookie: "session=; Max-Age=0; Path=/"] },
            user: { request, _ in try await signedInUser(request) })
        logout.add(to: router.group("connect"))
    }

    static func exchange(_ account: Account) async throws {
        let exchanged = try await account.exchangedToken(audiences: ["billing"], scopes: ["invoices"])
        guard case .accessToken(let token) = exchanged else { return }
        print(token.scopes ?? [])
    }

    static func introspection(_ api: Handshake, _ shown: Secret) async throws -> Bool {
        let told = try await api.introspection(of: shown, signed: true)
        guard told.isActive, told.audience.contains("https://api.example.com"), told.scopes.contains("invoices") else {
            return false
        }
        return true
    }

    static func short(_ account: Account) async throws {
        guard case .accessToken(let token) = try await account.exchangedToken(audiences: ["billing"]) else { return }
        print(token.isBound)
    }

    static func assertion(_ account: Account, _ elsewhere: Handshake) async throws {
        let exchanged = try await account.exchangedToken(
            for: .identityAssertion, of: .idToken, audiences: ["https://api.example.com"])
        if case .other(let assertion, _) = exchanged {
            print(try await elsewhere.signIn(withAssertion: assertion.token).status)
        }
    }

    static func assertion(_ key: SigningKey, _ service: Service, _ vault: any Vault) async throws {
        let claims = JWTBearerAssertion.Claims(issuer: "reports", subject: "ada@example.com")
        let client = Client.asserting(claims, signedBy: key, service: service, id: "reports")
        let account = try await Handshake(client, vault: vault).signInAsClient()
        print(account.status)
    }

    static func serviceAccount(_ bytes: [UInt8], _ vault: any Vault) async throws {
        let file = try ServiceAccountKey(parsing: bytes)
        let drive = try EndpointURL("https://www.googleapis.com/")
        let client = try Client.serviceAccount(
            file, apiRoot: drive, scopes: ["https://www.googleapis.com/auth/drive.readonly"])
        let account = try await Handshake(client, vault: vault).signInAsClient()
        print(account.status)
    }

    static func ownDevice(_ handshake: Handshake) async throws {
        let account = try await handshake.signInOnOwnDevice(
            of: .login("ada@example.com"), as: "ada", bindingMessage: "Desk 4, W4SCT")
        print(account.status)
    }

    static func notifications(_ router: Router<BasicRequestContext>) {
        let notifications = BackchannelNotifications()
        BackchannelNotificationRoute<BasicRequestContext>(notifications).add(to: router, at: "ciba/ping")
    }
}
