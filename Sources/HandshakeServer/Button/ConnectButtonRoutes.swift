#if Server
public import ConnectButton
import Crypto
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

/// The server's half of `<connect-button>`: what the component asks for, and the address to which IFTTT sends users
/// back.
///
/// ```swift
/// let buttons = try ConnectButtonRoutes<BasicRequestContext>(settings, accounts: handshake) { request, _ in
///     try await session(of: request).map { try ConnectButtonUser(id: $0.user) }
/// }
/// buttons.add(to: router.group("connect"))
/// ```
///
/// | route | does |
/// |---|---|
/// | `GET connect-button.js` | the component |
/// | `GET :connection` | the state, as `ConnectButtonAnswer` |
/// | `POST :connection/events` | what the user did, as `ConnectButtonMessage` |
/// | `POST :connection/counts` | what is only counted, of users who agreed (``ConnectAnalytics``) |
/// | `GET :connection/changes` | answers as server-sent events |
/// | `GET return` | takes IFTTT's redirect and sends the browser on, without it, to ``ConnectButtonSettings/page`` |
/// | `GET return/refused` | says that a redirect was not this user's; the browser is sent there without it |
///
/// All state is in the vault: any number of processes serve the same users beside each other, and a process that is
/// restarted while a user is at IFTTT knows that user's redirect. Who the user is, is the app's to say; a redirect
/// counts only for the user who was sent away (RFC 6749, section 10.12; dossier 10.2, W9).
public struct ConnectButtonRoutes<Context: RequestContext>: Sendable {
    let sessions: ConnectSessions
    private let gate: Gate
    private let reader: ContentReader
    private let streams: ChangeStreams
    private let messages: RateLimit
    private let user: @Sendable (Request, Context) async throws -> ConnectButtonUser?
    private let script: Script
    private let failures: FailureAnswers

    private struct Script: Sendable {
        let body: Data
        let tag: String
    }

    private var settings: ConnectButtonSettings { sessions.settings }

    /// Prepares routes.
    ///
    /// - Parameters:
    ///   - settings: what the buttons are about.
    ///   - accounts: where user tokens rest, with one client of `Service/ifttt`: that client's service says where IFTTT is. The
    ///     users' sessions rest in the same vault; all processes share it.
    ///   - log: where warnings go; no secret and no query ever does.
    ///   - user: who sends a request, by the app's own session; nil when no user is signed in. It is asked **again, with the same
    ///     request and the same context**, for as long as a stream of changes is open
    ///     (``ConnectButtonSettings/Streams/userInterval``): look the session up that the request's cookie names. What a
    ///     middleware has put into the context says who the user was, and would never log anybody out.
    /// - Throws: ``HandshakeServerError/configuration(member:problem:)`` for settings that cannot work, for accounts without a
    ///   client of IFTTT, and for analytics that go to another IFTTT.
    public init(
        _ settings: ConnectButtonSettings, accounts: Handshake, log: Logger = Logger(label: "handshake.server"),
        user: @escaping @Sendable (Request, Context) async throws -> ConnectButtonUser?
    ) throws(HandshakeServerError) {
        sessions = try ConnectSessions(settings: settings, accounts: accounts, log: log)
        gate = Gate(address: settings.address)
        reader = ContentReader(time: settings.time, patience: settings.patience)
        streams = ChangeStreams(settings.streams)
        messages = RateLimit(settings.limits.messages)
        self.user = user
        failures = FailureAnswers(what: "a Connect Button's request", log: log)
        let body = ConnectButtonScript.javaScript
        script = Script(body: body, tag: "\"\(Base64URL.encode(SHA256.hash(data: body)))\"")
    }

    /// Adds the routes to a router, or to the group whose path is that of ``ConnectButtonSettings/address``.
    public func add(to router: some RouterMethods<Context>) {
        router.get("connect-button.js") { request, _ in component(request) }
        router.get("return") { request, context in await comeBack(request, context) }
        router.get("return/refused") { _, _ in Self.refused() }
        router.get(":connection") { request, context in
            await failures.answering { try await state(try await place(request, context), request) }
        }
        router.post(":connection/events") { request, context in
            await failures.answering {
                try gate.checkSite(of: request)
                return try await event(try await place(request, context), request)
            }
        }
        router.post(":connection/counts") { request, context in
            await failures.answering {
                try gate.checkSite(of: request)
                return try await count(try await place(request, context), request)
            }
        }
        router.get(":connection/changes") { request, context in
            await failures.answering { try changes(try await place(request, context), request, context) }
        }
    }

