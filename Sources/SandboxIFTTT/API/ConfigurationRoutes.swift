#if Sandbox
import HTTPTypes
import SandboxCore

/// Options, updates and labels of a user connection (IFTTT Connect dossier, rows S8 to S11).
struct ConfigurationRoutes: Sendable {
    let store: Store
    let access: Access

    var routes: [Route] {
        options + [
            Route(
                "PUT", path: "/v2/connections/{id}/user_connection",
                note: "replace what the user configured; service key with user_id, or user token",
                answer: Access.answering(replace)),
            Route(
                "POST", path: "/v2/connections/{id}/user_connection/refresh",
                note: "refresh the labels of choices; service key with user_id", answer: Access.answering(refresh)),
            Route(
                "POST", path: "/v2/connections/{id}", note: "deprecated update by services; service key or user token",
                answer: Access.answering(updateServices)),
        ]
    }

    private var options: [Route] {
        let parts = ["{kind}/{part}", "features/{feature}", "features/{feature}/{kind}/{part}"]
        return parts.map { part in
            Route(
                "GET", path: "/v2/connections/{id}/\(part)/field_options",
                note: "what its choices offer; service key with user_id, or user token",
                answer: Access.answering(fieldOptions))
        }
    }

    private func fieldOptions(_ request: IncomingRequest) throws(Refusal) -> Answer {
        let own = try enabled(request, userID: request.query["user_id"])
        let feature = request.variables["feature"]
        let features = own.connection.features.filter { feature == nil || $0.id == feature }
        let fields =
            if let kind = request.variables["kind"], let part = request.variables["part"] {
                features.flatMap(\.capabilities).first { $0.kind.plural == kind && $0.slug == part }?.fields
            } else {
                features.first?.fields
            }
        guard let fields else { throw .notFound }
        let choices = fields.filter { !$0.options.isEmpty }
        return .json([
            "type": "field_options",
            "options": .object(
                choices.map { JSON.Member(name: $0.id, value: .array($0.options.map(\.json))) }),
        ])
    }

    private func replace(_ request: IncomingRequest) throws(Refusal) -> Answer {
        let own = try enabled(request, userID: request.query["user_id"])
        let body = try Access.object(request)
        let document = try store.update(own.login, own.connection) { previous, identifiers throws(Refusal) in
            var reader = UserConnectionReader(own.connection, previous: previous, identifiers: identifiers)
            let features = try reader.read(body)
            identifiers = reader.identifiers
            return features
        }
        return .json(document).adding(.cacheControl, "no-store")
    }

    private func updateServices(_ request: IncomingRequest) throws(Refusal) -> Answer {
        let body = try Access.object(request)
        let own = try enabled(request, userID: body["user_id"]?.scalarText ?? request.query["user_id"])
        _ = try store.update(own.login, own.connection) { previous, identifiers throws(Refusal) in
            var reader = ServicesReader(own.connection, previous: previous, identifiers: identifiers)
            let features = try reader.read(body)
            identifiers = reader.identifiers
            return features
        }
        return Answer(status: 200)
    }

    private func refresh(_ request: IncomingRequest) throws(Refusal) -> Answer {
        _ = try access.partner(request)
        let own = try enabled(request, userID: request.query["user_id"])
        store.change { state in
            let key = State.Key(login: own.login, connectionID: own.connection.id)
            state.userConnections[key]?.refreshLabels(of: own.connection)
        }
        return Answer(status: 204)
    }

    /// The caller's user and connection; 404 unless it is enabled, pending included.
    private func enabled(
        _ request: IncomingRequest, userID: String?
    ) throws(Refusal) -> (login: String, connection: Connection) {
        let caller = try access.caller(request)
        if case .anonymous = caller { throw .unauthorized("This needs a service key or a user token") }
        let connection = try access.connection(request, for: caller)
        let login = try access.login(for: caller, userID: userID)
        guard store.read({ $0.userConnection(login, connection) })?.isEnabled == true else { throw .notEnabled }
        return (login, connection)
    }
}

extension Store {
    /// Puts new configurations in place of the old ones, which ends a pending state, and notifies the partner.
    ///
    /// - Returns: the connection as the user sees it then.
    func update(
        _ login: String, _ connection: Connection,
        _ read: (UserConnection, inout Identifiers) throws(Refusal) -> [UserFeature]
    ) throws(Refusal) -> JSON {
        let now = now
        let origin = origin
        let (document, hook) = try change { state throws(Refusal) -> (JSON, Webhook?) in
            let key = State.Key(login: login, connectionID: connection.id)
            guard var own = state.userConnections[key], own.isEnabled else { throw .notEnabled }
            own.features = try read(own, &state.identifiers)
            own.isPending = false
            state.userConnections[key] = own
            let hook = state.webhook(.updated, login: login, connection: connection, at: now)
            return (state.document(of: connection, for: login, origin: origin), hook)
        }
        deliver(hook)
        return document
    }
}

extension UserConnection {
    /// Gives stored choices the labels that their options have now; one whose option is gone keeps its own.
    mutating func refreshLabels(of connection: Connection) {
        for index in features.indices {
            guard let definition = connection.feature(features[index].featureID) else { continue }
            features[index].fields = features[index].fields.map { Self.refreshed($0, definition.fields) }
            for part in features[index].capabilities.indices {
                let id = features[index].capabilities[part].capabilityID
                let fields = definition.capabilities.first { $0.id == id }?.fields ?? []
                features[index].capabilities[part].fields = features[index].capabilities[part].fields.map {
                    Self.refreshed($0, fields)
                }
            }
        }
    }

    private static func refreshed(_ stored: Value, _ known: [Field]) -> Value {
        guard let field = known.first(where: { $0.id == stored.fieldID }) else { return stored }
        var reader = FieldReader()
        guard !field.options.isEmpty, let value = reader.value(stored.value, of: field, at: "") else { return stored }
        return Value(fieldID: stored.fieldID, type: stored.type, value: value)
    }
}
#endif
