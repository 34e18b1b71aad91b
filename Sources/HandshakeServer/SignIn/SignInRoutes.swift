#if Server
import HTTPTypes
public import Handshake
public import Hummingbird
public import Logging
public import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Connects the app's users with any OAuth service: begins a sign-in, takes the redirect, signs out.
///
/// | route | does |
/// |---|---|
/// | `GET :service` | `{"connected", "state", "token"}`: how the user's account stands, and the anti-forgery token for disconnecting |
/// | `GET :service/start?return_to=/PATH` | sends the browser to the service |
/// | `GET :service/callback` | takes the redirect, stores the grant, sends the browser to `return_to` |
/// | `POST :service/disconnect` | `{"token"}`: revokes what the service can revoke, and forgets |
///
/// Grants are kept under the user's identifier. A redirect counts in the browser in which the sign-in was begun and
/// for the user who began it (RFC 6749, section 10.12); the vault holds what it is checked against, so any process
/// finishes what another has begun. The browser is sent to the app's own paths alone. Unfinished sign-ins are
/// removed once an hour, while others are begun.
///
/// `connected` says whether the grant can be used; `state` is `absent`, `signed_in`, `refresh_uncertain`, `ended` (the user
/// has to connect again) or `signing_out`. The other two routes by `GET` are navigations: what they refuse they tell on a page,
/// or as JSON where `Accept` asks for that. A sign-in is begun by a link of the app's own pages: the link of another site's is
/// refused.
///
/// The app's own session cookie has to be `SameSite=Lax`, or `None`. With `Strict` no browser sends it along when it comes back
/// from the service.
public struct SignInRoutes<Context: RequestContext>: Sendable {
    private let handshake: Handshake
    private let address: PublicAddress
    private let gate: Gate
    private let reader: ContentReader
    private let cookies: SignInCookies
    private let time: TimeSource
    private let tokens: AntiForgeryTokens
    private let cleaning: SignInCleaning
    private let limit: RateLimit
    private let log: Logger
    private let failures: FailureAnswers
    private let respond: @Sendable (SignInOutcome, LocalPath, Request) async -> Response?
    private let user: @Sendable (Request, Context) async throws -> String?

    /// Prepares routes.
    ///
    /// - Parameters:
    ///   - handshake: the clients; the redirect URI of each is `ADDRESS/SERVICE/callback`, that of an only client may
    ///     be `ADDRESS/callback`.
    ///   - address: where the routes are reached from outside.
    ///   - surroundings: time, randomness and where warnings go.
    ///   - respond: answers a finished sign-in in the app's own words; nil leaves it to this module: a redirect to
    ///     the page when it succeeded, else a plain page or, where `Accept` asks for it, JSON.
    ///   - user: who sends a request, by the app's own session; nil when no user is signed in.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for a client with another redirect URI.
    public init(
        _ handshake: Handshake, at address: PublicAddress, surroundings: SignInSurroundings = SignInSurroundings(),
        respond: @escaping @Sendable (SignInOutcome, LocalPath, Request) async -> Response? = { _, _, _ in nil },
        user: @escaping @Sendable (Request, Context) async throws -> String?
    ) throws(HandshakeServerError) {
        for client in handshake.clients {
            let expected = "\(address)/\(client.service.name)/callback"
            let isOnly = handshake.clients.count == 1
            guard case .uri(let uri) = client.redirect,
                uri.string == expected || isOnly && uri.string == "\(address)/callback"
            else {
                throw .configuration(
                    member: "redirect", problem: "that of \(client.service.name) has to be \(expected)")
            }
        }
        self.handshake = handshake
        self.address = address
        gate = Gate(address: address)
        reader = ContentReader(time: surroundings.time, patience: .seconds(10))
        cookies = SignInCookies(address: address, random: surroundings.random)
        tokens = AntiForgeryTokens(vault: handshake.vault, random: surroundings.random)
        cleaning = SignInCleaning(of: handshake, time: surroundings.time, log: surroundings.log)
        limit = RateLimit(surroundings.limit)
        time = surroundings.time
        log = surroundings.log
        failures = FailureAnswers(what: "a sign-in route", log: surroundings.log)
        self.respond = respond
        self.user = user
    }

    /// Adds the routes to a router, or to the group whose path is that of the address.
    public func add(to router: some RouterMethods<Context>) {
        router.get(":service") { request, context in
            await failures.answering { try await state(try await visitor(request, context)) }
        }
        router.get(":service/start") { request, context in
            await failures.answering(navigation: request) {
                try gate.checkSite(of: request)
                return try await start(request, try await visitor(request, context))
            }
        }
        router.get(":service/callback") { request, context in
            await failures.answering(navigation: request) {
                try await callback(request, try await visitor(request, context))
            }
        }
        router.get("callback") { request, context in
            await failures.answering(navigation: request) {
                try await callback(request, try await visitor(request, context))
            }
        }
        router.post(":service/disconnect") { request, context in
            await failures.answering {
                try gate.checkSite(of: request)
                return try await disconnect(request, try await visitor(request, context))
            }
        }
    }

    /// Who asks, and about which service.
    private struct Visitor {
        let user: String
        let service: Service
        /// Where its redirects arrive.
        let redirect: String
    }

    private func visitor(_ request: Request, _ context: Context) async throws -> Visitor {
        // The callback without a name is there for an only client, whose name needs no saying.
        let only = handshake.clients.count == 1 ? handshake.clients.first?.service.name : nil
        let name = context.parameters.get("service") ?? only
        guard let client = handshake.clients.first(where: { $0.service.name == name }),
            case .uri(let redirect) = client.redirect
        else {
            throw RequestRefusal(.notFound, "not_found", "There is no such service here")
        }
        guard let user = try await user(request, context) else { throw RequestRefusal.signInNeeded }
        return Visitor(user: user, service: client.service, redirect: redirect.string)
    }