    /// The answer that a page can hold itself, so that its button is drawn without asking first (dossier 13, F003):
    /// as JSON in a `<script type="application/json">` inside the element.
    ///
    /// - Parameters:
    ///   - user: who the page is for.
    ///   - connection: which connection.
    ///   - locale: the locale of the button.
    /// - Throws: ``HandshakeServerError``; for a connection without an offer, that it has none.
    public func answer(
        for user: ConnectButtonUser, connection: ConnectionID, in locale: ConnectButtonLocale
    ) async throws -> ConnectButtonAnswer {
        try await placing(user, connection) { place in
            await sessions.answer(try await sessions.look(at: place, in: locale), place, to: nil, in: locale)
        }
    }

    /// Tells a button that the app has configured a connection that was turned on without configuration (dossier
    /// 2.9). The page sees it by itself.
    ///
    /// - Throws: ``HandshakeServerError``; for a connection without an offer, that it has none.
    public func configurationSaved(_ connection: ConnectionID, for user: ConnectButtonUser) async throws {
        try await placing(user, connection) { place in _ = try await sessions.configured(place) }
    }

    /// Asks IFTTT again how a connection stands, and tells the pages that are open: for a webhook that says that it was turned
    /// on, changed or turned off (``ConnectWebhook/Event``).
    ///
    /// IFTTT is asked behind the caller; what it answers is known a moment later, and an open page hears it within
    /// ``ConnectButtonSettings/Streams/restingInterval``. Nothing happens for a user who has seen no button of the connection.
    ///
    /// - Parameters:
    ///   - connection: which connection.
    ///   - user: whose. A webhook names users as the partner's user-information endpoint does; find the app's own identifier.
    /// - Throws: ``HandshakeServerError``; for a connection without an offer, that it has none.
    public func refresh(_ connection: ConnectionID, for user: ConnectButtonUser) async throws {
        try await placing(user, connection) { place in try await sessions.lookAnew(at: place) }
    }

    /// Removes everything that these routes keep of a user: the sessions of all connections, those that are no longer
    /// offered among them, the user token, and the consent to be counted with what was counted. For an account of the app
    /// that is deleted.
    ///
    /// It holds in every process that shares the vault. What another process is at work on for the user comes to its end
    /// at IFTTT, and its answer is stored nowhere; the user's change streams end when they look next
    /// (``ConnectButtonSettings/Streams/interval``). A page that is still open and still signed in begins a new session, so
    /// end the user's log-in before.
    ///
    /// It turns nothing off at IFTTT, and voids no token there: the user's connections go on, as they do when an app is
    /// removed from a phone. A disconnection that could still be taken back is not done any more. To turn off, call
    /// `ConnectAPI/disable(_:)` with ``userTokens(for:)`` before. Accounts of other services, and what
    /// ``SignInRoutes`` has begun, are `Handshake`'s.
    ///
    /// - Parameter user: whom; only the identifier counts. Who is not known is forgotten already.
    /// - Throws: ``HandshakeServerError``. What could be removed is; call it again for the rest.
    public func forget(_ user: ConnectButtonUser) async throws {
        try await Self.placing { try await sessions.forget(user) }
    }

