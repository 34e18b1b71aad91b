#if Server
public import ConnectButton
import HTTPTypes
public import Handshake
public import Hummingbird
public import IFTTTConnect
public import Logging
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The server side of `<connect-button>`. It has the component's endpoints, and the callback to which IFTTT sends users
/// back.
///
/// ```swift
/// let buttons = try ConnectButtonRoutes<BasicRequestContext>(settings, accounts: handshake) { request, _ in
///     try await session(request).map { try ConnectButtonUser(id: $0.user) }
/// }
/// buttons.add(to: router.group("connect"))
/// ```
///
/// | route | does |
/// |---|---|
/// | `GET connect-button.js` | the component |
/// | `GET :connection` | the state, as `ConnectButtonAnswer` |
/// | `POST :connection/events` | what the user did, as `ConnectButtonMessage` |
/// | `POST :connection/counts` | analytics events of consenting users (``ConnectAnalytics``) |
/// | `GET :connection/changes` | answers as server-sent events |
/// | `GET return` | handles IFTTT's redirect, then redirects to ``ConnectButtonSettings/page`` without its parameters |
/// | `GET return/refused` | shows that a redirect belongs to another user |
///
/// All state is in the vault: any number of processes serve the same users, and a process that restarts while a user is
/// at IFTTT still accepts the redirect. The app says who the user is; a redirect counts only for the user who started
/// the attempt (RFC 6749, section 10.12; dossier 10.2, W9).
public struct ConnectButtonRoutes<Context: RequestContext>: Sendable {
    let sessions: ConnectSessions
    private let siteCheck: SiteCheck
    private let reader: ContentReader
    private let streams: ChangeStreams
    private let messages: RateLimit
    let user: @Sendable (Request, Context) async throws -> ConnectButtonUser?
    private let script: ServedScript
    let failures: FailureAnswers

    var settings: ConnectButtonSettings { sessions.settings }

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - settings: the connections, and what the routes need of the app.
    ///   - accounts: stores user tokens; has one client of `Service/ifttt`, whose service has IFTTT's URLs. The users'
    ///     sessions are stored in the same vault, shared by all processes.
    ///   - log: receives warnings; never a secret or a query.
    ///   - user: the user of a request, by the app's own session; nil when no user is signed in. It is called **repeatedly with
    ///     the same request and context** while a stream of changes is open (``ConnectButtonSettings/Streams/userInterval``):
    ///     look up the session of the request's cookie. A user that a middleware has put into the context would never be
    ///     logged out.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for invalid settings, for accounts without a client of
    ///   IFTTT, and for analytics that are sent to another IFTTT.
    public init(
        _ settings: ConnectButtonSettings, accounts: Handshake, log: Logger = Logger(label: "handshake.server"),
        user: @escaping @Sendable (Request, Context) async throws -> ConnectButtonUser?
    ) throws(HandshakeServerError) {
        sessions = try ConnectSessions(settings: settings, accounts: accounts, log: log)
        siteCheck = SiteCheck(address: settings.address)
        reader = ContentReader(time: settings.time, timeout: settings.requestTimeout)
        streams = ChangeStreams(settings.streams)
        messages = RateLimit(settings.limits.messages)
        self.user = user
        failures = FailureAnswers(what: "a Connect Button request", log: log)
        script = ServedScript(ConnectButtonScript.javaScript)
    }

    /// Adds the routes to a router or a group. The group has the path of ``ConnectButtonSettings/address``.
    public func add(to router: some RouterMethods<Context>) {
        router.get("connect-button.js") { request, _ in script.response(to: request) }
        router.get("return") { request, context in await handleRedirect(request, context) }
        router.get("return/refused") { request, _ in Response.notForYou(request) }
        router.get(":connection") { request, context in
            await failures.answering { try await state(try await place(request, context), request) }
        }
        router.post(":connection/events") { request, context in
            await failures.answering {
                try siteCheck.check(request)
                return try await event(try await place(request, context), request)
            }
        }
        router.post(":connection/counts") { request, context in
            await failures.answering {
                try siteCheck.check(request)
                return try await count(try await place(request, context), request)
            }
        }
        router.get(":connection/changes") { request, context in
            await failures.answering { try changes(try await place(request, context), request, context) }
        }
    }

