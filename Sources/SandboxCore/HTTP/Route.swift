#if Sandbox
import Hummingbird

/// One route of a stand-in, with the words that its front page uses for it.
package struct Route: Sendable {
    /// The methods in capital letters; without any, the route takes every one. `HEAD` follows from `GET`.
    let methods: [String]
    /// Segments such as `{id}` stand for any one segment that is not empty; all others are compared exactly.
    package let path: String
    /// Whether the path may end in one more slash.
    let isSlashOptional: Bool
    let note: String
    package let answer: @Sendable (IncomingRequest) -> Answer

    package init(
        _ methods: String..., path: String, isSlashOptional: Bool = false, note: String,
        answer: @escaping @Sendable (IncomingRequest) -> Answer
    ) {
        self.init(methods, path: path, isSlashOptional: isSlashOptional, note: note, answer: answer)
    }

    /// The same route below a path.
    package func below(_ prefix: String) -> Route {
        Route(methods, path: prefix + path, isSlashOptional: isSlashOptional, note: note, answer: answer)
    }

    private init(
        _ methods: [String], path: String, isSlashOptional: Bool, note: String,
        answer: @escaping @Sendable (IncomingRequest) -> Answer
    ) {
        self.methods = methods
        self.path = path
        self.isSlashOptional = isSlashOptional
        self.note = note
        self.answer = answer
    }

    /// Whether a request of this method to its path is the route's.
    package func takes(_ method: String, at path: String) -> Bool {
        self.path == path && (methods.isEmpty || methods.contains(method))
    }

    /// Whether the route is for this path and not only for one that has the same segments that are not empty, which is
    /// what Hummingbird's router compares.
    func fits(_ requested: String) -> Bool {
        let excess = requested.utf8.count { $0 == UInt8(ascii: "/") } - path.utf8.count { $0 == UInt8(ascii: "/") }
        return excess == 0 || (isSlashOptional && excess == 1 && requested.hasSuffix("/"))
    }
}

extension Router where Context == Connection {
    /// The methods that a route without any takes, and that a path with other ones refuses; `HEAD` is made from `GET`.
    private static var knownMethods: [String] {
        ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
    }

    /// Adds routes.
    ///
    /// - Parameters:
    ///   - hidesWrongMethods: whether a known path with a wrong method is an unknown route instead of 405.
    ///   - respond: makes the response, given what answers.
    func add(
        _ routes: [Route], hidesWrongMethods: Bool,
        respond: @escaping @Sendable (Request, Connection, Route) async throws -> Response
    ) {
        for (path, routes) in Dictionary(grouping: routes, by: \.path) {
            var entries: [(method: String, route: Route)] = routes.flatMap { route in
                (route.methods.isEmpty ? Self.knownMethods : route.methods).map { ($0, route) }
            }
            if !hidesWrongMethods {
                let allowed = entries.map(\.method)
                let refusal = Route(path: path, note: "") { _ in .wrongMethod(allowed: allowed) }
                entries += Self.knownMethods.filter { !allowed.contains($0) }.map { ($0, refusal) }
            }
            for (method, route) in entries {
                guard let method = HTTPRequest.Method(method) else { continue }
                on(RouterPath(path), method: method) { request, connection in
                    try await respond(request, connection, route)
                }
            }
        }
    }
}

extension Answer {
    fileprivate static func wrongMethod(allowed: [String]) -> Answer {
        .text("This route takes \(allowed.joined(separator: " and ")).\n", status: 405)
            .adding(.allow, allowed.joined(separator: ", "))
    }
}

/// What answers a request that no route is for.
struct UnknownRoute: RouterMiddleware {
    let respond: @Sendable (Request, Connection) async throws -> Response

    @concurrent func handle(
        _ request: Request, context: Connection,
        next: @concurrent (Request, Connection) async throws -> Response
    ) async throws -> Response {
        try await respond(request, context)
    }
}
#endif
