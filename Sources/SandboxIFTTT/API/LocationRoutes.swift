#if Sandbox
import SandboxCore

/// Crossings of areas, as a user's device reports them (IFTTT Connect dossier, sections 6.6 and 11.5, row S16).
struct LocationRoutes: Sendable {
    let store: Store
    let access: Access

    var routes: [Route] {
        [
            Route(
                "POST", path: "/v1/location_events", note: "areas that a user has entered or left; user token",
                answer: Access.answering(take))
        ]
    }

    /// The outcome of a record.
    private enum Outcome: String {
        case fired
        case duplicate
        case unknownSubscription = "unknown_subscription"
        case notEnabled = "not_enabled"
        case pending
        case featureOff = "feature_off"
        /// The trigger does not look at this direction.
        case otherDirection = "other_direction"
    }

    /// The bare list is read whole before anything is done.
    private func take(_ request: IncomingRequest) throws(Refusal) -> Answer {
        guard case .user(let token) = try access.caller(request) else {
            throw .unauthorized("This needs a user token")
        }
        guard let elements = JSON(parsing: request.body)?.elements else {
            throw .malformed("The body is not a JSON list")
        }
        var reader = FieldReader()
        let crossings = elements.enumerated().compactMap { index, json in
            Crossing(json, at: "/\(index)", noting: &reader)
        }
        try reader.finish()
        let now = store.now
        let hooks = store.change { state in
            crossings.compactMap { Self.process($0, of: token, at: now, in: &state) }
        }
        for hook in hooks { store.deliver(hook) }
        return Answer(status: 204)
    }

    /// - Returns: the webhook of a trigger that fires.
    private static func process(
        _ crossing: Crossing, of token: UserToken, at now: Double, in state: inout State
    ) -> Webhook? {
        let trigger = state.trigger(of: crossing.subscriptionID, for: token)
        let outcome = outcome(
            crossing, trigger, isKnown: state.logs.knows(crossing: crossing.recordID, of: token.login))
        state.logs.add(
            crossing: crossing.json.adding("user_login", .string(token.login))
                .adding("outcome", .string(outcome.rawValue)),
            recordID: crossing.recordID, of: token.login)
        guard outcome == .fired, let trigger else { return nil }
        let ingredients: JSON = [
            "OccurredAt": .string(crossing.occurredAt),
            "EnteredOrExited": crossing.isEntry ? "entered" : "exited",
            "Address": trigger.area?.value["address"] ?? .null,
        ]
        return state.triggerWebhook(
            trigger.capability, trigger.feature, login: token.login, connection: trigger.connection,
            ingredients: ingredients, at: now)
    }

    private static func outcome(
        _ crossing: Crossing, _ trigger: State.SubscribedTrigger?, isKnown: Bool
    ) -> Outcome {
        guard !isKnown else { return .duplicate }
        guard let trigger else { return .unknownSubscription }
        guard trigger.own.isEnabled else { return .notEnabled }
        guard !trigger.own.isPending else { return .pending }
        guard trigger.feature.isEnabled else { return .featureOff }
        switch trigger.area?.type {
        case "LOCATION_ENTER": return crossing.isEntry ? .fired : .otherDirection
        case "LOCATION_EXIT": return crossing.isEntry ? .otherDirection : .fired
        case "LOCATION_ENTER_OR_EXIT", "LOCATION_ENTER_AND_EXIT": return .fired
        default: return .otherDirection
        }
    }
}

/// One record of a device: an area was entered or left (section 6.6).
struct Crossing: Sendable {
    let recordID: String
    let subscriptionID: String
    let occurredAt: String
    let isEntry: Bool
    let json: JSON

    /// The number of the location service, always as a text.
    private static let channel = "941030000"

    /// - Returns: nil for a record that has something wrong in it, which is noted.
    init?(_ json: JSON, at pointer: String, noting reader: inout FieldReader) {
        let before = reader.details.count
        func text(_ name: String, _ message: String, where isRight: (String) -> Bool) -> String {
            if case .string(let text)? = json[name], isRight(text) { return text }
            reader.refuse("\(pointer)/\(name)", message)
            return ""
        }
        recordID = text("record_id", "Expected an identifier") { (1...128).contains($0.utf8.count) }
        _ = text("region_type", "Expected “geo”") { $0 == "geo" }
        occurredAt = text("occurred_at", "Expected a time such as 2025-01-01T00:00:00+0000", where: Self.isTime)
        isEntry = text("event_type", "Expected “entry” or “exit”") { ["entry", "exit"].contains($0) } == "entry"
        _ = text("channel_id", "Expected the text “\(Self.channel)”") { $0 == Self.channel }
        subscriptionID = text("trigger_subscription_id", "Expected an identifier") { !$0.isEmpty }
        _ = text("installation_id", "Expected an identifier") { !$0.isEmpty }
        self.json = json
        guard reader.details.count == before else { return nil }
    }

    /// iOS sends `+0000`, Android an offset with a colon or `Z`.
    private static func isTime(_ text: String) -> Bool {
        let form = /\d{4}-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})/
        guard let match = text.wholeMatch(of: form.asciiOnlyDigits()) else { return false }
        let limits = [(match.1, 1...12), (match.2, 1...31), (match.3, 0...23), (match.4, 0...59), (match.5, 0...60)]
        return limits.allSatisfy { part, range in Int(part).map(range.contains) ?? false }
    }
}

extension State {
    /// What a device watches an area for.
    struct SubscribedTrigger: Sendable {
        let connection: Connection
        let capability: Capability
        let own: UserConnection
        let feature: UserFeature
        /// The area and its type; nil for a trigger that is about none.
        let area: UserConnection.Value?
    }

    /// The trigger that a user of a partner has configured under this identifier.
    func trigger(of subscriptionID: String, for token: UserToken) -> SubscribedTrigger? {
        for connection in connections where connection.ownerID == token.serviceID {
            guard let own = userConnection(token.login, connection) else { continue }
            for feature in own.features {
                guard let found = feature.capabilities.first(where: { $0.kind == .trigger && $0.id == subscriptionID }),
                    let capability = connection.feature(feature.featureID)?.capabilities.first(where: {
                        $0.id == found.capabilityID
                    })
                else { continue }
                return SubscribedTrigger(
                    connection: connection, capability: capability, own: own, feature: feature,
                    area: found.fields.first { $0.type.hasPrefix("LOCATION_") })
            }
        }
        return nil
    }
}
#endif