    private func placing<Result>(
        _ user: ConnectButtonUser, _ connection: ConnectionID, _ body: (ConnectSessions.Place) async throws -> Result
    ) async throws -> Result {
        guard let offer = offer(connection.rawValue) else {
            throw HandshakeServerError.configuration(member: "connection", problem: "\(connection) is not offered")
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

    /// Where a user's token rests, for the calls that the app itself makes: `ConnectAPI(.stored(…))`.
    public func userTokens(for user: ConnectButtonUser) -> UserTokens {
        sessions.tokens(of: user)
    }

    // MARK: What the component asks for

    private func component(_ request: Request) -> Response {
        var headers: HTTPFields = [
            .contentType: "text/javascript; charset=utf-8", .eTag: script.tag, .xContentTypeOptions: "nosniff",
            // Asked for again each time, and sent again only when it is another: an old script never meets a new server.
            .cacheControl: "public, no-cache",
        ]
        headers[.crossOriginResourcePolicy] = "same-origin"
        let known = request.headers[.ifNoneMatch]?.split(separator: ",").map { $0.filter { $0 != " " } } ?? []
        guard !known.contains(where: { $0 == script.tag || $0 == "W/\(script.tag)" || $0 == "*" }) else {
            return Response(status: .notModified, headers: headers)
        }
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: script.body)))
    }

    private func place(_ request: Request, _ context: Context) async throws -> ConnectSessions.Place {
        guard let offer = offer(context.parameters.get("connection")) else {
            throw RequestRefusal(.notFound, "not_found", "There is no button for this connection")
        }
        guard let user = try await user(request, context) else { throw RequestRefusal.signInNeeded }
        return ConnectSessions.Place(user: user, offer: offer)
    }

    private func offer(_ id: String?) -> ConnectButtonOffer? {
        settings.offers.first { $0.connection.rawValue == id }
    }

    private func state(_ place: ConnectSessions.Place, _ request: Request) async throws -> Response {
        let locale = locale(of: request)
        let session = try await sessions.look(at: place, in: locale)
        return .json(try await sessions.answer(session, place, to: page(of: request), in: locale).body())
    }

    /// Which page asks (``ConnectButtonMessage/page``).
    private func page(of request: Request) -> String? {
        request.uri.queryParameters["page"].flatMap { $0.utf8.count <= 64 ? String($0) : nil }
    }

    /// The button's own locale, else what the browser asks for.
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

    /// Counting is apart from the events: no revision, no lock of the session, and an answer without content.
    private func count(_ place: ConnectSessions.Place, _ request: Request) async throws -> Response {
        let message = try await message(of: request, isOnlyCounted: true)
        let isCounted = try await sessions.count(message, at: place)
        return Response(status: isCounted ? .accepted : .noContent, headers: Response.quiet)
    }

    private func message(of request: Request, isOnlyCounted: Bool) async throws -> ConnectButtonMessage {
        let content = try await reader.content(of: request, type: "application/json", limit: ConnectButtonMessage.limit)
        guard let message = try? ConnectButtonMessage(body: content), message.event.isOnlyCounted == isOnlyCounted
        else { throw RequestRefusal(.badRequest, "malformed", "This is no message of a Connect Button") }
        return message
    }

    private func changes(
        _ place: ConnectSessions.Place, _ request: Request, _ context: Context
    ) throws -> Response {
        let (locale, page) = (locale(of: request), page(of: request))
        // What is asked again later needs no content.
        let request = Request(head: request.head, body: RequestBody(buffer: ByteBuffer()))
        let subject = ChangeStreams.Subject(user: place.user.id) {
            guard let session = try await sessions.peek(at: place) else { return nil }
            return ChangeStreams.Sight(
                session: session.token, revision: session.revision, isResting: session.isResting
            ) {
                try await sessions.answer(session, place, to: page, in: locale).body()
            }
        } isPresent: {
            // Who cannot be recognised is nobody; the component asks, and is told what is wrong.
            (try? await user(request, context))?.id == place.user.id
        }
        return try streams.response(watching: subject, time: settings.time)
    }

    // MARK: Coming back

    /// IFTTT's redirect. Whatever it says and whoever brings it, the browser is sent on immediately to an address without it,
    /// so that no token stays in a page, a history entry or a referrer. Only where the vault fails it stays, and may be
    /// tried again.
    private func comeBack(_ request: Request, _ context: Context) async -> Response {
        await failures.answering(navigation: request) {
            guard let offer = offer(request.uri.queryParameters["connection"].map { String($0) }) else {
                return .seeOther(refusedPath)
            }
            let page = (offer.page ?? settings.page).rawValue
            // The link of a mail, opened in another browser: there the page asks for the log-in.
            guard let user = try await user(request, context) else { return .seeOther(page) }
            // The registered address, not the one that the request names: an attacker can write any Host field.
            let url = settings.callbackURL + "?" + (request.uri.query ?? "")
            let step = try await sessions.comeBack(url, at: ConnectSessions.Place(user: user, offer: offer))
            switch step.refusal {
            // A reload, or the link of a mail that was opened twice: the page says how it stands.
            case nil, .noPendingAttempt: return .seeOther(page)
            case .foreign, .unreadable, .stateMissing, .otherAttempt: return .seeOther(refusedPath)
            }
        }
    }

    private var refusedPath: String { settings.address.path + "/return/refused" }

    private static func refused() -> Response {
        .page(ResultPage.notForYou.html, styleHash: ResultPage.styleHash, status: .badRequest)
    }
}
#endif
