#if Server
import AsyncSupport
import ConnectedAccountsUI
import HTTPTypes
public import Handshake
public import Hummingbird
import Logging
public import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The server side of `<connected-accounts>`.
///
/// It answers with the services of the app and the state of the user's account at each.
///
/// Add them beside ``SignInRoutes``, which connect and disconnect:
///
/// ```swift
/// let signIn = try SignInRoutes<BasicRequestContext>(
///     handshake, at: address, respond: ConnectedAccountsRoutes<BasicRequestContext>.returnToPage, user: user)
/// let accounts = ConnectedAccountsRoutes<BasicRequestContext>(handshake, at: address, user: user)
/// signIn.add(to: router.group("connect"))
/// accounts.add(to: router.group("connect"))
/// ```
///
/// | route | does |
/// |---|---|
/// | `GET connected-accounts.js` | the component |
/// | `GET connected-accounts` | `{"accounts"}`: the user's account of each service, from the vault alone |
/// | `GET connected-accounts/:service` | one of them, after asking the service whose it is |
/// | `GET connected-accounts-return` | redirects the browser to the app, after a sign-in that the app has begun (`AccountsServer`) |
///
/// The members of an account are `service`, `name`, `state` (as of ``SignInRoutes``), `user`, `is_name_available`,
/// `last_use` (seconds since 1970) and `token`, the anti-forgery token for `POST :service/start` and
/// `POST :service/disconnect`. Only pages of the app's own origin get them, and only the accounts of the session's user.
public struct ConnectedAccountsRoutes<Context: RequestContext>: Sendable {
    private let handshake: Handshake
    private let pages: OwnPages<Context>
    private let tokens: AntiForgeryTokens
    private let script = ServedScript(ConnectedAccountsScript.javaScript)
    private let names = AccountNames()
    private let lookUps: RateLimit
    private let time: TimeSource
    private let app: RedirectURI?
    private let lastUse: @Sendable (AccountID) async throws -> Double?

    /// How long a service is asked whose an account is.
    private static var timeout: Duration { .seconds(10) }

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - handshake: the clients, as for ``SignInRoutes``.
    ///   - address: the public URL of the routes, as for ``SignInRoutes``.
    ///   - environment: clock, randomness and log; its limit also bounds how often a user's services are asked.
    ///   - app: where a native app is opened after a sign-in, as its `AccountsServer` has it; nil without such an app.
    ///   - lastUse: when the app last used an account, in seconds since 1970; nil when it does not know. The list shows the
    ///     later of this and the account's last token request.
    ///   - user: the user of a request, by the app's own session; nil when no user is signed in.
    public init(
        _ handshake: Handshake, at address: PublicAddress, environment: SignInEnvironment = SignInEnvironment(),
        app: RedirectURI? = nil,
        lastUse: @escaping @Sendable (AccountID) async throws -> Double? = { _ in nil },
        user: @escaping @Sendable (Request, Context) async throws -> String?
    ) {
        self.handshake = handshake
        pages = OwnPages(at: address, what: "a list of accounts", log: environment.log, user: user)
        tokens = AntiForgeryTokens(vault: handshake.vault, random: environment.random)
        lookUps = RateLimit(environment.limit)
        time = environment.time
        self.app = app
        self.lastUse = lastUse
    }

    /// Adds the routes to a router, or to the group whose path is that of the address.
    public func add(to router: some RouterMethods<Context>) {
        router.get("connected-accounts.js") { request, _ in script.response(to: request) }
        router.get("connected-accounts") { request, context in
            await pages.answering(request, context, list)
        }
        router.get("connected-accounts-return") { request, _ in backToApp(request) }
        router.get("connected-accounts/:service") { request, context in
            await pages.answering(request, context) { user in
                let name = context.parameters.get("service")
                guard let service = handshake.services.first(where: { $0.name == name }) else {
                    throw RequestRefusal(.notFound, "not_found", "This app has no such service")
                }
                return try await named(service, of: user)
            }
        }
    }

    /// Sends a failed sign-in back to the page it started from, which reports it.
    ///
    /// Give it to ``SignInRoutes`` as `respond`. A program that asks for JSON gets the usual answer.
    public static func returnToPage(
        _ outcome: SignInOutcome, _ page: LocalPath, _ request: Request
    ) async -> Response? {
        guard case .failed(let error) = outcome, !request.asksForJSON else { return nil }
        let word = if case .signInAbandoned = error { "cancelled" } else { "failed" }
        let parts = page.rawValue.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let fragment = parts.count == 2 ? "#\(parts[1])" : ""
        let separator = parts[0].contains("?") ? "&" : "?"
        return .seeOther("\(parts[0])\(separator)connected-accounts=\(word)\(fragment)")
    }