    private func state(_ visitor: Visitor) async throws -> Response {
        let account = try await handshake.account(visitor.user, of: visitor.service.name)
        let state = account?.status.state
        let token = try await tokens.token(of: visitor.user, for: visitor.service.name)
        let body: JSONValue = .object([
            "service": .string(visitor.service.name), "connected": .bool(state?.isUsable ?? false),
            "state": .string(state?.word ?? "absent"), "token": .string(token.reveal()),
        ])
        return .json(Data(body.json.utf8))
    }

    private func start(_ request: Request, _ visitor: Visitor) async throws -> Response {
        let wanted = request.uri.queryParameters["return_to"].map { String($0) } ?? "/"
        guard let page = LocalPath(rawValue: wanted) else {
            throw RequestRefusal(.badRequest, "invalid_parameters", "return_to has to be a path of this app")
        }
        try limit.check(visitor.user, now: time.now())
        cleaning.beginIfDue()
        let known = cookies.browser(of: request)
        let new = known == nil ? cookies.newBrowser() : nil
        guard let browser = known ?? new?.browser else { throw RequestRefusal.internalError }
        let begun = try await handshake.beginSignIn(
            as: visitor.user, to: visitor.service.name, noting: SignInNote(browser: browser, page: page).text)
        var response = Response.seeOther(begun.page.url)
        if let new { response.setCookie(new.cookie) }
        return response
    }

    private func callback(_ request: Request, _ visitor: Visitor) async throws -> Response {
        // The registered address, not the one that the request names: an attacker can write any Host field.
        let url = visitor.redirect + "?" + (request.uri.query ?? "")
        guard let redirect = try? AuthorizationResponse(redirectURL: url), let state = redirect.returnedState,
            let note = try await handshake.note(ofSignIn: state).flatMap(SignInNote.init),
            let browser = cookies.browser(of: request), note.isOf(browser)
        else { return Self.notForYou }
        let page = note.page
        let outcome: SignInOutcome
        do {
            // The code is used up with the first try: it is finished also when nobody waits for the answer any more.
            let finishing = Task { try await handshake.finishSignIn(with: redirect, as: visitor.user).id }
            outcome = .signedIn(try await finishing.value)
        } catch HandshakeError.exchange(.unmatchedRedirect) {
            // Nothing has changed: it was used before, or is another user's.
            return Self.notForYou
        } catch let error as HandshakeError {
            log.notice("a sign-in failed", metadata: ["reason": "\(error.code)"])
            outcome = .failed(error)
        }
        var response =
            await respond(outcome, page, request) ?? Self.response(to: outcome, page, visitor.service, request)
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func disconnect(_ request: Request, _ visitor: Visitor) async throws -> Response {
        let content = try await reader.content(of: request, type: "application/json", limit: 4096)
        let given = (try? JSONValue(parsing: Array(content)))?.object?["token"]?.string ?? ""
        guard try await tokens.token(of: visitor.user, for: visitor.service.name).matches(Secret(given))
        else { throw RequestRefusal(.forbidden, "stale_token", "The page is older than the session; load it again") }
        let report = try await handshake.account(visitor.user, of: visitor.service.name)?.signOut()
        let body: JSONValue = .object([
            "revoked": .array((report?.revoked ?? []).map { .string($0.rawValue) }),
            "not_revocable": .array((report?.notRevocable ?? []).map { .string($0.rawValue) }),
            "remaining": .array((report?.remaining ?? []).map { .string($0.rawValue) }),
        ])
        return .json(Data(body.json.utf8), status: report?.isForgotten ?? true ? .ok : .badGateway)
    }

    private static var notForYou: Response {
        .page(ResultPage.notForYou.html, styleHash: ResultPage.styleHash, status: .badRequest)
    }

    private static func response(
        to outcome: SignInOutcome, _ page: LocalPath, _ service: Service, _ request: Request
    ) -> Response {
        guard case .failed(let error) = outcome else { return .seeOther(page.rawValue) }
        let refusal = RequestRefusal(error.status, error.code, "The sign-in did not succeed")
        guard !request.asksForJSON else { return refusal.response }
        let html = ResultPage.refused(service: service.displayName, language: .user).html
        return .page(html, styleHash: ResultPage.styleHash, status: error.status)
    }
}

/// How a sign-in ended.
public enum SignInOutcome: Sendable {
    /// The grant is stored.
    case signedIn(AccountID)
    /// Nothing is stored.
    case failed(HandshakeError)
}

/// What sign-in routes need besides.
public struct SignInSurroundings: Sendable {
    public var time: TimeSource
    public var random: RandomSource
    /// Where warnings go; no secret and no query ever does.
    public var log: Logger
    /// How often a user may begin a sign-in, counted in each process: 20 at once and one more every three seconds unless stated.
    public var limit = Rate(20, oneEach: .seconds(3))

    public init(
        time: TimeSource = .system, random: RandomSource = .system, log: Logger = Logger(label: "handshake.server")
    ) {
        self.time = time
        self.random = random
        self.log = log
    }
}

extension AccountStatus.State {
    /// Whether requests can be made with it.
    fileprivate var isUsable: Bool {
        switch self {
        case .signedIn, .refreshUncertain: true
        case .ended, .signingOut: false
        }
    }

    fileprivate var word: String {
        switch self {
        case .signedIn: "signed_in"
        case .refreshUncertain: "refresh_uncertain"
        case .ended: "ended"
        case .signingOut: "signing_out"
        }
    }
}
#endif
