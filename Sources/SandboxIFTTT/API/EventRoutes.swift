#if Sandbox
import SandboxCore

/// Analytics and hints to poll (IFTTT Connect dossier, rows S15 and S17).
struct EventRoutes: Sendable {
    let store: Store
    let access: Access

    var routes: [Route] {
        [
            Route(
                "POST", path: "/v2/sdk/events", note: "analytics; no token", answer: Access.answering(events)),
            Route(
                "POST", path: "/v1/notifications", note: "hints that a partner has news; service key",
                answer: Access.answering(notifications)),
        ]
    }

    private func events(_ request: IncomingRequest) throws(Refusal) -> Answer {
        guard let events = try Access.object(request)["events"]?.elements else {
            throw .invalid("/events", "Expected a list")
        }
        var reader = FieldReader()
        for (index, event) in events.enumerated() {
            let pointer = "/events/\(index)"
            if event["name"]?.scalarText?.isEmpty != false { reader.refuse(pointer + "/name", "Expected a name") }
            // Milliseconds since 1970, written as a string (section 7).
            if case .string(let text)? = event["timestamp"], Int(text) != nil {
            } else {
                reader.refuse(pointer + "/timestamp", "Expected milliseconds since 1970 as a string")
            }
            if case .object? = event["properties"] {
            } else {
                reader.refuse(pointer + "/properties", "Expected an object")
            }
        }
        try reader.finish()
        store.change { state in
            for event in events { state.logs.add(event: event) }
        }
        return Answer(status: 204)
    }

    private func notifications(_ request: IncomingRequest) throws(Refusal) -> Answer {
        let partner = try access.partner(request)
        guard let data = try Access.object(request)["data"]?.elements, (1...1000).contains(data.count) else {
            throw .invalid("/data", "Expected 1 to 1000 entries")
        }
        var reader = FieldReader()
        for (index, entry) in data.enumerated()
        where (entry["user_id"]?.scalarText == nil) == (entry["trigger_identity"]?.scalarText == nil) {
            reader.refuse("/data/\(index)", "Expected either user_id or trigger_identity")
        }
        try reader.finish()
        store.change { state in
            for entry in data { state.logs.add(notification: entry.adding("service_id", .string(partner.serviceID))) }
        }
        return .json([:])
    }
}
#endif
