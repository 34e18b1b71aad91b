#if Sandbox
import HTTPTypes
package import SandboxCore

/// The Recurse Center: authorization server, people, batches, places, visits and photos (Recurse Center dossier, sections
/// 2, 3, 4 and 6).
///
/// Its quirks: form and JSON token requests, the secret in the body, `created_at`, single-use refresh tokens, the
/// out-of-band redirect, the token in a query, `?as=` and `?deny=1`, and three forms of "unauthorized".
package struct RecurseCenterStandIn: FixedStandIn {
    package static let name = SandboxService.Name.recurseCenter
    package let server: AuthorizationServer
    let access: Access
    private let authorization: AuthorizationEndpoint
    private let api: [Route]

    package init(panel: ControlPanel, accessTokenLifetime: Int?) {
        server = AuthorizationServer(
            dialect: Fixtures.dialect(accessTokenLifetime: accessTokenLifetime ?? 7200),
            clock: panel.clock)
        authorization = AuthorizationEndpoint(server: server)
        access = Access(server: server)
        api = [
            PeopleRoutes(access: access).routes, HubVisitRoutes(access: access).routes,
            PhotoRoutes(server: server).routes,
        ].flatMap { $0 }
    }

    package var routes: [Route] { authorizationRoutes + api }
    package let hidesWrongMethods = true

    package func notFound(_ request: IncomingRequest) -> Answer {
        Access.notFound
    }

    package func isAuthorizationPage(_ request: IncomingRequest) -> Bool { request.path == "/oauth/authorize" }

    package var details: [JSON.Member] {
        [JSON.Member(name: "personal_access_token", value: JSON(service.personalAccessToken))]
    }

    private var authorizationRoutes: [Route] {
        [
            Route(
                "GET", path: "/oauth/authorize",
                note: "sign in and consent; as=ID consents and deny=1 refuses without a page",
                answer: authorization.show),
            Route("POST", path: "/oauth/authorize", note: "the forms of those pages", answer: authorization.submit),
            Route("POST", path: "/oauth/token", note: "code and refresh; form or JSON", answer: token),
            Route("POST", path: "/oauth/revoke", note: "revocation (RFC 7009)", answer: revoke),
        ]
    }

    package var controlRoutes: [Route] {
        [
            Route(
                "POST", path: ControlRoutes.prefix + "/unauthorized",
                note: "how the API says unauthorized: 401, 200 (as in 2014) or 404 (masked)"
            ) { [access] request in
                let text = request.text.filter { !$0.isWhitespace }
                guard let style = Int(text).flatMap(UnauthorizedAnswer.init(rawValue:)) else {
                    return .text("Expected 401, 200 or 404 as the body.\n", status: 400)
                }
                access.answerUnauthorized(with: style)
                return ControlRoutes.done
            },
            Route(
                "POST", path: ControlRoutes.prefix + "/revoke-personal-access-tokens",
                note: "end all personal access tokens"
            ) { [access] _ in
                access.revokePersonalAccessTokens()
                return ControlRoutes.done
            },
        ]
    }

    private func token(_ request: IncomingRequest) -> Answer {
        do throws(OAuthFailure) {
            guard let parameters = request.formOrJSON else {
                throw .invalidRequest("The body is not a flat JSON object.")
            }
            let client = try authenticated(request, parameters)
            let tokens = try server.exchange(parameters, by: client)
            let answer: JSON = [
                "access_token": .string(tokens.accessToken), "token_type": "bearer",
                "expires_in": .number(tokens.lifetime),
            ]
            return .uncachedJSON(
                answer.adding("refresh_token", tokens.refreshToken.map(JSON.string))
                    .adding("scope", .string(tokens.scope.joined(separator: " ")))
                    .adding("created_at", .number(Int(tokens.issuedAt))))
        } catch {
            return error.answer
        }
    }

    /// Doorkeeper answers `{}` to a revocation and 403 when the token is another client's.
    private func revoke(_ request: IncomingRequest) -> Answer {
        do throws(OAuthFailure) {
            guard let parameters = request.formOrJSON else {
                throw .invalidRequest("The body is not a flat JSON object.")
            }
            let client = try authenticated(request, parameters)
            guard let token = parameters["token"] else { return .json([:]) }
            try server.revoke(token, by: client, revokesFamily: false)
            return .json([:])
        } catch {
            var failure = error
            if failure.code == "unauthorized_client" { failure.status = 403 }
            return failure.answer
        }
    }

    /// The secret stands in the body; Basic is accepted too, undecoded, as Doorkeeper does.
    private func authenticated(
        _ request: IncomingRequest, _ parameters: FormParameters
    ) throws(OAuthFailure) -> SandboxClient {
        if let credentials = request.basicCredentials {
            return try server.client(id: credentials.id, secret: credentials.secret)
        }
        guard let id = parameters["client_id"] else { throw .invalidClient("The client identifier is missing.") }
        return try server.client(id: id, secret: parameters["client_secret"])
    }
}
#endif