    /// Opens the app. The redirect says no more than how the sign-in ended.
    private func backToApp(_ request: Request) -> Response {
        guard let app else {
            return RequestRefusal(.notFound, "not_found", "This server has no app to return to").response
        }
        let word = request.uri.queryParameters["connected-accounts"].map { String($0) }
        let query = word.flatMap { ["cancelled", "failed"].contains($0) ? "?connected-accounts=\($0)" : nil }
        var response = Response.seeOther(app.string + (query ?? ""))
        response.headers[.cacheControl] = "no-store"
        response.headers[.referrerPolicy] = "no-referrer"
        return response
    }

    private func list(_ user: String) async throws -> Response {
        var accounts: [JSONValue] = []
        for service in handshake.services {
            let (status, shown) = try await stored(service, of: user)
            let known = status.flatMap { names.name(of: $0, now: time.now()) }
            accounts.append(try await json(shown.named(known), of: user))
        }
        return .json(Data(JSONValue.object(["accounts": .array(accounts)]).json.utf8))
    }

    private func named(_ service: Service, of user: String) async throws -> Response {
        let (status, shown) = try await stored(service, of: user)
        guard let status, shown.state.isConnected, shown.isNameAvailable else {
            return try await answer(shown, of: user)
        }
        if let known = names.name(of: status, now: time.now()) {
            return try await answer(shown.named(known), of: user)
        }
        try lookUps.check(user, now: time.now())
        do {
            guard let account = try await handshake.account(user, of: service.name) else {
                return try await answer(shown, of: user)
            }
            let answered: (AccountStatus, Identity)? = try await within(Self.timeout, on: time.clock) {
                // Refreshed first where need be: the status is then that of the token that is asked with.
                _ = try await account.accessToken()
                let asked = account.status
                return (asked, try await account.identity())
            }
            // Another user's sign-in, here or in another process, may have replaced that token meanwhile.
            guard let (asked, identity) = answered,
                let current = try await handshake.storedStatus(user, of: service.name), current.isOfSameUser(as: asked)
            else { return try await answer(shown, of: user) }
            let named = shown.named(identity.name ?? identity.subject)
            // The shortened name: a service chooses how long its own is.
            if let name = named.userName { names.remember(name, of: current, now: time.now()) }
            return try await answer(named, of: user)
        } catch HandshakeError.signInRequired {
            return try await answer(shown.ended, of: user)
        } catch let error as HandshakeError {
            if case .vault = error { throw error }
            // The account stands as it did; only its name is not known.
            return try await answer(shown, of: user)
        }
    }

    /// An account, and how the vault says it stands.
    private func stored(_ service: Service, of user: String) async throws -> (AccountStatus?, ConnectedAccount) {
        do {
            let status = try await handshake.storedStatus(user, of: service.name)
            let used: Double? = if let status { await lastUse(of: status.id) } else { nil }
            return (status, ConnectedAccount(service, status: status, lastUse: used))
        } catch HandshakeError.vault(.damaged) {
            return (nil, ConnectedAccount(damaged: service))
        }
    }

    /// When the app last used an account. An app that cannot say it now still gets its list.
    private func lastUse(of account: AccountID) async -> Double? {
        do {
            return try await lastUse(account)
        } catch {
            pages.failures.log.error(
                "the last use of an account is not known", metadata: ["reason": "\(type(of: error))"])
            return nil
        }
    }

    private func answer(_ account: ConnectedAccount, of user: String) async throws -> Response {
        .json(Data(try await json(account, of: user).json.utf8))
    }

    private func json(_ account: ConnectedAccount, of user: String) async throws -> JSONValue {
        let token = try await tokens.token(of: user, for: account.service)
        return .object([
            "service": .string(account.service), "name": .string(account.displayName),
            "state": .string(account.state.rawValue), "user": account.userName.map { .string($0) } ?? .null,
            "is_name_available": .bool(account.isNameAvailable),
            "last_use": account.lastUse.flatMap { Int64(exactly: $0.rounded()) }.map { .number(String($0)) } ?? .null,
            "token": .string(token.reveal()),
        ])
    }
}

extension AccountStatus {
    /// Whether two statuses of an account are of the same access token, or of tokens of the same user of the service.
    fileprivate func isOfSameUser(as other: AccountStatus) -> Bool {
        if (issuedAt, generation) == (other.issuedAt, other.generation) { return true }
        guard let identity, let known = other.identity else { return false }
        return identity.issuer.isIdentical(to: known.issuer) && identity.subject.isIdentical(to: known.subject)
    }
}
#endif