    /// The answer to embed in a page, so that its button is drawn without a request. Put it as JSON in a
    /// `<script type="application/json">` inside the element (dossier 13, F003).
    ///
    /// - Parameters:
    ///   - user: the page's user.
    ///   - connection: the connection.
    ///   - locale: the locale of the button.
    /// - Throws: ``HandshakeServerError``, also for a connection without an offer.
    public func answer(
        for user: ConnectButtonUser, connection: ConnectionID, in locale: ConnectButtonLocale
    ) async throws -> ConnectButtonAnswer {
        try await placing(user, connection) { place in
            await sessions.answer(try await sessions.look(at: place, in: locale), place, to: nil, in: locale)
        }
    }

    /// Reports that the app has configured a connection (dossier 2.9). The connection was turned on without
    /// configuration. Open pages see it by themselves.
    ///
    /// - Throws: ``HandshakeServerError``, also for a connection without an offer.
    public func configurationSaved(_ connection: ConnectionID, for user: ConnectButtonUser) async throws {
        try await placing(user, connection) { place in _ = try await sessions.configured(place) }
    }

    /// Fetches a connection from IFTTT again and updates open pages. Call it for a webhook about a connection
    /// (``ConnectWebhook/Event``).
    ///
    /// The request runs in the background; an open page shows the result within
    /// ``ConnectButtonSettings/Streams/restingInterval``. Does nothing for a user who has seen no button of the connection.
    ///
    /// - Parameters:
    ///   - connection: the connection.
    ///   - user: the user. A webhook carries the identifier of the partner's user-information endpoint; map it to the app's own.
    /// - Throws: ``HandshakeServerError``, also for a connection without an offer.
    public func refresh(_ connection: ConnectionID, for user: ConnectButtonUser) async throws {
        try await placing(user, connection) { place in try await sessions.refetch(at: place) }
    }

    /// Deletes everything that these routes store about a user. That is the sessions of all connections, including
    /// those no longer offered, the user token, the analytics consent and the pending events. Call it when the user's
    /// account in the app is deleted.
    ///
    /// It holds for every process that shares the vault. Work in progress in another process completes at IFTTT, but its
    /// result is not stored; the user's streams of changes end at their next poll (``ConnectButtonSettings/Streams/interval``).
    /// A page that is still open and signed in starts a new session, so end the user's log-in first.
    ///
    /// It disables nothing at IFTTT and revokes no token there: the user's connections stay on, as when an app is removed
    /// from a phone. A disconnection that could still be undone is not carried out. To turn connections off, call
    /// `ConnectAPI/disable(_:)` with ``userTokens(for:)`` before. Accounts of other services and pending attempts of
    /// ``SignInRoutes`` belong to `Handshake`.
    ///
    /// - Parameter user: the user; only the identifier counts. Idempotent.
    /// - Throws: ``HandshakeServerError`` after deleting all that can be deleted; call it again for the rest.
    public func forget(_ user: ConnectButtonUser) async throws {
        try await Self.placing { try await sessions.forget(user) }
    }

    private func placing<Result>(
        _ user: ConnectButtonUser, _ connection: ConnectionID, _ body: (ConnectSessions.Place) async throws -> Result
    ) async throws -> Result {
        guard let offer = offer(connection.rawValue) else {
            throw HandshakeServerError.configuration(
                member: "connection", problem: "this server offers no connection \(connection)")
        }
        return try await Self.placing { try await body(ConnectSessions.Place(user: user, offer: offer)) }
    }

