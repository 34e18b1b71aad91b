/// A stand-in for one service: a pure function of the request and its own state.
///
/// Nothing in it waits, so a fault that drops an answer can never stop halfway through a rotation.
protocol StandIn: Sendable {
    /// The state that the stand-in shares with the routes that steer it.
    var server: AuthorizationServer { get }
    /// What the stand-in serves.
    var routes: RouteTable { get }
    /// In whose words the front page speaks.
    var frontDialect: Dialect { get }
    /// The control routes that only this stand-in has.
    var controlRoutes: [Route] { get }
}

extension StandIn {
    var controlRoutes: [Route] { [] }
    var frontDialect: Dialect { server.dialect }
}
