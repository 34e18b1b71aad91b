#if Server && Sandbox
import ExampleServer
import Foundation
import HTTPTypes
import Handshake
import HandshakeServer
import Hummingbird
import OAuth
import Sandbox
import Synchronization

#if SQLite
import SQLiteVault
#endif

/// The app: its users, its clients at three services, and its routes.
struct App: Sendable {
    let origin: String
    let members: Members
    let uses = Uses()
    let handshake: Handshake
    private let signIn: SignInRoutes<BasicRequestContext>
    private let accounts: ConnectedAccountsRoutes<BasicRequestContext>
    private let logout: LogoutRoutes<BasicRequestContext>
    private let health: HealthRoutes<BasicRequestContext>
    private let figures: PrometheusFigures

    /// The vault of all users' grants: one SQLite file where the package is built with the trait `SQLite`.
    static func vault(in folder: String) throws -> any Vault {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw FolderProblem(folder: folder)
        }
        #if SQLite
        let (file, keyFile) = ("\(folder)/accounts.sqlite", "\(folder)/key/key")
        // Makes the vault the first time. An app of your own does it once, at its installation.
        try SQLiteVault.migrate(file, keyFile: keyFile)
        return try SQLiteVault(file, keyFile: keyFile)
        #else
        return try FileVault(directory: "\(folder)/accounts", keyFile: "\(folder)/key/key")
        #endif
    }

    /// Where ``vault(in:)`` keeps accounts, for programs.
    static var vaultKind: String {
        #if SQLite
        return "sqlite"
        #else
        return "files"
        #endif
    }

    /// Where ``vault(in:)`` keeps accounts, in words.
    static var vaultName: String {
        #if SQLite
        return "an SQLite database."
        #else
        return "encrypted files. To use SQLite: swift run --traits SQLite,Everything ConnectedAccounts"
        #endif
    }

    /// An OpenID server that stands in place of the sandbox's, where the app is registered as a public client.
    struct Provider: Sendable {
        let issuer: String
        let clientID: String
    }

    init(
        at origin: String, on sandbox: Sandbox, provider: Provider?, vault: any Vault, members: Members,
        figures: PrometheusFigures
    ) throws {
        self.origin = origin
        self.members = members
        self.figures = figures
        let address = try PublicAddress("\(origin)/connect")
        handshake = try Self.handshake(at: address, on: sandbox, provider: provider, vault: vault)
        let user: @Sendable (Request, BasicRequestContext) async throws -> String? = { [members] request, _ in
            members.user(of: request)
        }
        signIn = try SignInRoutes(
            handshake, at: address, respond: ConnectedAccountsRoutes<BasicRequestContext>.returnToPage, user: user)
        accounts = ConnectedAccountsRoutes(
            handshake, at: address, lastUse: { [uses] in uses.last(of: $0) }, user: user)
        // A user who signs out at a provider has logged out of the app too: of all its sessions, or of this browser's.
        logout = LogoutRoutes(
            handshake, at: address,
            endSessions: { [members] logout in members.logOut(Set(logout.accounts.map(\.name))) },
            endBrowserSession: { [members] request, _ in
                members.logOut(request)
                return [.setCookie: Members.noCookie]
            }, user: user)
        health = try HealthRoutes(handshake)
    }

    /// The app's registrations. The sandbox knows these three, at any port.
    private static func handshake(
        at address: PublicAddress, on sandbox: Sandbox, provider other: Provider?, vault: any Vault
    ) throws -> Handshake {
        func redirect(_ service: String) throws -> Client.Redirect {
            .uri(try RedirectURI("\(address)/\(service)/callback"))
        }
        func url(_ service: SandboxService) throws -> EndpointURL {
            try EndpointURL(service.origin, security: .allowingInsecureLoopback)
        }
        let issuer = try Issuer(other?.issuer ?? sandbox.standard.origin, security: .allowingInsecureLoopback)
        let provider = try Service(
            name: "standard", displayName: "Example Provider",
            authorizationServer: .discovered(issuer, security: .allowingInsecureLoopback),
            defaultScopes: ["openid", "profile", "offline_access"])
        return try Handshake(
            Client(
                service: .sequencing.at(url(sandbox.sequencing)), id: "my-genome-app", redirect: redirect("sequencing")),
            .confidential(
                service: .recurseCenter.at(url(sandbox.recurseCenter)), id: "recurse-app",
                secret: Secret("recurse-app-secret"), redirect: redirect("recurse-center")),
            Client(service: provider, id: other?.clientID ?? "sandbox-public", redirect: redirect("standard")),
            vault: vault)
    }

    /// Everything that the app answers.
    var router: Router<BasicRequestContext> {
        let router = Router()
        signIn.add(to: router.group("connect"))
        accounts.add(to: router.group("connect"))
        logout.add(to: router.group("connect"))
        // Both are for your own network, not for the public.
        health.add(to: router)
        router.get("metrics") { [figures] _, _ in Response.text(figures.text, type: "text/plain; version=0.0.4") }
        router.get("app.css") { _, _ in Response.text(Pages.style, type: "text/css; charset=utf-8") }
        router.get("/") { request, _ in
            guard let user = members.user(of: request) else { return Pages.logIn() }
            return Pages.accounts(of: user)
        }
        router.post("log-in") { request, _ in try await logIn(request) }
        router.post("log-out") { request, _ in
            try check(request)
            members.logOut(request)
            return Response.seeOther("/")
        }
        router.post("use") { request, _ in
            try check(request)
            return try await use(request)
        }
        return router
    }

    /// Refuses forms of other sites. Browsers send the origin with every form.
    private func check(_ request: Request) throws {
        guard request.headers[.origin] == origin else { throw HTTPError(.forbidden) }
    }

    private func logIn(_ request: Request) async throws -> Response {
        try check(request)
        let content = String(buffer: try await request.body.collect(upTo: 4096))
        let fields = Pages.fields(content)
        guard let cookie = members.logIn(fields["name"] ?? "", password: fields["password"] ?? "") else {
            return Pages.logIn(isRefused: true)
        }
        var response = Response.seeOther("/")
        response.setCookie(cookie)
        return response
    }

    /// Does what an app does with its users' accounts: sends a request with each.
    private func use(_ request: Request) async throws -> Response {
        guard let user = members.user(of: request) else { return Response.seeOther("/") }
        for client in handshake.clients {
            // An account that needs attention shows so on the page.
            guard let account = try? await handshake.account(user, of: client.service.name),
                (try? await account.identity()) != nil
            else { continue }
            uses.record(account.id)
        }
        return Response.seeOther("/")
    }
}

/// The folder of the accounts cannot be created, or is a file.
struct FolderProblem: Error, CustomStringConvertible {
    let folder: String
    var description: String {
        "The folder “\(folder)” cannot be created, or is a file. Choose another one with --folder."
    }
}

/// When accounts were last used. An app of your own has a column for it.
///
/// A class, since requests share it.
final class Uses: Sendable {
    private let times = Mutex<[AccountID: Double]>([:])

    func last(of account: AccountID) -> Double? { times.withLock { $0[account] } }

    func record(_ account: AccountID) {
        times.withLock { $0[account] = TimeSource.system.now() }
    }
}
#endif