    private static func placing<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as VaultError {
            throw HandshakeServerError.vault(error)
        } catch ConnectError.account(.vault(let error)) {
            throw HandshakeServerError.vault(error)
        } catch let error as ConnectError {
            throw HandshakeServerError.connect(error)
        }
    }

    /// The user's token for API calls by the app: `ConnectAPI(.stored(…))`.
    public func userTokens(for user: ConnectButtonUser) -> UserTokens {
        sessions.tokens(of: user)
    }

    // MARK: Endpoints of the component

    private func place(_ request: Request, _ context: Context) async throws -> ConnectSessions.Place {
        guard let offer = offer(context.parameters.get("connection")) else {
            throw RequestRefusal(.notFound, "not_found", "This app has no Connect Button for this connection")
        }
        guard let user = try await user(request, context) else { throw RequestRefusal.signInNeeded }
        return ConnectSessions.Place(user: user, offer: offer)
    }

    func offer(_ id: String?) -> ConnectButtonOffer? {
        settings.offers.first { $0.connection.rawValue == id }
    }

    private func state(_ place: ConnectSessions.Place, _ request: Request) async throws -> Response {
        let locale = locale(of: request)
        let session = try await sessions.look(at: place, in: locale)
        return .json(try await sessions.answer(session, place, to: page(of: request), in: locale).body())
    }

    /// The page that asks (``ConnectButtonMessage/page``).
    private func page(of request: Request) -> String? {
        request.uri.queryParameters["page"].flatMap { $0.utf8.count <= 64 ? String($0) : nil }
    }

    /// The button's own locale, otherwise the browser's.
    private func locale(of request: Request) -> ConnectButtonLocale {
        let own = request.uri.queryParameters["locale"].map { String($0) }
        return ConnectButtonLocale(acceptLanguage: request.headers[.acceptLanguage], override: own)
    }

    private func event(_ place: ConnectSessions.Place, _ request: Request) async throws -> Response {
        try messages.check(place.user.id, now: settings.time.now())
        let message = try await message(of: request, isOnlyCounted: false)
        let locale = locale(of: request)
        let step = try await sessions.take(message, at: place, in: locale)
        let answer = await sessions.answer(step.session, place, to: message.page, in: locale, open: step.open)
        return .json(try answer.body())
    }

    /// Analytics events have no revision, take no lock of the session, and get an empty answer.
    private func count(_ place: ConnectSessions.Place, _ request: Request) async throws -> Response {
        let message = try await message(of: request, isOnlyCounted: true)
        let isCounted = try await sessions.count(message, at: place)
        return Response(status: isCounted ? .accepted : .noContent, headers: Response.quiet)
    }

    private func message(of request: Request, isOnlyCounted: Bool) async throws -> ConnectButtonMessage {
        let content = try await reader.content(of: request, type: "application/json", limit: ConnectButtonMessage.limit)
        guard let message = try? ConnectButtonMessage(body: content), message.event.isOnlyCounted == isOnlyCounted
        else { throw RequestRefusal(.badRequest, "malformed", "The content is not a message of a Connect Button") }
        return message
    }

    private func changes(
        _ place: ConnectSessions.Place, _ request: Request, _ context: Context
    ) throws -> Response {
        let (locale, page) = (locale(of: request), page(of: request))
        // The user closure is called again later, without content.
        let request = Request(head: request.head, body: RequestBody(buffer: ByteBuffer()))
        let subject = ChangeStreams.Subject(user: place.user.id) {
            guard let session = try await sessions.peek(at: place) else { return nil }
            return ChangeStreams.Sight(
                session: session.token, revision: session.revision, isResting: session.isResting
            ) {
                try await sessions.answer(session, place, to: page, in: locale).body()
            }
        } isPresent: {
            // Without a user the stream ends; the component's next request gets the reason.
            // By bytes, as records are: equivalent spellings are other users.
            (try? await user(request, context))?.id.utf8.elementsEqual(place.user.id.utf8) == true
        }
        return try streams.response(watching: subject, time: settings.time)
    }
}
#endif
