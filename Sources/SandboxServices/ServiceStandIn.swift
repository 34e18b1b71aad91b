#if Sandbox
import HTTPTypes
package import SandboxCore
import Synchronization

/// A service that is imitated: its pages, its token endpoint, who its user is, and its keys where it has OpenID Connect.
///
/// All its hosts are one origin. What a request gets is found by its path here, since descriptions have paths that a router
/// would read as patterns.
package final class ServiceStandIn: StandIn {
    package let name: SandboxService.Name
    package let server: AuthorizationServer
    private let imitated: ImitatedService
    private let authorization: AuthorizationEndpoint
    private let endpoints: [Endpoint]
    private let openID: OpenIDDocuments?
    /// What the places of the service's addresses stood for in the last requests: the tenant, the realm.
    private let values: Mutex<[String: String]>

    private enum Work: Sendable {
        case page, token, refresh, revocation, user, device, metadata, keys
    }

    private struct Endpoint: Sendable {
        let work: Work
        let methods: [String]
        let address: AddressTemplate
        let note: String
    }

    init(_ service: ImitatedService, panel: ControlPanel, accessTokenLifetime: Int?) {
        imitated = service
        name = service.name
        server = AuthorizationServer(
            dialect: service.dialect(accessTokenLifetime: accessTokenLifetime), clock: panel.clock)
        authorization = AuthorizationEndpoint(server: server)
        openID = OpenIDDocuments(service)
        endpoints = Self.endpoints(of: service)
        values = Mutex(service.examples)
    }

    private static func endpoints(of service: ImitatedService) -> [Endpoint] {
        var endpoints = [
            Endpoint(
                work: .page, methods: ["GET", "POST"], address: service.authorize, note: "sign in and consent")
        ]
        func add(_ work: Work, _ methods: [String], _ address: AddressTemplate?, _ note: String) {
            guard let address else { return }
            endpoints.append(Endpoint(work: work, methods: methods, address: address, note: note))
        }
        // Before the endpoint of codes, which may have the same path and no query.
        add(.refresh, ["POST"], AddressTemplate(service.text("refresh_url")), "refresh")
        let note = service.facts.has("refresh_url") ? "code" : "code and refresh"
        add(.token, ["POST"], service.token, note)
        add(.revocation, ["POST"], AddressTemplate(service.text("revocation_url")), "revocation")
        let method = service.text("userinfo_method") ?? "GET"
        add(.user, [method], AddressTemplate(service.text("userinfo_url")), "the user")
        let device = AddressTemplate(service.text("device_authorization_url"))
        add(.device, ["POST"], device, "refuses sign-in on another device")
        if service.isOpenID, let issuer = AddressTemplate(service.text("issuer")) {
            add(.metadata, ["GET"], issuer.appending("/.well-known/openid-configuration"), "OpenID metadata")
            add(.keys, ["GET"], issuer.appending("/sandbox-keys"), "the keys of ID tokens")
        }
        return endpoints
    }

    package var routes: [Route] { [] }

    package var shownRoutes: [Route] {
        endpoints.flatMap { endpoint in
            endpoint.methods.map { method in
                Route(method, path: endpoint.address.isRoot ? "/" : endpoint.address.path, note: endpoint.note) {
                    [self] in notFound($0)
                }
            }
        }
    }

    package var frontPath: String { imitated.authorize.isRoot ? "/sandbox" : "/" }

    package func notFound(_ request: IncomingRequest) -> Answer {
        var allowed: [String] = []
        for endpoint in endpoints {
            guard let found = endpoint.address.values(in: request), takes(request, endpoint) else { continue }
            guard endpoint.methods.contains(request.method) else {
                allowed += endpoint.methods
                continue
            }
            let values = values.withLock { values -> [String: String] in
                values.merge(found) { $1 }
                return values
            }
            return answer(request, endpoint.work, values)
        }
        guard allowed.isEmpty else {
            return .text("\(imitated.title) takes \(allowed.joined(separator: " and ")) here.\n", status: 405)
                .adding(.allow, allowed.joined(separator: ", "))
        }
        let problem = "The description of \(imitated.title) has no such address."
        return .json(["error": "not_found", "error_description": .string(problem)], status: 404)
    }

    package func isAuthorizationPage(_ request: IncomingRequest) -> Bool {
        imitated.authorize.values(in: request) != nil
    }

    /// Whether a request is for this one of two endpoints that have one path.
    private func takes(_ request: IncomingRequest, _ endpoint: Endpoint) -> Bool {
        switch endpoint.work {
        case .page:
            request.method != "POST" || request.form["form_token"] != nil
                || imitated.token.path != imitated.authorize.path
        case .refresh: endpoint.address.hasQuery(of: request)
        default: true
        }
    }

    private func answer(_ request: IncomingRequest, _ work: Work, _ values: [String: String]) -> Answer {
        let tokens = TokenRequests(service: imitated, server: server)
        switch work {
        case .page: return request.method == "POST" ? authorization.submit(request) : authorization.show(request)
        case .token:
            let takesRefreshes = !imitated.facts.has("refresh_url")
            return tokens.answer(request, ["authorization_code"] + (takesRefreshes ? ["refresh_token"] : [])) {
                openID?.idToken(for: $0, at: server.origin, values)
            }
        case .refresh:
            return tokens.answer(request, ["refresh_token"]) { openID?.idToken(for: $0, at: server.origin, values) }
        case .revocation: return tokens.revoke(request)
        case .user: return UserAnswers(service: imitated, server: server).answer(request)
        case .device: return tokens.refuseDevice()
        case .metadata: return openID?.metadata(at: server.origin, values) ?? .json([:], status: 404)
        case .keys: return openID?.keys(at: server.origin) ?? .json([:], status: 404)
        }
    }
}

extension ImitatedService {
    /// Values for the places of its addresses: the examples of its placeholders.
    var examples: [String: String] {
        guard case .object(let members)? = facts["placeholders"] else { return [:] }
        return members.reduce(into: [:]) { examples, member in
            examples[member.name] = (member.value["default"] ?? member.value["example"])?.scalarText
        }
    }

    /// How a sandbox makes the stand-in.
    package var plan: StandInPlan {
        StandInPlan(name: name) { panel, lifetime in
            ServiceStandIn(self, panel: panel, accessTokenLifetime: lifetime)
        }
    }
}
#endif
