#if Sandbox
import HTTPTypes
import SandboxCore

/// The partner's own server (IFTTT Connect dossier, sections 2.11 and 2.12, row S23).
struct PartnerRoutes: Sendable {
    let store: Store
    private let authorization: AuthorizationEndpoint

    init(store: Store) {
        self.store = store
        authorization = AuthorizationEndpoint(server: store.partnerServer)
    }

    private var server: AuthorizationServer { store.partnerServer }

    var routes: [Route] {
        [
            Route(
                "GET", path: "/partner/oauth2/authorize", note: "the partner: sign in and consent",
                answer: authorization.show),
            Route(
                "POST", path: "/partner/oauth2/authorize", note: "the forms of those pages",
                answer: authorization.submit),
            Route("POST", path: "/partner/oauth2/token", note: "the partner: code and refresh", answer: token),
            Route(
                "GET", path: "/partner/ifttt/v1/user/info", note: "the partner: who is the user; Bearer",
                answer: Access.answering(userInfo)),
            Route(
                "POST", path: "/partner/ifttt/v1/webhooks/{type}/{event}", note: "the partner: webhooks; service key",
                answer: Access.answering(webhook)),
        ]
    }

    private func token(_ request: IncomingRequest) -> Answer {
        do throws(OAuthFailure) {
            let client: SandboxClient
            if let credentials = request.basicCredentials {
                client = try server.client(id: credentials.id, secret: credentials.secret)
            } else if let id = request.form["client_id"] {
                client = try server.client(id: id, secret: request.form["client_secret"])
            } else {
                throw .invalidClient("The client identifier is missing.")
            }
            let tokens = try server.exchange(request.form, by: client)
            let answer: JSON = [
                "access_token": .string(tokens.accessToken), "token_type": "Bearer",
                "expires_in": .number(tokens.lifetime),
            ]
            return .uncachedJSON(answer.adding("refresh_token", tokens.refreshToken.map(JSON.string)))
        } catch {
            return error.challengingAnswer
        }
    }

    private func userInfo(_ request: IncomingRequest) throws(Refusal) -> Answer {
        guard let user = server.liveAccess(request.bearerToken)?.grant.user else {
            throw .unauthorized("The access token is missing or not valid")
        }
        return .uncachedJSON([
            "data": ["name": .string(user.displayName), "id": .string(user.subject)]
        ])
    }

    private func webhook(_ request: IncomingRequest) throws(Refusal) -> Answer {
        let key = Access.serviceKeyField.flatMap { request.headers[$0] }
        guard let key, store.read({ $0.partners.values.contains { $0.serviceKey == key } }) else {
            throw .unauthorized("The service key is missing or unknown")
        }
        let name = HTTPField.Name("X-Request-ID")
        let entry: JSON = [
            "path": .string(String(request.path.dropFirst("/partner".count))),
            "request_id": JSON(name.flatMap { request.headers[$0] }), "body": try Access.object(request),
        ]
        store.change { $0.logs.add(received: entry) }
        return .json([:])
    }
}
#endif
