#if Sandbox
import HTTPTypes
import SandboxCore

/// Reading, disabling and enabling a connection (IFTTT Connect dossier, rows S1 to S3).
struct ConnectionRoutes: Sendable {
    let store: Store
    let access: Access

    var routes: [Route] {
        [
            Route(
                "GET", path: "/v2/connections/{id}",
                note: "a connection; user token, service key with user_id, or none",
                answer: Access.answering(show)),
            Route(
                "POST", path: "/v2/connections/{id}/disable", note: "turn it off; user token",
                answer: Access.answering(disable)),
            Route(
                "POST", path: "/v2/connections/{id}/enable", note: "turn it on again; user token",
                answer: Access.answering(enable)),
        ]
    }

    private func show(_ request: IncomingRequest) throws(Refusal) -> Answer {
        let caller = try access.caller(request)
        let connection = try access.connection(request, for: caller)
        let userID = request.query["user_id"]
        let origin = store.origin
        let document = store.read { state -> JSON in
            switch caller {
            case .anonymous: return state.document(of: connection, for: nil, origin: origin)
            case .user(let token): return state.document(of: connection, for: token.login, origin: origin)
            case .service(let partner):
                guard let userID else { return state.document(of: connection, for: nil, origin: origin) }
                guard let link = state.link(serviceID: partner.serviceID, partnerUserID: userID) else {
                    // A user of the partner who was never here has never enabled anything.
                    return ConnectionDocument(
                        connection: connection, services: state.services(of: connection), origin: origin
                    ).json(status: "never_enabled", userConnection: nil)
                }
                return state.document(of: connection, for: link.login, origin: origin)
            }
        }
        return .json(document).adding(.cacheControl, "no-store")
    }

    private func disable(_ request: IncomingRequest) throws(Refusal) -> Answer {
        try turn(request, on: false)
    }

    private func enable(_ request: IncomingRequest) throws(Refusal) -> Answer {
        try turn(request, on: true)
    }

    /// Idempotent; a webhook goes out only when something changes.
    private func turn(_ request: IncomingRequest, on isEnabled: Bool) throws(Refusal) -> Answer {
        let caller = try access.caller(request)
        guard case .user(let token) = caller else { throw .unauthorized("This needs a user token") }
        let connection = try access.connection(request, for: caller)
        let now = store.now
        let origin = store.origin
        let (document, hook) = try store.change { state throws(Refusal) -> (JSON, Webhook?) in
            let key = State.Key(login: token.login, connectionID: connection.id)
            guard var own = state.userConnections[key] else { throw .notEnabled }
            var hook: Webhook?
            if own.isEnabled != isEnabled {
                if isEnabled, !Self.canBeEnabled(own, of: connection) { throw .needsWebFlow }
                own.isEnabled = isEnabled
                state.userConnections[key] = own
                hook = state.webhook(
                    isEnabled ? .enabled : .disabled, login: token.login, connection: connection, at: now)
            }
            return (state.document(of: connection, for: token.login, origin: origin), hook)
        }
        store.deliver(hook)
        return .json(document).adding(.cacheControl, "no-store")
    }

    /// Whether nothing that is required is missing; a pending one may stay pending.
    private static func canBeEnabled(_ own: UserConnection, of connection: Connection) -> Bool {
        if own.isPending { return true }
        return own.features.filter(\.isEnabled).allSatisfy { feature in
            guard let definition = connection.feature(feature.featureID) else { return false }
            let required = definition.capabilities.filter { $0.fields.contains(where: \.isRequired) }
            return required.allSatisfy { needed in
                let stored = feature.capabilities.first { $0.capabilityID == needed.id }?.fields.map(\.fieldID) ?? []
                return needed.fields.allSatisfy { !$0.isRequired || stored.contains($0.id) }
            }
        }
    }
}
#endif
