#if Sandbox
import SandboxCore

/// Running actions, performing queries and testing triggers (IFTTT Connect dossier, rows S12 to S14).
struct RunRoutes: Sendable {
    let store: Store
    let access: Access

    /// What has one of these names fails downstream with 502.
    static let failing = (action: "ring_broken_bell", query: "read_broken_meter", trigger: "broken_bell_rings")

    var routes: [Route] {
        [
            Route(
                "POST", path: "/v2/connections/{id}/actions/{slug}/run", note: "run an action; service key",
                answer: Access.answering(run)),
            Route(
                "POST", path: "/v2/connections/{id}/queries/{slug}/perform", note: "perform a query; service key",
                answer: Access.answering(perform)),
            Route(
                "POST", path: "/v2/connections/{id}/triggers/{slug}/test",
                note: "send a test webhook of a trigger; service key", answer: Access.answering(test)),
        ]
    }

    /// What a run is about.
    private struct Target: Sendable {
        let login: String
        let connection: Connection
        let capability: Capability
        let configuration: UserFeature
        let body: JSON

        /// The values by field: what is stored, and over it what the call says.
        var fields: [JSON.Member] {
            let stored = configuration.capabilities.first { $0.capabilityID == capability.id }?.fields ?? []
            var overrides: [JSON.Member] = []
            if case .object(let members)? = body["fields"] { overrides = members }
            let kept = stored.filter { value in !overrides.contains { $0.name == value.fieldID } }
            return kept.map { JSON.Member(name: $0.fieldID, value: $0.value["value"] ?? $0.value) } + overrides
        }
    }

    private func run(_ request: IncomingRequest) throws(Refusal) -> Answer {
        let target = try target(request, .action)
        let entry: JSON = [
            "kind": "action", "slug": .string(target.capability.slug), "user_login": .string(target.login),
            "user_feature_id": .string(target.configuration.id), "fields": .object(target.fields),
        ]
        store.change { $0.logs.add(run: entry) }
        return Answer(status: 204)
    }

    private func perform(_ request: IncomingRequest) throws(Refusal) -> Answer {
        let target = try target(request, .query)
        let limit = try Self.limit(target.body["limit"])
        let rows = GardenData.rows(of: target.capability.name, fields: target.fields)
        let start = try Self.offset(target.body["cursor"], within: rows.count)
        var includes: [String] = []
        if let wanted = target.body["includes"] {
            guard let elements = wanted.elements else { throw .invalid("/includes", "Expected a list of names") }
            includes = elements.compactMap(\.scalarText)
        }
        let end = min(start + limit, rows.count)
        let entry: JSON = [
            "kind": "query", "slug": .string(target.capability.slug), "user_login": .string(target.login),
            "user_feature_id": .string(target.configuration.id), "fields": .object(target.fields),
        ]
        store.change { $0.logs.add(run: entry) }
        let answer: JSON = ["type": "list", "data": .array(rows[start..<end].map { $0.json(including: includes) })]
        guard end < rows.count else { return .json(answer) }
        return .json(
            answer.adding("next", ["fields": .object(target.fields), "cursor": .string("row-\(end)")]))
    }

    private func test(_ request: IncomingRequest) throws(Refusal) -> Answer {
        let target = try target(request, .trigger)
        let now = store.now
        let ingredients: JSON = [
            "OccurredAt": .number(Int(now)), "Label": .string(target.capability.label), "IsTest": true,
        ]
        let hook = store.change { state in
            state.triggerWebhook(
                target.capability, target.configuration, login: target.login, connection: target.connection,
                ingredients: ingredients, at: now)
        }
        store.deliver(hook)
        return Answer(status: 204)
    }

    /// Checks in the order of the dossier: key, connection, user, pending, part, configuration, fields, what is behind it.
    private func target(
        _ request: IncomingRequest, _ kind: Capability.Kind
    ) throws(Refusal) -> Target {
        let partner = try access.partner(request)
        let connection = try access.connection(request, for: .service(partner))
        let body = try Access.object(request)
        let login = try access.login(for: .service(partner), userID: body["user_id"]?.scalarText)
        guard let own = store.read({ $0.userConnection(login, connection) }), own.isEnabled else { throw .notEnabled }
        guard !own.isPending else { throw .pending }
        guard let (feature, capability) = connection.capability(kind, slug: request.variables["slug"] ?? ""),
            capability.isRunnable || kind == .trigger
        else { throw .notFound }
        let configurations = own.features.filter { $0.featureID == feature.id && $0.isEnabled }
        let wanted = body["user_feature_id"]?.scalarText
        guard let configuration = configurations.first(where: { wanted == nil || $0.id == wanted }) else {
            throw .invalid("/user_feature_id", "The user has no such configuration that is on")
        }
        var reader = FieldReader()
        reader.overrides(body["fields"], of: capability.fields)
        try reader.finish()
        let failing = [Self.failing.action, Self.failing.query, Self.failing.trigger]
        guard !failing.contains(capability.name) else { throw .downstreamFailed }
        return Target(
            login: login, connection: connection, capability: capability, configuration: configuration, body: body)
    }

    /// The maximum number of rows of a page. The dossier names none: a request for more gets a page and its `next`.
    private static let maximumPageSize = 50

    private static func limit(_ json: JSON?) throws(Refusal) -> Int {
        guard let json else { return maximumPageSize }
        guard case .number(let limit) = json, limit > 0 else {
            throw .invalid("/limit", "Expected a number above 0")
        }
        return min(limit, maximumPageSize)
    }

    private static func offset(_ json: JSON?, within count: Int) throws(Refusal) -> Int {
        guard let json else { return 0 }
        guard let text = json.scalarText, text.hasPrefix("row-"), let offset = Int(text.dropFirst(4)),
            (0..<count).contains(offset)
        else { throw .invalid("/cursor", "Expected the cursor of an answer to this query") }
        return offset
    }
}
#endif
