#if Server && Sandbox
import ExampleServer
import Foundation
import HTTPTypes
import Handshake
import HandshakeServer
import Hummingbird
import OAuth
import Sandbox
import Sequencing

/// The web app: its client at Sequencing.com, and its routes.
struct App: Sendable {
    let origin: String
    let visitors: Visitors
    let copies = CopyLimit()
    /// What the app stores. An app of its own has a vault that lasts.
    let vault = MemoryVault()
    let handshake: Handshake
    let table: AdviceTable
    let places: ForecastTable
    /// What the app gives Sequencing.com to prove itself with a link that copies files.
    let connect: (codec: LegacyConnectCodec, hosts: Sequencing.Hosts)?
    private let signIn: SignInRoutes<BasicRequestContext>
    private let files: FileSelectorRoutes<BasicRequestContext>
    private let registration: RegistrationRoutes<BasicRequestContext>

    init(at origin: String, on sandbox: Sandbox) throws {
        self.origin = origin
        visitors = Visitors(isSecure: origin.hasPrefix("https:"))
        table = try .builtIn()
        places = try .builtIn()
        let address = try PublicAddress("\(origin)/connect")
        let service = Service.sequencing.at(
            try EndpointURL(sandbox.sequencing.origin, security: .allowingInsecureLoopback))
        handshake = try Self.handshake(at: address, of: service, vault)
        connect = try Self.connect(to: service, on: sandbox)
        let visitor: @Sendable (Request, BasicRequestContext) async throws -> String? = { [visitors] request, _ in
            visitors.session(of: request)
        }
        signIn = try SignInRoutes(
            handshake, at: address,
            respond: { [visitors, handshake, vault] outcome, page, request in
                guard case .signedIn = outcome else { return Self.backToPage(outcome) }
                guard let session = visitors.session(of: request) else {
                    // Another sign-in of this session ended first: it is not known whose account it is now.
                    if let session = visitors.endSession(named: request) {
                        try? await handshake.forget(session, of: Service.sequencing.name)
                    }
                    return .seeOther("/")
                }
                let proof = visitors.prove(session)
                // Another user may have signed in, or the same one again.
                await visitors.restart(session, try? await handshake.account(session), in: vault)
                var response = Response.seeOther(page.rawValue)
                response.setCookie(proof)
                return response
            }, user: visitor)
        files = FileSelectorRoutes(handshake, at: try PublicAddress("\(origin)/genes"), user: visitor)
        registration = RegistrationRoutes(
            Registration(.identifier("my-genome-app"), at: Sequencing.Hosts(of: service)),
            at: try PublicAddress("\(origin)/genes")
        ) { [visitors] request, _ in visitors.session(of: request) ?? "" }
    }

    /// The app's registration. An app of its own has its own identifier and address, and `Service.sequencing`.
    private static func handshake(
        at address: PublicAddress, of service: Service, _ vault: MemoryVault
    ) throws -> Handshake {
        let redirect = Client.Redirect.uri(try RedirectURI("\(address)/sequencing/callback"))
        return try Handshake(Client(service: service, id: "my-genome-app", redirect: redirect), vault: vault)
    }

    private static func connect(
        to service: Service, on sandbox: Sandbox
    ) throws -> (codec: LegacyConnectCodec, hosts: Sequencing.Hosts)? {
        try sandbox.sequencing.clients.lazy.compactMap(\.secret).first
            .map { (try LegacyConnectCodec(secret: Secret($0)), Sequencing.Hosts(of: service)) }
    }

    /// Sends a failed sign-in back to the page, which says so.
    private static func backToPage(_ outcome: SignInOutcome) -> Response? {
        guard case .failed(let error) = outcome else { return nil }
        let word = if case .signInAbandoned = error { "cancelled" } else { "failed" }
        return .seeOther("/?sign-in=\(word)")
    }

