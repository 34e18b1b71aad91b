#if Sandbox
import HTTPTypes
package import SandboxCore
import Synchronization

/// A server that keeps to the standards, for clients that are not written for one service.
///
/// RFC 6749 (code, refresh, client credentials), 7636 (S256 demanded of all), 8414 and OpenID discovery, 9101, 9126, 9207, 7009,
/// 7591, 7592, 7662, 6750, 7523, 8628, 8693, 8705, 8707, 9396, 9701, CIBA Core, RP-Initiated, Front- and Back-Channel Logout, 9449, 9470, JARM, OpenID Connect Core with
/// ES256, and refresh token rotation with reuse detection (RFC 9700).
package struct StandardStandIn: FixedStandIn {
    package static let name = SandboxService.Name.standard
    package let server: AuthorizationServer
    private let authorization: AuthorizationEndpoint
    let signer = IDTokenSigner()
    let assertions = ClientAssertions()
    let proofs = ProofChecks()
    let certificates = CertificateBindings()
    let devices: DeviceGrants
    let backchannel: BackchannelRequests
    let exchanges: TokenExchanges
    let assertionGrants: AssertionGrants
    let registrations: ClientRegistrations
    /// The issuers with a path at the same origin.
    private let tenants: [(tenant: Tenant, standIn: StandardStandIn)]

    package init(panel: ControlPanel, accessTokenLifetime: Int?) {
        self.init(
            panel, accessTokenLifetime: accessTokenLifetime ?? 3600,
            tenants: Tenant.all.map { tenant in
                (tenant, StandardStandIn(panel, accessTokenLifetime: accessTokenLifetime ?? 3600, as: tenant))
            })
    }

    private init(
        _ panel: ControlPanel, accessTokenLifetime: Int, as tenant: Tenant? = nil,
        tenants: [(tenant: Tenant, standIn: StandardStandIn)] = []
    ) {
        self.tenants = tenants
        server = AuthorizationServer(
            dialect: Fixtures.dialect(accessTokenLifetime: accessTokenLifetime), clock: panel.clock,
            signedMessages: SignedAuthorizations(signer: signer), prefix: tenant?.prefix ?? "",
            issuerSuffix: tenant?.issuerSuffix ?? "")
        registrations = ClientRegistrations(server: server)
        authorization = AuthorizationEndpoint(server: server)
        devices = DeviceGrants(server: server)
        backchannel = BackchannelRequests(server: server)
        exchanges = TokenExchanges(server: server, signer: signer)
        assertionGrants = AssertionGrants(server: server, signer: signer)
    }

    package var servers: [AuthorizationServer] { [server] + tenants.map(\.standIn.server) }

    package var routes: [Route] {
        discovery + own + [legacyAPI]
            + tenants.flatMap { tenant, standIn in
                tenant.discovery(of: standIn.server) + standIn.own.map { $0.below(tenant.prefix) }
            }
    }

    /// An MCP server that names no authorization server, which is then its own origin (MCP revision 2025-03-26).
    private var legacyAPI: Route {
        let api = ProtectedAPI.legacy
        return Route(path: api.path, note: "an MCP server without a document of its own; scope api") { request in
            api.answer(request, at: server.root, of: self)
        }
    }

    /// What each of the issuers has.
    var own: [Route] {
        endpoints + deviceRoutes + logoutRoutes + registrations.routes
            + ProtectedResources(server: server, proofs: proofs, certificates: certificates, signer: signer).routes
            + [
                Route("GET", path: "/jwks", note: "keys; one of an unknown type, to be skipped") { [signer] _ in
                    .json(signer.keySet)
                }
            ]
    }

    /// The issuer with a path; the origin's own for none.
    func issuer(at prefix: String) -> StandardStandIn {
        tenants.first { $0.tenant.prefix == prefix }?.standIn ?? self
    }

    package func started(beside others: [any StandIn]) {
        for (tenant, standIn) in tenants where tenant.borrowsIssuer {
            standIn.server.state.withLock { $0.borrowedIssuer = server.issuer }
        }
    }

    package var details: [JSON.Member] {
        [JSON.Member(name: "tenants", value: JSON(tenants.map(\.standIn.server.issuer)))]
    }

    package var controlRoutes: [Route] {
        [
            Route("POST", path: ControlRoutes.prefix + "/rotate-nonces", note: "change the nonces of proofs") {
                [proofs] _ in
                proofs.rotateNonces()
                return ControlRoutes.done
            },
            Route("POST", path: ControlRoutes.prefix + "/rotate-keys", note: "change the key that signs") {
                [signer] _ in
                signer.rotateKeys()
                return ControlRoutes.done
            },
            Route("POST", path: ControlRoutes.prefix + "/purge-clients", note: "forget the clients that registered") {
                [registrations] _ in
                registrations.purge()
                return ControlRoutes.done
            },
            Route(
                "POST", path: ControlRoutes.prefix + "/secret-lifetime", note: "seconds for secrets given from now on"
            ) {
                [registrations] request in
                // Bounded: the sum with the time must not overflow.
                guard let seconds = Int(request.text.filter { !$0.isWhitespace }),
                    (0...Sandbox.Configuration.maximumLifetime).contains(seconds)
                else {
                    return .text(
                        "Expected up to \(Sandbox.Configuration.maximumLifetime) seconds, or 0 for secrets that do not end.\n",
                        status: 400)
                }
                registrations.secretLifetime = seconds
                return ControlRoutes.done
            },
            Route("GET", path: ControlRoutes.prefix + "/service-account", note: "the key file of the service account") {
                [server] _ in .json(ServiceAccounts.file(of: server))
            },
            Route("POST", path: ControlRoutes.prefix + "/logout-token", note: "a logout token, as the form asks") {
                logoutToken($0)
            },
            Route("POST", path: ControlRoutes.prefix + "/decide-backchannel", note: "allow or refuse, as the form says")
            {
                decideBackchannel($0)
            },
        ]
    }

    package func notFound(_ request: IncomingRequest) -> Answer {
        authorization.pages.notFound()
    }

    package func isAuthorizationPage(_ request: IncomingRequest) -> Bool { request.path == "/authorize" }

    private var discovery: [Route] {
        let metadata: @Sendable (IncomingRequest) -> Answer = { [server] _ in
            .json(ServerMetadata.json(server))
        }
        return [
            Route(
                "GET", path: "/.well-known/oauth-authorization-server", note: "metadata (RFC 8414)", answer: metadata),
            Route("GET", path: "/.well-known/openid-configuration", note: "the same document", answer: metadata),
            Route("GET", path: DocumentedClient.path, note: "the document of a client that is named by it") { _ in
                .json(DocumentedClient.document)
            },
        ]
    }

    private var endpoints: [Route] {
        [
            Route("GET", path: "/authorize", note: "sign in and consent", answer: authorization.show),
            Route("POST", path: "/authorize", note: "the forms of those pages", answer: authorization.submit),
            Route("POST", path: "/par", note: "pushed authorization requests (RFC 9126)", answer: push),
            Route("POST", path: "/token", note: "code, refresh, client credentials, device code", answer: token),
            Route("POST", path: "/revoke", note: "revocation (RFC 7009)", answer: revoke),
            Route("POST", path: "/introspect", note: "introspection (RFC 7662), for clients with a secret") {
                introspect($0)
            },
        ]
    }

    private var deviceRoutes: [Route] {
        let pages = DevicePages(devices: devices, pages: authorization.pages)
        let authenticator = AuthenticatorPage(requests: backchannel, pages: authorization.pages)
        return [
            Route("POST", path: "/device_authorization", note: "a code for another device (RFC 8628)") {
                deviceAuthorization($0)
            },
            Route("GET", path: "/device", note: "enter that code", answer: pages.show),
            Route("POST", path: "/device", note: "the forms of that page", answer: pages.submit),
            Route("POST", path: "/backchannel_authentication", note: "ask a user on their own device (CIBA)") {
                backchannelAuthentication($0)
            },
            Route("GET", path: "/authenticator", note: "what the user is asked there", answer: authenticator.show),
            Route("POST", path: "/authenticator", note: "the forms of that page", answer: authenticator.submit),
        ]
    }

    private var logoutRoutes: [Route] {
        let page = EndSessionPage(server: server, signer: signer, pages: authorization.pages)
        return [
            Route("GET", path: "/end_session", note: "end the session (RP-Initiated Logout)", answer: page.show),
            Route("POST", path: "/end_session", note: "the same by a form", answer: page.show),
        ]
    }

    private func backchannelAuthentication(_ request: IncomingRequest) -> Answer {
        proven(request) { client, _ throws(OAuthFailure) in
            guard client.grantTypes.contains(BackchannelRequests.grantType) else { throw .unauthorizedClient }
            let form = try server.unsigned(request.form, of: client)
            let scope = try server.dialect.scopes.read(form["scope"])
            return .uncachedJSON(
                try backchannel.begin(
                    form, for: client, scope: scope,
                    hinted: { signer.claims(of: $0)?.claims["sub"]?.scalarText }))
        }
    }

    private func deviceAuthorization(_ request: IncomingRequest) -> Answer {
        proven(request) { client, _ throws(OAuthFailure) in
            guard client.grantTypes.contains(DeviceGrants.grantType) else { throw .unauthorizedClient }
            let scope = try server.dialect.scopes.read(request.form["scope"])
            let resources = try server.knownResources(in: request.form)
            return .uncachedJSON(devices.begin(for: client, scope: scope, resources: resources))
        }
    }

    private func token(_ request: IncomingRequest) -> Answer {
        proven(request) { client, thumbprint throws(OAuthFailure) in
            try certificates.checkRefresh(request, by: client)
            if request.form["grant_type"] == TokenExchanges.grantType {
                let exchanged = try exchanges.exchange(request.form, by: client)
                if let tokens = exchanged.tokens { certificates.bind(tokens, to: request) }
                if let thumbprint, let tokens = exchanged.tokens { proofs.bind(tokens, to: thumbprint) }
                return .uncachedJSON(exchanged.answer(isBound: thumbprint != nil))
            }
            let tokens =
                switch request.form["grant_type"] {
                case DeviceGrants.grantType: try devices.redeem(request.form["device_code"], by: client)
                case BackchannelRequests.grantType: try backchannel.redeem(request.form["auth_req_id"], by: client)
                case AssertionGrants.grantType: try assertionGrants.redeem(request.form, by: client)
                default: try server.exchange(request.form, by: client)
                }
            if let thumbprint { proofs.bind(tokens, to: thumbprint) }
            certificates.bind(tokens, to: request)
            let answer: JSON = [
                "access_token": .string(tokens.accessToken), "token_type": thumbprint == nil ? "Bearer" : "DPoP",
                "expires_in": .number(tokens.lifetime), "scope": .string(tokens.scope.joined(separator: " ")),
            ]
            let idToken = signer.idToken(for: tokens, issuer: server.issuer)
            return .uncachedJSON(
                answer.adding("refresh_token", tokens.refreshToken.map(JSON.string))
                    .adding("id_token", idToken.map(JSON.string))
                    .adding("authorization_details", tokens.grant.grantedDetails))
        }
    }

    /// RFC 9126 sections 2.1 to 2.3.
    private func push(_ request: IncomingRequest) -> Answer {
        proven(request) { client, thumbprint throws(OAuthFailure) in
            var form = try server.unsigned(request.form, of: client)
            if let thumbprint, form["dpop_jkt"] == nil {
                form = FormParameters(form.pairs + [("dpop_jkt", thumbprint)])
            }
            // RFC 9449 section 10.1: where both come, they name one key.
            guard thumbprint == nil || form["dpop_jkt"] == thumbprint else {
                throw .invalidRequest("dpop_jkt is not the key of the proof.")
            }
            let reference = try server.push(form, by: client)
            return .uncachedJSON(
                ["request_uri": .string(reference), "expires_in": .number(PushedRequests.lifetime)], status: 201)
        }
    }

    private func revoke(_ request: IncomingRequest) -> Answer {
        server.revocation(request, authenticate: authenticated)
    }

    private func introspect(_ request: IncomingRequest) -> Answer {
        do throws(OAuthFailure) {
            let client = try authenticated(request)
            guard client.kind == .confidential else {
                throw .invalidClient("Introspection needs a client with a secret.")
            }
            guard let token = request.form["token"] else { throw .invalidRequest("token is missing.") }
            let known = server.introspection(
                of: token, boundTo: proofs.thumbprint(of: token), certificate: certificates.thumbprint(of: token))
            guard request.headers[.accept] == "application/token-introspection+jwt",
                let text = server.signedIntrospection(known, for: client, by: signer)
            else { return .uncachedJSON(known) }
            return Answer(
                status: 200,
                headers: [.contentType: "application/token-introspection+jwt", .cacheControl: "no-store"],
                body: Array(text.utf8))
        } catch {
            return error.challengingAnswer
        }
    }
}
#endif
