#if Sandbox
import Hummingbird
import NIOSSL

/// The context of a request: the variables of its route, its connection's certificate, and how to close that.
struct Connection: RequestContext {
    var coreContext: CoreRequestContextStorage
    let hangUp: @Sendable () async -> Void
    /// The certificate that the client has presented, in DER; nil without one.
    let certificate: @Sendable () async -> [UInt8]?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        let channel = source.channel
        hangUp = { try? await channel.close() }
        certificate = { try? await channel.nioSSL_peerCertificate().get()?.toDERBytes() }
    }
}

/// Receives requests and sends responses, complete or changed by faults.
struct Doorway: Sendable {
    private let name: SandboxService.Name
    private let loggedFields: [String]
    private let panel: ControlPanel
    private let unknown: Route
    /// The server of a stand-in that listens by TLS; nil for others.
    private let certified: AuthorizationServer?

    /// Bodies beyond this many bytes are answered with 413.
    static let bodyLimit = 1 << 20

    private init(_ standIn: any StandIn, panel: ControlPanel) {
        name = standIn.name
        loggedFields = type(of: standIn).loggedFields
        self.panel = panel
        certified = type(of: standIn).usesTLS ? standIn.server : nil
        unknown = Route(path: "", note: "") { request in
            ControlRoutes.has(request.path) ? ControlRoutes.notFound : standIn.notFound(request)
        }
    }

    /// What responds for a stand-in: its routes, its front page and the control routes.
    static func responder(for standIn: any StandIn, panel: ControlPanel) -> some HTTPResponder<Connection> {
        let server = standIn.server
        let pages = Pages(dialect: standIn.frontDialect)
        let (routes, shown) = (standIn.routes, standIn.shownRoutes)
        let control = ControlRoutes(server: server, panel: panel).routes + standIn.controlRoutes
        let front = Route("GET", path: standIn.frontPath, note: "what this service offers") { _ in
            pages.front(origin: server.origin, routes: shown, control: control)
        }
        let doorway = Doorway(standIn, panel: panel)
        let router = Router(context: Connection.self, options: .autoGenerateHeadEndpoints)
        router.add(routes + [front], hidesWrongMethods: standIn.hidesWrongMethods, respond: doorway.respond)
        router.add(control, hidesWrongMethods: false, respond: doorway.respond)
        // Added last, so that it handles only what no route does.
        router.add(middleware: UnknownRoute { try await doorway.respond(to: $0, on: $1, by: doorway.unknown) })
        return TargetCheck(routes: router.buildResponder())
    }

    /// Lets only request targets of ASCII through, as RFC 3986 has them: comparing others may take quadratic time.
    private struct TargetCheck: HTTPResponder {
        let routes: RouterResponder<Connection>

        func respond(to request: Request, context: Connection) async throws -> Response {
            guard request.head.path?.utf8.allSatisfy({ $0 < 0x80 }) ?? true else {
                return Doorway.whole(.text("The request target must be percent-encoded.\n", status: 400))
            }
            return try await routes.respond(to: request, context: context)
        }
    }

    private func respond(to request: Request, on connection: Connection, by route: Route) async throws -> Response {
        guard let body = await Self.body(of: request) else {
            return Self.whole(.text("A body may have at most \(Self.bodyLimit) bytes.\n", status: 413))
        }
        var incoming = IncomingRequest(
            method: request.method.rawValue, target: request.head.path ?? "/", headers: request.headers, body: body)
        for (name, value) in connection.parameters {
            incoming.variables[String(name)] = PercentCoding.pathDecoded(value)
        }
        if let certified {
            incoming.certificate = await connection.certificate()
            incoming.origin = certified.root
        }
        let answer = (route.fits(incoming.path) ? route : unknown).answer
        if ControlRoutes.has(incoming.path) {
            return Self.whole(panel.takeSignedTextFaults(for: incoming, at: name).changing { answer(incoming) })
        }
        let faults = panel.takeFaults(for: incoming, at: name)
        let delivery = faults.delivery { answer(incoming) }
        panel.record(
            LoggedRequest(
                incoming, service: name, fields: loggedFields, status: delivery.status, at: panel.clock.now,
                isWhole: panel.logsWholeRequests))
        if faults.delay > 0 { try await Task.sleep(for: .seconds(faults.delay)) }
        return await Self.response(delivery, on: connection)
    }

    private static func body(of request: Request) async -> [UInt8]? {
        if let announced = request.headers[.contentLength].flatMap({ Int($0) }), announced > bodyLimit { return nil }
        guard let buffer = try? await request.body.collect(upTo: bodyLimit) else { return nil }
        return Array(buffer.readableBytesView)
    }

    private static func whole(_ answer: Answer) -> Response {
        Response(
            status: HTTPResponse.Status(integerLiteral: answer.status), headers: answer.headers,
            body: answer.body.response())
    }

    private static func response(_ delivery: FaultPlan.Delivery, on connection: Connection) async -> Response {
        switch delivery {
        case .whole(let answer): return whole(answer)
        case .cut(let answer, let bytes):
            return Response(
                status: HTTPResponse.Status(integerLiteral: answer.status), headers: answer.headers,
                body: answer.body.response(cutAfter: bytes))
        case .dropped:
            await connection.hangUp()
            return Response(status: .internalServerError)
        case .endless:
            return Response(status: .ok, headers: [.contentType: "application/json"], body: SpoiledBody.endless)
        case .huge(let bytes):
            return Response(
                status: .ok, headers: [.contentType: "application/json"], body: SpoiledBody.huge(bytes))
        }
    }
}
#endif
