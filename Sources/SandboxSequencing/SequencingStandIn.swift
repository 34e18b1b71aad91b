#if Sandbox
import HTTPTypes
package import SandboxCore

/// Sequencing.com: site, API, beacons and data on one port (Sequencing dossier, section 9).
///
/// The four hosts of the dossier's section 9.1 differ in their paths, so one origin serves as the base URL of each.
/// The quirks of its authorization server (sections 1.2 to 1.9): two spellings of every URL, Basic authentication without form-encoding, `expires_in` as a string,
/// four scope separators, refresh answers without a refresh token for legacy clients, and a token in a path.
package struct SequencingStandIn: FixedStandIn {
    package static let name = SandboxService.Name.sequencing
    package let server: AuthorizationServer
    private let authorization: AuthorizationEndpoint
    private let accounts: AccountRoutes
    private let api: [Route]
    private static let identityPrefix = "js/custom_oauth2_server/custom-token-info/"

    package init(panel: ControlPanel, accessTokenLifetime: Int?) {
        server = AuthorizationServer(
            dialect: Fixtures.dialect(accessTokenLifetime: accessTokenLifetime ?? 3600), clock: panel.clock)
        authorization = AuthorizationEndpoint(server: server)
        let access = Access(server: server)
        let library = FileLibrary(clock: server.clock)
        accounts = AccountRoutes(dialect: server.dialect)
        api = [
            FileRoutes(access: access, library: library).routes,
            ChainRoutes(access: access, library: library).routes,
            ReportRoutes(access: access, library: library).routes,
            ImportRoutes(access: access, library: library).routes,
            ConnectRoutes(pages: authorization.pages, library: library, accounts: accounts).routes,
            BeaconRoutes().routes, PartnerRoutes(access: access).routes,
            AccountPages(pages: authorization.pages, accounts: accounts).routes,
            ConsoleRoutes(pages: authorization.pages, library: library).routes,
        ].flatMap { $0 }
    }

    package var routes: [Route] { site + api }

    package func notFound(_ request: IncomingRequest) -> Answer {
        authorization.pages.notFound()
    }

    package func isAuthorizationPage(_ request: IncomingRequest) -> Bool {
        switch request.path {
        case "/oauth2/authorize": true
        case "/indexApi.php": request.query["q"] == "oauth2/authorize"
        default: false
        }
    }

    private var site: [Route] {
        [
            Route("GET", path: "/oauth2/authorize", note: "sign in and consent", answer: authorization.show),
            Route("POST", path: "/oauth2/authorize", note: "the forms of those pages", answer: authorization.submit),
            Route("POST", path: "/oauth2/token", note: "code and refresh; any q is ignored", answer: token),
            Route("POST", path: "/oauth2/revoke", note: "revocation (RFC 7009), new", answer: revoke),
            Route(
                "GET", "POST", path: "/indexApi.php",
                note: "front controller: q=oauth2/authorize, oauth2/token, oauth2/revoke, \(Self.identityPrefix)TOKEN, "
                    + "\(AccountRoutes.registerPath), \(AccountRoutes.resetPath)",
                answer: frontController),
        ]
    }

    private func frontController(_ request: IncomingRequest) -> Answer {
        let q = request.query["q"] ?? ""
        switch (request.method, q) {
        case ("GET", "oauth2/authorize"): return authorization.show(request)
        case ("POST", "oauth2/authorize"): return authorization.submit(request)
        case ("POST", "oauth2/token"): return token(request)
        case ("POST", "oauth2/revoke"): return revoke(request)
        case ("POST", AccountRoutes.registerPath): return accounts.register(request)
        case ("POST", AccountRoutes.resetPath): return accounts.resetPassword(request)
        case ("GET", _) where q.hasPrefix(Self.identityPrefix):
            let access = server.liveAccess(String(q.dropFirst(Self.identityPrefix.count)))
            return .json(Self.identity(access?.grant.user) ?? [:])
        default: return authorization.pages.notFound()
        }
    }

    private func token(_ request: IncomingRequest) -> Answer {
        do throws(OAuthFailure) {
            let client = try authenticated(request)
            let tokens = try server.exchange(request.form, by: client)
            let answer: JSON = [
                "access_token": .string(tokens.accessToken), "expires_in": .string(String(tokens.lifetime)),
                "token_type": "Bearer", "scope": .string(tokens.scope.joined(separator: " ")),
            ]
            return .uncachedJSON(answer.adding("refresh_token", tokens.refreshToken.map(JSON.string)))
        } catch {
            return error.challengingAnswer
        }
    }

    private func revoke(_ request: IncomingRequest) -> Answer {
        server.revocation(request, authenticate: authenticated)
    }

    /// Legacy clients show id and secret raw in Basic; public ones name themselves in the body.
    private func authenticated(_ request: IncomingRequest) throws(OAuthFailure) -> SandboxClient {
        if let credentials = request.basicCredentials {
            return try server.client(id: credentials.id, secret: credentials.secret)
        }
        guard let id = request.form["client_id"] else { throw .invalidClient("The client identifier is missing.") }
        let client = try server.client(id: id, secret: nil)
        return client
    }

    private static func identity(_ user: SandboxUser?) -> JSON? {
        guard let user else { return nil }
        let username = user.name.prefix { $0 != "@" }
        return ["uid": .string(user.subject), "username": .string(String(username)), "email": .string(user.name)]
    }
}
#endif
