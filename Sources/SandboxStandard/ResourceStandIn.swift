#if Sandbox
import HTTPTypes
public import SandboxCore
import Synchronization

/// APIs on an origin of their own that name the standard server in documents (RFC 9728), as MCP servers do.
package struct ResourceStandIn: FixedStandIn {
    package static let name = SandboxService.Name.resources
    /// Has no clients and no users: tokens come from the standard server.
    package let server: AuthorizationServer
    private let neighbours = Neighbours()

    /// The standard server of the same sandbox, once both listen.
    private final class Neighbours: Sendable {
        let standard = Mutex<StandardStandIn?>(nil)
    }

    package init(panel: ControlPanel, accessTokenLifetime: Int?) {
        server = AuthorizationServer(dialect: Fixtures.resourceDialect, clock: panel.clock)
    }

    package func started(beside others: [any StandIn]) {
        guard let standard = others.lazy.compactMap({ $0 as? StandardStandIn }).first else { return }
        neighbours.standard.withLock { $0 = standard }
        let apis =
            ProtectedAPI.all.map { ($0.issuerPrefix, $0.identifier(at: server.root)) }
            + [("", ProtectedAPI.legacy.identifier(at: standard.server.root))]
        for (prefix, identifier) in apis {
            standard.issuer(at: prefix).server.state.withLock { _ = $0.resources.insert(identifier) }
        }
    }

    package var details: [JSON.Member] {
        [
            JSON.Member(
                name: "resources",
                value: .array(
                    ProtectedAPI.all.map { ["url": .string(server.root + $0.path), "note": .string($0.note)] }))
        ]
    }

    package var routes: [Route] {
        ProtectedAPI.all.map { api in
            Route(path: api.path, note: api.note) { request in
                guard let standard = neighbours.standard.withLock({ $0 }) else { return notFound(request) }
                return api.answer(request, at: server.root, of: standard.issuer(at: api.issuerPrefix))
            }
        }
            + ProtectedAPI.all.filter(\.hasOwnDocument).map { api in
                Route("GET", path: ProtectedAPI.wellKnown + api.path, note: "its document (RFC 9728)") {
                    document(of: api, $0)
                }
            } + [
                Route("GET", path: ProtectedAPI.wellKnown, note: "the document of all other paths") {
                    document(of: .root, $0)
                }
            ]
    }

    private func document(of api: ProtectedAPI, _ request: IncomingRequest) -> Answer {
        guard let standard = neighbours.standard.withLock({ $0 }) else { return notFound(request) }
        return .json(api.document(at: server.root, issuer: standard.issuer(at: api.issuerPrefix).server.issuer))
    }

    package func notFound(_ request: IncomingRequest) -> Answer {
        .json(["error": "not_found"], status: 404)
    }
}

extension SandboxService.Name {
    /// APIs that name the standard server, such as an MCP server.
    public static let resources = SandboxService.Name(rawValue: "resources")
}

extension Sandbox {
    /// APIs on an origin of their own that name the standard server. `/mcp` is an MCP server.
    public var resources: SandboxService {
        standIn(ResourceStandIn.self).service
    }
}
#endif
