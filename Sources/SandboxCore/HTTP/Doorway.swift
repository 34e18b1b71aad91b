import Hummingbird

/// What the doorway needs to know of a connection: how to end it.
struct Connection: InitializableFromSource {
    let hangUp: @Sendable () async -> Void

    init(source: ApplicationRequestContextSource) {
        let channel = source.channel
        hangUp = { try? await channel.close() }
    }
}

/// Where requests come in and answers, whole or spoiled by faults, go out.
struct Doorway: HTTPResponder {
    let name: SandboxService.Name
    let loggedFields: [String]
    let panel: ControlPanel
    let routes: RouteTable
    let controlRoutes: RouteTable

    /// Bodies beyond this many bytes are answered with 413.
    static let bodyLimit = 1 << 20

    init(_ standIn: any StandIn, panel: ControlPanel) {
        let server = standIn.server
        let dialect = standIn.frontDialect
        let control = ControlRoutes(server: server, panel: panel).table(and: standIn.controlRoutes)
        let routes = standIn.routes
        let front = Route("GET", path: "/", note: "what this service offers") { _ in
            Pages(dialect: dialect).front(origin: server.origin, routes: routes, control: control.routes)
        }
        name = type(of: standIn).name
        loggedFields = type(of: standIn).loggedFields
        self.panel = panel
        self.routes = RouteTable(
            routes: routes + [front], hidesWrongMethods: standIn.hidesWrongMethods, notFound: standIn.notFound)
        self.controlRoutes = control
    }

    func respond(to request: Request, context connection: Connection) async throws -> Response {
        guard let body = await Self.body(of: request) else {
            return Self.whole(.text("A body may have at most \(Self.bodyLimit) bytes.\n", status: 413))
        }
        let incoming = IncomingRequest(
            method: request.method.rawValue, target: request.head.path ?? "/", headers: request.headers, body: body)
        if incoming.path == ControlRoutes.prefix || incoming.path.hasPrefix(ControlRoutes.prefix + "/") {
            return Self.whole(controlRoutes.answer(incoming))
        }
        let faults = panel.takeFaults(for: incoming, at: name)
        let delivery = faults.delivery { routes.answer(incoming) }
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
