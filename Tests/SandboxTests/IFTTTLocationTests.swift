import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The IFTTT stand-in: areas that are entered and left", .heavy)
struct IFTTTLocationTests {
    private static let path = "/v1/location_events"
    private static let leaving = "7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0002"

    /// The record of the dossier, section 6.6, with other members where they are named.
    private func record(
        _ id: String = "5D0B0A9E-3C39-4E51-9A53-0A1D3B3C4D01", event: String = "exit",
        at time: String = "2025-01-01T00:00:00+0000", of subscription: String = leaving, region: String = "geo",
        channel: String = "\"941030000\""
    ) -> String {
        """
        {"record_id":"\(id)","region_type":"\(region)","occurred_at":"\(time)","event_type":"\(event)",
        "channel_id":\(channel),"trigger_subscription_id":"\(subscription)",
        "installation_id":"6F1C0E0A-1111-4222-8333-444455556666"}
        """
    }

    private func outcomes(_ steps: IFTTTSteps) throws -> [String?] {
        try steps.log(.locationEvents).map { $0["outcome"] as? String }
    }

    @Test("S16: leaving an area sends the trigger's webhook once for repeated records; entering it sends none")
    func crossing() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let first = try await steps.send("POST", Self.path, as: .ada, body: "[\(record())]")
            #expect(first.status == 204 && first.wire.body.isEmpty)
            let again = "[\(record()),\(record("2", event: "entry")),\(record("3"))]"
            #expect(try await steps.send("POST", Self.path, as: .ada, body: again).status == 204)
            #expect(try outcomes(steps) == ["fired", "duplicate", "other_direction", "fired"])
            let hooks = try steps.log(.receivedWebhooks)
            #expect(
                hooks.map { $0["path"] as? String }
                    == Array(repeating: "/ifttt/v1/webhooks/trigger_subscription/fired", count: 2))
            let body = try #require(hooks.first?["body"] as? [String: Any])
            let data = try #require(body["data"] as? [String: Any])
            #expect(data["trigger_id"] as? String == "location.exit_region_location")
            #expect(
                data["user_id"] as? String == "garden-1001"
                    && data["user_feature_trigger_id"] as? String == Self.leaving)
            let ingredients = (body["event_data"] as? [String: Any])?["ingredients"] as? [String: String]
            #expect(
                ingredients == [
                    "OccurredAt": "2025-01-01T00:00:00+0000", "EnteredOrExited": "exited",
                    "Address": "Sample Square 1, Berlin",
                ])
        }
    }

    @Test(
        "S16: both spellings of the two-way area take both directions",
        arguments: [("ft20", "tr20"), ("ft21", "tr21")])
    func bothWays(_ feature: String, _ trigger: String) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            try await turnOn(steps, feature: feature, trigger: trigger)
            let answer = try await steps.send("GET", "/v2/connections/Lg2Sp0ts", as: .ada)
            let id = try #require(answer.text("user_connection.user_features.0.user_feature_triggers.0.id"))
            let body = "[\(record("1", event: "entry", of: id)),\(record("2", of: id))]"
            #expect(try await steps.send("POST", Self.path, as: .ada, body: body).status == 204)
            #expect(try outcomes(steps) == ["fired", "fired"])
        }
    }

    /// By the web flow, as there is no other way to turn a connection on for the first time.
    private func turnOn(_ steps: IFTTTSteps, feature: String, trigger: String) async throws {
        let redirect = "https://app.example.test/callback"
        let url =
            "\(steps.sandbox.ifttt.origin)/access/api/Lg2Sp0ts?sdk_return_to=\(redirect)&sdk_version=2.8.0&sdk_platform=ios"
            + "&username=ada_l&skip_config=true"
        _ = try await steps.sandbox.activate(url, as: "ada@example.test")
        let area = #"{"lat":52.5,"lng":13.4,"radius":100,"address":"There","description":"There"}"#
        let answer = try await steps.send(
            "PUT", "/v2/connections/Lg2Sp0ts/user_connection", as: .ada,
            body: """
                {"user_features":[{"feature_id":"\(feature)","enabled":true,"user_fields":[],"user_feature_queries":[],
                "user_feature_actions":[],"user_feature_triggers":[{"feature_trigger_id":"\(trigger)","user_fields":[{"field_id":"location","value":\(area)}]}]}]}
                """)
        #expect([200, 204].contains(answer.status), "\(answer.outcome)")
    }

    @Test("S16: a record of a disabled, pending or unknown connection is accepted without effect")
    func ignored() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            #expect(try await steps.send("POST", IFTTTSteps.leaving + "/disable", as: .ada).status == 200)
            let sent = try steps.webhooks()
            let body = "[\(record("1")),\(record("2", of: "unknown"))]"
            #expect(try await steps.send("POST", Self.path, as: .ada, body: body).status == 204)
            #expect(try outcomes(steps) == ["not_enabled", "unknown_subscription"])
            #expect(try steps.webhooks() == sent)
            #expect(try await steps.send("POST", Self.path, as: .ada, body: "[]").status == 204)
        }
    }

    @Test(
        "S16: a record that is none refuses the whole list and does nothing",
        arguments: [
            ("{}", "400 malformed_request"), ("", "400 malformed_request"), ("[", "400 malformed_request"),
            (
                "[{}]",
                "422 invalid_parameters /0/record_id /0/region_type /0/occurred_at /0/event_type /0/channel_id"
                    + " /0/trigger_subscription_id /0/installation_id"
            ),
        ])
    func malformed(_ body: String, _ outcome: String) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            #expect(try await steps.send("POST", Self.path, as: .ada, body: body).outcome == outcome)
            let wrong = [
                (record(region: "beacon"), "region_type"), (record(event: "leave"), "event_type"),
                (record(channel: "941030000"), "channel_id"), (record(at: "2025-13-01T00:00:00Z"), "occurred_at"),
                (record(at: "2025-01-01 00:00:00Z"), "occurred_at"), (record(at: "2025-01-01T00:00:00"), "occurred_at"),
            ]
            for (json, member) in wrong {
                let answer = try await steps.send("POST", Self.path, as: .ada, body: "[\(record("1")),\(json)]")
                #expect(answer.outcome == "422 invalid_parameters /1/\(member)")
            }
            #expect(try outcomes(steps).isEmpty && steps.webhooks().isEmpty)
            for time in ["2025-01-01T00:00:00Z", "2025-01-01T02:00:00.123+02:00"] {
                #expect(
                    try await steps.send("POST", Self.path, as: .ada, body: "[\(record(time, at: time))]").status == 204
                )
            }
        }
    }

    @Test("S16: a user token is needed, and one that was revoked is none")
    func credentials() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            for caller in [IFTTTSteps.Caller.anonymous, .garden, .user("utk_unknown")] {
                let answer = try await steps.send("POST", Self.path, as: caller, body: "[\(record())]")
                #expect(answer.outcome == "401 unauthorized")
            }
            _ = sandbox.revokeUserToken()
            #expect(
                try await steps.send("POST", Self.path, as: .ada, body: "[\(record())]").outcome == "401 unauthorized")
            #expect(try outcomes(steps).isEmpty)
        }
    }
}
