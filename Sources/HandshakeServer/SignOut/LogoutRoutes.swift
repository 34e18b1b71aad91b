#if Server
public import HTTPTypes
public import Handshake
public import Hummingbird
import Logging
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Ends sessions, here and at the server. The user asks for it here, or has signed out at the server.
///
/// | route | does |
/// |---|---|
/// | `POST :service/sign-out` | `{"token"}`: signs out as `disconnect` does, and tells the page at which the session at the server ends |
/// | `GET :service/signed-out` | where that page sends the browser back to |
/// | `POST :service/backchannel-logout` | a server's logout token: ends the accounts that it names (OpenID Connect Back-Channel Logout) |
/// | `GET :service/frontchannel-logout` | in a frame of the server's page: ends this browser's session (OpenID Connect Front-Channel Logout) |
///
/// Register `ADDRESS/SERVICE/signed-out` as `post_logout_redirect_uris`, `…/backchannel-logout` as
/// `backchannel_logout_uri` and `…/frontchannel-logout` as `frontchannel_logout_uri`. The token is the one of
/// ``SignInRoutes``.
///
/// Prefer the back channel. Browsers that block the cookies of other sites send none in a frame, so the front channel
/// often ends nothing. It revokes nothing either, because any site can embed it. Register
/// `frontchannel_logout_session_required` too: the server then names the session, and an address that names one ends that
/// one only. A picture, a script or a link with the address ends nothing: browsers say what they load it for.
public struct LogoutRoutes<Context: RequestContext>: Sendable {
    /// Ends the app's own sessions of the users whose accounts have ended. Called before the server's token counts as
    /// used: when it throws, the server may send the token again.
    public typealias SessionEnd = @Sendable (BackchannelLogout) async throws -> Void
    /// Ends the app's own session of the browser that sent a request. Returns the header fields of the response, such as
    /// `Set-Cookie`.
    public typealias BrowserSessionEnd = @Sendable (Request, Context) async throws -> HTTPFields

    private let handshake: Handshake
    private let address: PublicAddress
    private let pages: OwnPages<Context>
    private let reader: ContentReader
    private let form: SignOutForm
    private let cleaning: SignInCleaning
    private let log: Logger
    private let endSessions: SessionEnd
    private let endBrowserSession: BrowserSessionEnd

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - handshake: the clients, as for ``SignInRoutes``.
    ///   - address: the public URL of the routes, as for ``SignInRoutes``.
    ///   - environment: clock, randomness and log.
    ///   - endSessions: ends the app's own sessions of users; by default there are none.
    ///   - endBrowserSession: ends the app's own session of a browser; by default there is none.
    ///   - user: the user of a request, by the app's own session; nil when no user is signed in.
    public init(
        _ handshake: Handshake, at address: PublicAddress, environment: SignInEnvironment = SignInEnvironment(),
        endSessions: @escaping SessionEnd = { _ in },
        endBrowserSession: @escaping BrowserSessionEnd = { _, _ in [:] },
        user: @escaping @Sendable (Request, Context) async throws -> String?
    ) {
        self.handshake = handshake
        self.address = address
        pages = OwnPages(at: address, what: "a logout route", log: environment.log, user: user)
        reader = ContentReader(time: environment.time, timeout: .seconds(10))
        form = SignOutForm(
            reader: reader, tokens: AntiForgeryTokens(vault: handshake.vault, random: environment.random))
        cleaning = SignInCleaning(of: handshake, time: environment.time, log: environment.log)
        log = environment.log
        self.endSessions = endSessions
        self.endBrowserSession = endBrowserSession
    }

    /// Adds the routes to a router, or to the group whose path is that of the address.
    public func add(to router: some RouterMethods<Context>) {
        router.post(":service/sign-out") { request, context in
            await pages.answering(request, context) { user in try await signOut(user, request, context) }
        }
        router.get(":service/signed-out") { request, context in
            await pages.failures.answering(navigation: request) { try await signedOut(request, try service(context)) }
        }
        router.post(":service/backchannel-logout") { request, context in
            await backchannelLogout(request, context)
        }
        router.get(":service/frontchannel-logout") { request, context in
            await pages.failures.answering(navigation: request) { try await frontchannelLogout(request, context) }
        }
    }

    private func service(_ context: Context) throws(RequestRefusal) -> Service {
        let name = context.parameters.get("service")
        guard let client = handshake.clients.first(where: { $0.service.name == name }) else {
            throw RequestRefusal(.notFound, "not_found", "This app has no such service")
        }
        return client.service
    }

    /// The address at which the server's page sends the browser back.
    private func returnURI(_ service: Service) -> String { "\(address)/\(service.name)/signed-out" }

    private func signOut(_ user: String, _ request: Request, _ context: Context) async throws -> Response {
        let service = try service(context)
        try await form.check(request, of: user, for: service)
        cleaning.beginIfDue()
        let uri = try RedirectURI(returnURI(service))
        do {
            let outcome = try await handshake.account(user, of: service.name)?.beginSignOut(returningTo: uri)
            return form.answer(outcome?.report, adding: ["end_session": outcome?.page?.request.page.json ?? .null])
        } catch HandshakeError.vault(.damaged) {
            return try await form.forgetDamaged(user, of: service, in: handshake, adding: ["end_session": .null])
        }
    }

