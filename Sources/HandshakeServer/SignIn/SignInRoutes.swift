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

/// Connects the app's users to OAuth services. It starts a sign-in, handles the redirect, and signs out.
///
/// | route | does |
/// |---|---|
/// | `GET :service` | `{"connected", "state", "token"}`: the account's state, and the anti-forgery token for starting sign-ins and disconnecting |
/// | `GET :service/start?return_to=/PATH` | redirects the browser to the service, from the app's own pages; otherwise asks first |
/// | `POST :service/start` | the form of that question, with `token` and `return_to`: redirects the browser to the service |
/// | `POST :service/ticket` | `{"ticket"}`: for an app that opens a browser at `start?return_to=/PATH&ticket=TICKET` |
/// | `GET :service/callback` | handles the redirect, stores the grant, redirects the browser to `return_to` |
/// | `POST :service/callback` | takes a response that the service posts (`form_post`, `form_post.jwt`), and redirects the browser to the `GET` |
/// | `POST :service/disconnect` | `{"token"}`: revokes the grant where the service supports it, and deletes it |
///
/// Grants are stored under the user's identifier. A redirect counts only in the browser in which the attempt started and
/// for the user who started it (RFC 6749, section 10.12); the attempt is stored in the vault, so any process can complete
/// it. The browser is redirected to paths of the app only. Expired attempts are deleted once an hour, while new ones
/// start.
///
/// `connected` says whether the grant can be used; `state` is `absent`, `signed_in`, `refresh_uncertain`,
/// `sign_in_required` (the user must connect again) or `signing_out`. `start` and `callback` are navigations:
/// errors appear as a page, or as JSON where `Accept` asks for it.
///
/// A sign-in starts from a link or a form of the app's own pages. Links from other sites are refused. Where a browser does not
/// say what led there, as for a link in a message, and in browsers released before 2023, a page asks the user, and stores
/// nothing. The page also appears where the address is loaded as anything but a page, such as a picture. A native app whose
/// user is known by the same session asks for a ticket, and opens the browser with it: the ticket is valid for five minutes,
/// for this user and this service.
///
/// Browsers send no `Lax` cookie with a form that another site's page posts, so a posted response decides nothing: the browser
/// is redirected to the `GET` with it, and brings its cookies there. What that checks is the same in each mode. Anything but
/// the response, such as a name that the service posts beside it, is dropped.
///
/// The app's own session cookie must be `SameSite=Lax` or `None`: browsers do not send a `Strict` cookie with the redirect
/// from the service.
public struct SignInRoutes<Context: RequestContext>: Sendable {
    let handshake: Handshake
    let siteCheck: SiteCheck
    let cookies: SignInCookies
    let time: TimeSource
    let tokens: AntiForgeryTokens
    private let form: SignOutForm
    let reader: ContentReader
    let cleaning: SignInCleaning
    let limit: RateLimit
    private let log: Logger
    let failures: FailureAnswers
    private let respond: @Sendable (SignInOutcome, LocalPath, Request) async -> Response?
    private let user: @Sendable (Request, Context) async throws -> String?

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - handshake: the clients; the redirect URI of each is `ADDRESS/SERVICE/callback`; a single client may use
    ///     `ADDRESS/callback`.
    ///   - address: the public URL of the routes.
    ///   - environment: clock, randomness, log and rate limit.
    ///   - respond: answers a finished attempt in the app's own design; nil uses the default: a redirect to the page on
    ///     success, otherwise a plain page or, where `Accept` asks for it, JSON.
    ///   - user: the user of a request, by the app's own session; nil when no user is signed in.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for a client with another redirect URI.
    public init(
        _ handshake: Handshake, at address: PublicAddress, environment: SignInEnvironment = SignInEnvironment(),
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
                    member: "redirect", problem: "the client for \(client.service.name) must have \(expected)")
            }
        }
        self.handshake = handshake
        siteCheck = SiteCheck(address: address)
        cookies = SignInCookies(address: address, random: environment.random)
        tokens = AntiForgeryTokens(vault: handshake.vault, random: environment.random)
        reader = ContentReader(time: environment.time, timeout: .seconds(10))
        form = SignOutForm(reader: reader, tokens: tokens)
        cleaning = SignInCleaning(of: handshake, time: environment.time, log: environment.log)
        limit = RateLimit(environment.limit)
        time = environment.time
        log = environment.log
        failures = FailureAnswers(what: "a sign-in route", log: environment.log)
        self.respond = respond
        self.user = user
    }

    /// Adds the routes to a router, or to the group whose path is that of the address.
    public func add(to router: some RouterMethods<Context>) {
        router.get(":service") { request, context in
            await failures.answering { try await state(try await visitor(request, context)) }
        }
        addStarting(to: router)
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
        router.post(":service/callback") { request, context in
            await failures.answering(navigation: request) { try await posted(request, context) }
        }
        router.post("callback") { request, context in
            await failures.answering(navigation: request) { try await posted(request, context) }
        }
        router.post(":service/disconnect") { request, context in
            await failures.answering {
                try siteCheck.check(request)
                return try await disconnect(request, try await visitor(request, context))
            }
        }
    }

    /// The user and the service of a request.
    struct Visitor {
        let user: String
        let service: Service
        /// The redirect URI.
        let redirect: String
    }

    func visitor(_ request: Request, _ context: Context) async throws -> Visitor {
        let (service, redirect) = try service(context)
        guard let user = try await user(request, context) else { throw RequestRefusal.signInNeeded }
        return Visitor(user: user, service: service, redirect: redirect)
    }

    /// The service of a request, and its redirect URI.
    private func service(_ context: Context) throws(RequestRefusal) -> (Service, redirect: String) {
        // The callback without a name exists for a single client, whose name is known.
        let only = handshake.clients.count == 1 ? handshake.clients.first?.service.name : nil
        let name = context.parameters.get("service") ?? only
        guard let client = handshake.clients.first(where: { $0.service.name == name }),
            case .uri(let redirect) = client.redirect
        else {
            throw RequestRefusal(.notFound, "not_found", "This app has no such service")
        }
        return (client.service, redirect.string)
    }

    private func state(_ visitor: Visitor) async throws -> Response {
        let state = try await handshake.storedStatus(visitor.user, of: visitor.service.name)?.state
        let token = try await tokens.token(of: visitor.user, for: visitor.service.name)
        let body: JSONValue = .object([
            "service": .string(visitor.service.name), "connected": .bool(state?.isUsable ?? false),
            "state": .string(state?.code ?? "absent"), "token": .string(token.reveal()),
        ])
        return .json(Data(body.json.utf8))
    }

    private func callback(_ request: Request, _ visitor: Visitor) async throws -> Response {
        // Built from the registered URL, because an attacker can write any Host field.
        let url = visitor.redirect + "?" + (request.uri.query ?? "")
        guard let redirect = try? AuthorizationResponse(redirectURL: url), let state = redirect.returnedState,
            let note = try await handshake.note(ofSignIn: state).flatMap(SignInNote.init),
            cookies.browser(of: request, noted: note.browser) != nil
        else { return .notForYou(request) }
        let page = note.page
        let outcome: SignInOutcome
        do {
            // The first try spends the authorization code, so the exchange continues when the browser disconnects.
            let finishing = Task { try await handshake.finishSignIn(with: redirect, as: visitor.user).id }
            outcome = .signedIn(try await finishing.value)
        } catch HandshakeError.exchange(.unmatchedRedirect) {
            // Nothing has changed: the redirect was used before, or belongs to another user.
            return .notForYou(request)
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

    /// The longest form that is taken, in bytes: a response as long as what proxies let through as a URL.
    static var maximumFormLength: Int { 8_192 }

    /// Passes a posted response on to the `GET`, if it is that of a pending attempt.
    private func posted(_ request: Request, _ context: Context) async throws -> Response {
        let (_, redirect) = try service(context)
        let content = try await reader.content(
            of: request, type: "application/x-www-form-urlencoded", limit: Self.maximumFormLength)
        guard let query = AuthorizationResponse.query(ofForm: content),
            let state = (try? AuthorizationResponse(redirectURL: redirect + "?" + query))?.returnedState,
            try await handshake.note(ofSignIn: state) != nil
        else { return .notForYou(request) }
        var response = Response.seeOther(redirect + "?" + query)
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func disconnect(_ request: Request, _ visitor: Visitor) async throws -> Response {
        try await form.check(request, of: visitor.user, for: visitor.service)
        do {
            return form.answer(try await handshake.account(visitor.user, of: visitor.service.name)?.signOut())
        } catch HandshakeError.vault(.damaged) {
            return try await form.forgetDamaged(visitor.user, of: visitor.service, in: handshake)
        }
    }

    private static func response(
        to outcome: SignInOutcome, _ page: LocalPath, _ service: Service, _ request: Request
    ) -> Response {
        guard case .failed(let error) = outcome else { return .seeOther(page.rawValue) }
        let refusal = RequestRefusal(error.status, error.code, "Sign-in failed")
        guard !request.asksForJSON else { return refusal.response }
        let html = ResultPage.refused(service: service.displayName, language: request.language).html
        return .page(html, styleHash: ResultPage.styleHash, status: error.status)
    }
}

/// The outcome of a sign-in attempt.
public enum SignInOutcome: Sendable {
    /// The grant is stored.
    case signedIn(AccountID)
    /// Nothing is stored.
    case failed(HandshakeError)
}

/// What sign-in routes need of their environment.
public struct SignInEnvironment: Sendable {
    public var time: TimeSource
    public var random: RandomSource
    /// Receives warnings; never a secret or a query.
    public var log: Logger
    /// How often a user may start a sign-in, per process. Default: a burst of 20, then one every three seconds.
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
    /// Whether the account can send requests.
    fileprivate var isUsable: Bool {
        switch self {
        case .signedIn, .refreshUncertain: true
        case .ended, .signingOut: false
        }
    }
}
#endif