    var router: Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self)
        signIn.add(to: router.group("connect"))
        files.add(to: router.group("genes"))
        registration.add(to: router.group("genes"))
        router.get("app.css") { _, _ in Response.text(Style.text, type: "text/css; charset=utf-8") }
        router.get("weather.js") { _, _ in
            Pages.script
        }
        router.get("/") { request, _ in try await page(request) }
        router.get("report") { request, _ in await answering(request, report) }
        router.post("file") { request, _ in await answering(request, choose) }
        router.get("import") { request, _ in await answering(request, progress) }
        router.post("import") { request, _ in await answering(request, startImport) }
        router.post("import/look") { request, _ in await answering(request, lookForImports) }
        router.post("import/answer") { request, _ in await answering(request, answerImport) }
        router.post("import/give-up") { request, _ in await answering(request, giveUp) }
        router.post("copy") { request, _ in await answering(request, copy) }
        router.post("sign-out") { request, _ in try await signOut(request) }
        return router
    }

    private func page(_ request: Request) async throws -> Response {
        let event = request.uri.queryParameters["sign-in"].map { String($0) }
        guard let session = visitors.session(of: request) else {
            var response = Pages.welcome(after: event)
            response.setCookie(visitors.begin())
            return response
        }
        guard let account = try? await handshake.account(session) else { return Pages.welcome(after: event) }
        let identity = account.status.state == .signedIn ? try? await account.identity() : nil
        // Asking for the identity may have ended it. An ended account stays until its user signs in again.
        let isExpired = if case .ended = account.status.state { true } else { false }
        let visit = visitors.visit(session)
        return Pages.app(
            identity, after: event, isExpired: isExpired, file: visit.file?.name, place: visit.place,
            places: places.places.map { ($0.name, table.warning(at: $0)) })
    }

    // MARK: What a page asks for

    /// The session of a request that an own page has sent.
    func visitor(_ request: Request) throws -> String {
        if request.method != .get {
            guard request.headers[.origin] == origin else { throw HTTPError(.forbidden) }
        } else if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" {
            throw HTTPError(.forbidden)
        }
        guard let session = visitors.session(of: request) else { throw HTTPError(.unauthorized) }
        return session
    }

    func genome(_ session: String) async throws -> Sequencing {
        guard let account = try await handshake.account(session) else { throw HTTPError(.unauthorized) }
        return Sequencing(account)
    }

    /// Maps errors to what the page says.
    private func answering(_ request: Request, _ body: (Request) async throws -> Response) async -> Response {
        do {
            return try await body(request)
        } catch let error as HTTPError where error.status != .unauthorized {
            return Response(status: error.status)
        } catch SequencingError.account(.signInRequired), HandshakeError.signInRequired, is HTTPError {
            return signInNeeded(request)
        } catch let error as SequencingError {
            return .json(["problem": .string("\(error)")], status: .badGateway)
        } catch {
            return Response(status: .internalServerError)
        }
    }

    /// Says that the user has to sign in again, and where: the page does not leave by itself.
    private func signInNeeded(_ request: Request) -> Response {
        // Only the first page begins a session, without which there is no sign-in.
        let address = visitors.session(of: request) == nil ? "/" : Pages.signInAddress
        return .json(
            ["problem": .string(WeatherWords.expired.rawValue), "sign_in": .string(address)], status: .unauthorized)
    }

    private func signOut(_ request: Request) async throws -> Response {
        let session: String
        do {
            session = try visitor(request)
        } catch let error as HTTPError where error.status == .unauthorized {
            // Signed out already, in another tab.
            return .seeOther("/")
        }
        let isRevoked = await revoke(session)
        visitors.end(session)
        return .seeOther("/?sign-in=\(isRevoked ? "over" : "over-here")")
    }

    /// Whether the service has revoked the app's access. The account is forgotten in any case.
    private func revoke(_ session: String) async -> Bool {
        let account = try? await handshake.account(session)
        if let account { await Visitors.forgetUnfinished(account.id, in: vault) }
        let report = try? await account?.signOut()
        if report?.isForgotten != true { try? await handshake.forget(session, of: Service.sequencing.name) }
        return report.map { $0.isForgotten && $0.notRevocable.isEmpty } ?? false
    }
}

extension Response {
    /// JSON that is not cached.
    static func json(_ members: JSONObject, status: HTTPResponse.Status = .ok) -> Response {
        Response.text(JSONValue.object(members).json, type: "application/json", status: status)
    }
}

extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name(constant: "Sec-Fetch-Site")
}
#endif
