#if Sandbox
/// A stand-in for one service: a pure function of the request and its own state.
///
/// Nothing in it waits, so a fault that drops an answer can never stop halfway through a rotation.
package protocol StandIn: Sendable {
    /// The service it stands for.
    var name: SandboxService.Name { get }
    /// The header fields that the request log keeps with their values.
    static var loggedFields: [String] { get }
    /// Whether it listens by TLS, and asks for the certificates of clients (RFC 8705).
    static var usesTLS: Bool { get }
    /// The state that the stand-in shares with the routes that steer it.
    var server: AuthorizationServer { get }
    /// All its authorization servers; most have one.
    var servers: [AuthorizationServer] { get }
    /// Says that all stand-ins of the sandbox listen, these among them.
    func started(beside others: [any StandIn])
    /// Whether a request is for the authorization endpoint; its path is the one below one of the ``servers``.
    func isAuthorizationPage(_ request: IncomingRequest) -> Bool
    /// What the stand-in serves.
    var routes: [Route] { get }
    /// What the front page shows of it.
    var shownRoutes: [Route] { get }
    /// Where the front page is: at `/`, unless the service has an endpoint there.
    var frontPath: String { get }
    /// The answer to an unknown path, as the service itself gives it.
    func notFound(_ request: IncomingRequest) -> Answer
    /// Whether a known path with a wrong method is "not found", as in Rails, instead of 405.
    var hidesWrongMethods: Bool { get }
    /// The dialect of the front page.
    var frontDialect: Dialect { get }
    /// The control routes of this stand-in only.
    var controlRoutes: [Route] { get }
    /// Members of the sandbox's description for this stand-in only.
    var details: [JSON.Member] { get }
    /// Cancels work in the background.
    func cancel()
    /// Waits until work in the background has ended.
    func ended() async
}

extension StandIn {
    package static var loggedFields: [String] { [] }
    package static var usesTLS: Bool { false }
    package var servers: [AuthorizationServer] { [server] }
    package func started(beside others: [any StandIn]) {}
    package func isAuthorizationPage(_ request: IncomingRequest) -> Bool { false }
    package var shownRoutes: [Route] { routes }
    package var frontPath: String { "/" }
    package var hidesWrongMethods: Bool { false }
    package var frontDialect: Dialect { server.dialect }
    package var controlRoutes: [Route] { [] }
    package var details: [JSON.Member] { [] }
    package func cancel() {}
    package func ended() async {}

    /// The public description of the service, once it listens.
    package var service: SandboxService {
        SandboxService(
            name: name, origin: server.origin, clients: server.dialect.clients, users: server.dialect.users)
    }

    var description: JSON {
        var members = [JSON.Member(name: "origin", value: .string(server.origin))]
        if server.dialect.namesIssuer { members.append(JSON.Member(name: "issuer", value: .string(server.origin))) }
        members.append(JSON.Member(name: "clients", value: .array(service.clients.map(\.json))))
        members.append(JSON.Member(name: "users", value: .array(service.users.map(\.json))))
        return .object(members + details)
    }
}

/// A stand-in that is written for one service, and made of nothing but its fixtures.
package protocol FixedStandIn: StandIn {
    /// The service it stands for.
    static var name: SandboxService.Name { get }
    /// Makes the stand-in with its fixtures.
    ///
    /// - Parameter accessTokenLifetime: in seconds; nil for the service's own.
    init(panel: ControlPanel, accessTokenLifetime: Int?)
}

extension FixedStandIn {
    package var name: SandboxService.Name { Self.name }
}

/// A stand-in that is made of what a program says, once the sandbox has its clock.
package struct StandInPlan: Sendable {
    let name: SandboxService.Name
    let make: @Sendable (ControlPanel, Int?) -> any StandIn

    /// - Parameter make: makes the stand-in, given how many seconds access tokens live; nil for the service's own time.
    package init(name: SandboxService.Name, make: @escaping @Sendable (ControlPanel, Int?) -> any StandIn) {
        self.name = name
        self.make = make
    }
}
#endif