    private func signedOut(_ request: Request, _ service: Service) async throws -> Response {
        // Built from the registered URL, because an attacker can write any Host field.
        let url = returnURI(service) + (request.uri.query.map { "?" + $0 } ?? "")
        let isConfirmed = try await handshake.finishSignOut(returnURL: url)
        return .page(
            ResultPage.signedOut(
                confirmedBy: isConfirmed ? service.displayName : nil, language: request.language
            ).html, styleHash: ResultPage.styleHash, status: .ok)
    }

    /// Section 2.8 of OpenID Connect Back-Channel Logout: 200, or 400 with an error; never cached.
    private func backchannelLogout(_ request: Request, _ context: Context) async -> Response {
        do {
            let service = try service(context)
            let token = try await logoutToken(of: request)
            cleaning.beginIfDue()
            let outcome = try await handshake.endSessions(logoutToken: token, of: service.name, endSessions)
            log.info("a server has ended sessions", metadata: ["accounts": "\(outcome.accounts.count)"])
            return Response(status: .ok, headers: Response.quiet)
        } catch let refusal as RequestRefusal where refusal.status == .notFound {
            return refusal.response
        } catch let refusal as RequestRefusal {
            return Self.refused("invalid_request", refusal.message)
        } catch HandshakeError.exchange(.refused(let refusal)) {
            log.notice("a logout token was refused", metadata: ["reason": "\(refusal.code)"])
            return Self.refused("invalid_request", "The logout token is not valid: \(refusal.code)")
        } catch {
            let reason = (error as? HandshakeError)?.code ?? "\(type(of: error))"
            log.error("a logout failed", metadata: ["reason": "\(reason)"])
            return Self.refused("temporarily_unavailable", "The logout failed. Send the token again later")
        }
    }

    private static func refused(_ code: String, _ text: String) -> Response {
        let body: JSONValue = .object(["error": .string(code), "error_description": .string(text)])
        return .json(Data(body.json.utf8), status: .badRequest)
    }

    /// The longest content, in bytes: a token at its longest, in a form.
    private static var maximumContentLength: Int { 131_072 }

    private func logoutToken(of request: Request) async throws(RequestRefusal) -> Secret {
        let content = try await reader.content(
            of: request, type: "application/x-www-form-urlencoded", limit: Self.maximumContentLength)
        let name = Array("logout_token=".utf8)
        let values = content.split(separator: UInt8(ascii: "&")).filter { $0.starts(with: name) }
        guard values.count == 1, let text = PercentEncoding.decodeForm(values[0].dropFirst(name.count)), !text.isEmpty
        else { throw RequestRefusal(.badRequest, "invalid_request", "The form needs one logout_token") }
        return Secret(text)
    }

    private func frontchannelLogout(_ request: Request, _ context: Context) async throws -> Response {
        let service = try service(context)
        guard try await isForSession(request, context, service) else {
            return framed(
                ResultPage.notForYou(language: request.language), status: .badRequest, by: service, [:])
        }
        return framed(
            ResultPage.signedOut(confirmedBy: nil, language: request.language), status: .ok, by: service,
            try await endBrowserSession(request, context))
    }

    /// Whether a frame asks, and names no session or the one of this browser's user.
    ///
    /// `iss` and `sid` come together or not at all.
    private func isForSession(_ request: Request, _ context: Context, _ service: Service) async throws -> Bool {
        // Browsers released before 2023 do not say it.
        if let use = request.headers[.secFetchDest], !["iframe", "frame"].contains(use) { return false }
        let parameters = request.uri.queryParameters
        let issuers = parameters[values: "iss"].map { String($0) }
        let sessions = parameters[values: "sid"].map { String($0) }
        guard issuers.count == sessions.count, issuers.count <= 1 else { return false }
        guard let issuer = issuers.first, let session = sessions.first else { return true }
        guard let user = try await pages.user(request, context),
            let identity = try await handshake.storedStatus(user, of: service.name)?.identity,
            issuer.isIdentical(to: identity.issuer)
        else { return false }
        return identity.sessionID?.isIdentical(to: session) ?? false
    }

    /// A page that the server, and no other site, may put into a frame.
    private func framed(
        _ page: ResultPage, status: HTTPResponse.Status, by service: Service, _ fields: HTTPFields
    ) -> Response {
        var response = Response.page(page.html, styleHash: ResultPage.styleHash, status: status)
        let server = service.authorizationServer.issuer.url.origin
        response.headers[.contentSecurityPolicy] = response.headers[.contentSecurityPolicy]?.replacing(
            "frame-ancestors 'none'", with: "frame-ancestors \(server)")
        response.headers.append(contentsOf: fields)
        return response
    }
}

extension EndSessionRequest.Page {
    /// How a page of the app gets the browser there.
    fileprivate var json: JSONValue {
        switch self {
        case .address(let url): .object(["method": .string("GET"), "url": .string(url)])
        case .form(let action, let fields):
            .object([
                "method": .string("POST"), "url": .string(action.string),
                "fields": .object(JSONObject(fields.map { (key: $0.name, value: JSONValue.string($0.value)) })),
            ])
        }
    }
}
#endif
