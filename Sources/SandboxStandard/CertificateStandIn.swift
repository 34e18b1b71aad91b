#if Sandbox
public import SandboxCore
import Synchronization

/// The endpoints of the standard server that clients with a certificate call (RFC 8705), by TLS.
///
/// Its listener asks for a certificate and takes any, also none: what a certificate proves is decided request by request.
package struct CertificateStandIn: FixedStandIn {
    package static let name = SandboxService.Name.mutualTLS
    package static let usesTLS = true
    /// Has no clients and no users: they are the standard server's.
    package let server: AuthorizationServer
    private let neighbours = Neighbours()

    /// The routes of the standard server of the same sandbox, once both listen.
    private final class Neighbours: Sendable {
        let routes = Mutex<[Route]>([])
    }

    /// The endpoints that have an alias here (RFC 8705 section 5), by the names of their metadata.
    static let aliases: [(name: String, path: String)] = [
        ("token_endpoint", "/token"), ("pushed_authorization_request_endpoint", "/par"),
        ("revocation_endpoint", "/revoke"), ("introspection_endpoint", "/introspect"),
        ("device_authorization_endpoint", "/device_authorization"),
        ("backchannel_authentication_endpoint", "/backchannel_authentication"), ("userinfo_endpoint", "/userinfo"),
    ]

    private static let resources = ["/api/whoami", "/api/echo", "/api/admin", "/api/stepup"]

    package init(panel: ControlPanel, accessTokenLifetime: Int?) {
        server = AuthorizationServer(dialect: Fixtures.certificateDialect, clock: panel.clock)
    }

    package func started(beside others: [any StandIn]) {
        guard let standard = others.lazy.compactMap({ $0 as? StandardStandIn }).first else { return }
        neighbours.routes.withLock { $0 = standard.own }
        standard.server.state.withLock { $0.certificateOrigin = server.root }
    }

    package var details: [JSON.Member] {
        [JSON.Member(name: "authority", value: .string(CertificateAuthority.shared.pem))]
    }

    package var routes: [Route] {
        (Self.aliases.map(\.path) + Self.resources).map { path in
            Route(path: path, note: "the standard server's, on the certificate of the connection") { request in
                let routes = neighbours.routes.withLock(\.self)
                return routes.first { $0.takes(request.method, at: path) }?.answer(request) ?? notFound(request)
            }
        }
    }

    package func notFound(_ request: IncomingRequest) -> Answer {
        .json(["error": "not_found"], status: 404)
    }
}

extension SandboxService.Name {
    /// The endpoints of the standard server that clients with a certificate call.
    public static let mutualTLS = SandboxService.Name(rawValue: "mutual-tls")
}

extension Sandbox {
    /// The standard server's endpoints for clients with a certificate, by TLS. Source: RFC 8705.
    public var mutualTLS: SandboxService {
        standIn(CertificateStandIn.self).service
    }

    /// The authority that has issued the sandbox's certificates, as PEM. It is new in every process.
    public var certificateAuthority: String {
        CertificateAuthority.shared.pem
    }
}
#endif
