import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The IFTTT stand-in: running, events, notifications", .heavy)
struct IFTTTRunTests {
    private static let run = "/actions/lumen_garden.start_drip/run"
    private static let list = "/queries/lumen_garden.list_plants/perform"
    private static let test = "/triggers/skylark_weather.sunrise/test"

    @Test("S12: an action runs with the first configuration, one that is named, and fields that override")
    func actions() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            for body in [
                #"{"user_id":"garden-1001"}"#, #"{"user_id":"garden-1001","fields":{"zone":"zone-9"}}"#,
                #"{"user_id":"garden-1001","user_feature_id":"0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0011"}"#,
            ] {
                let answer = try await steps.send("POST", IFTTTSteps.many + Self.run, as: .garden, body: body)
                #expect(answer.status == 204)
                #expect(answer.wire.body.isEmpty)
            }
            let zones = try steps.log(.runs).map { ($0["fields"] as? [String: Any])?["zone"] as? String }
            #expect(zones == ["zone-7", "zone-9", "zone-7"])
            let again = try await steps.send("GET", IFTTTSteps.many, as: .ada)
            let zone = "user_connection.user_features.0.user_feature_actions.0.user_fields.0.value.value"
            #expect(again.text(zone) == "zone-7")
        }
    }

    @Test(
        "S12 to S14: what is refused, each for its own reason",
        arguments: [run, list, test].flatMap { path in
            [
                (path, #"{"user_id":"garden-1003"}"#, "403 forbidden"),
                (path, #"{"user_id":"garden-1004"}"#, "404 not_found"),
                (path, #"{"user_id":"garden-1002"}"#, "404 not_found"),
                (path, "{}", "422 invalid_parameters /user_id"),
                (path, "[]", "400 malformed_request"),
                (
                    path, #"{"user_id":"garden-1001","user_feature_id":"0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0021"}"#,
                    "422 invalid_parameters /user_feature_id"
                ),
                (
                    path, #"{"user_id":"garden-1001","fields":{"a/b":1}}"#, "422 invalid_parameters /fields/a~1b"
                ),
                (path.replacingOccurrences(of: ".", with: ".x"), #"{"user_id":"garden-1001"}"#, "404 not_found"),
            ]
        } + [
            (run, #"{"user_id":"garden-1001","fields":{"zone":"Balcony"}}"#, "422 invalid_parameters /fields/zone"),
            (list, #"{"user_id":"garden-1001","limit":0}"#, "422 invalid_parameters /limit"),
            (list, #"{"user_id":"garden-1001","limit":"many"}"#, "422 invalid_parameters /limit"),
            (list, #"{"user_id":"garden-1001","cursor":"row-7"}"#, "422 invalid_parameters /cursor"),
            (list, #"{"user_id":"garden-1001","includes":"Readings"}"#, "422 invalid_parameters /includes"),
            ("/actions/lumen_garden.ring_broken_bell/run", #"{"user_id":"garden-1001"}"#, "502 downstream_failed"),
        ])
    func refusals(_ path: String, _ body: String, _ outcome: String) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let answer = try await steps.send("POST", IFTTTSteps.many + path, as: .garden, body: body)
            #expect(answer.outcome == outcome)
            for caller in [IFTTTSteps.Caller.anonymous, .ada] {
                let other = try await steps.send("POST", IFTTTSteps.many + path, as: caller, body: body)
                #expect(other.outcome == "401 unauthorized")
            }
            #expect(try steps.log(.runs).isEmpty && steps.webhooks().isEmpty)
        }
    }

    @Test("S13: a query comes in pages until there is no next")
    func pages() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            var names: [String] = []
            var cursor: String?
            var pages = 0
            repeat {
                let more = cursor.map { #","cursor":"\#($0)""# } ?? ""
                let answer = try await steps.send(
                    "POST", IFTTTSteps.many + Self.list, as: .garden,
                    body: #"{"user_id":"garden-1001","limit":3\#(more)}"#)
                #expect(answer.text("type") == "list")
                names += answer.list("data").compactMap { $0["PlantName"] as? String }
                cursor = answer.text("next.cursor")
                #expect((answer["next.fields"] != nil) == (cursor != nil))
                pages += 1
            } while cursor != nil && pages < 10
            #expect(names == ["Basil", "Chives", "Dill", "Fennel", "Lovage", "Mint", "Parsley"])
            #expect(pages == 3)
        }
    }

    @Test(
        "S13: a limit beyond a page's length asks for no more than a page, and is not refused",
        arguments: [50, 51, 1000])
    func longLimit(_ limit: Int) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let answer = try await steps.send(
                "POST", IFTTTSteps.many + Self.list, as: .garden, body: #"{"user_id":"garden-1001","limit":\#(limit)}"#)
            #expect(answer.list("data").count == 7 && answer["next"] == nil)
        }
    }

    @Test("S13: a complex ingredient is a query to drill down with, or a list when it is included")
    func drillDown() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let path = IFTTTSteps.many + Self.list
            let short = try await steps.send("POST", path, as: .garden, body: #"{"user_id":"garden-1001","limit":1}"#)
            #expect(short.text("data.0.Readings.type") == "query")
            let plant = try #require(short.text("data.0.Readings.fields.plant"))
            let full = try await steps.send(
                "POST", path, as: .garden, body: #"{"user_id":"garden-1001","limit":1,"includes":["Readings"]}"#)
            #expect(full.text("data.0.Readings.type") == "list")
            let drilled = try await steps.send(
                "POST", IFTTTSteps.many + "/queries/lumen_garden.list_readings/perform", as: .garden,
                body: #"{"user_id":"garden-1001","fields":{"plant":"\#(plant)"}}"#)
            let nested = full["data.0.Readings.data"] as? NSArray
            #expect(nested != nil && nested == drilled["data"] as? NSArray)
        }
    }

    @Test(
        "S12, S13, S14: what is broken behind the service is 502, with nothing sent and nothing logged",
        arguments: [
            "actions/lumen_garden.ring_broken_bell/run", "queries/lumen_garden.read_broken_meter/perform",
            "triggers/lumen_garden.broken_bell_rings/test",
        ])
    func downstream(_ target: String) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let body = #"{"user_id":"garden-1001"}"#
            let answer = try await steps.send("POST", "\(IFTTTSteps.many)/\(target)", as: .garden, body: body)
            #expect(answer.outcome.hasPrefix("502 "))
            #expect(try steps.log(.runs).isEmpty && steps.webhooks().isEmpty)
            let stranger = #"{"user_id":"garden-1004"}"#
            let refused = try await steps.send("POST", "\(IFTTTSteps.many)/\(target)", as: .garden, body: stranger)
            #expect(refused.status == 404)
        }
    }

    @Test("S14: a test sends the trigger's webhook with the ids of the configuration")
    func trigger() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let answer = try await steps.send(
                "POST", IFTTTSteps.leaving + "/triggers/location.exit_region_location/test", as: .garden,
                body: #"{"user_id":"garden-1001"}"#)
            #expect(answer.status == 204)
            let hook = try #require(try steps.log(.receivedWebhooks).first)
            #expect(hook["path"] as? String == "/ifttt/v1/webhooks/trigger_subscription/fired")
            let body = try #require(hook["body"] as? [String: Any])
            let data = try #require(body["data"] as? [String: Any])
            #expect(data["trigger_id"] as? String == "location.exit_region_location")
            #expect(data["feature_id"] as? String == "ft01")
            #expect(data["user_feature_id"] as? String == "0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0001")
            #expect(data["user_feature_trigger_id"] as? String == "7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0002")
            #expect((body["event_data"] as? [String: Any])?["ingredients"] is [String: Any])
        }
    }

    @Test("S15: events without a token are kept as they came; others are 422 with pointers")
    func events() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let event = """
                {"name":"sdk.impression","timestamp":"1735689600123","properties":{"location_type":"connect_button",
                "location_id":"Garden App","object_type":"connection","object_id":"aB3dE5fG"}}
                """
            let headers = [
                "IFTTT-SDK-Version": "2.8.0", "IFTTT-SDK-Platform": "ios",
                "IFTTT-SDK-Anonymous-Id": "6F1C0E0A-1111-4222-8333-444455556666",
            ]
            let answer = try await steps.send(
                "POST", "/v2/sdk/events", headers: headers, body: #"{"events":[\#(event)]}"#)
            #expect(answer.status == 204)
            let kept = try #require(try steps.log(.analytics).first)
            #expect(kept["name"] as? String == "sdk.impression")
            #expect((kept["properties"] as? [String: Any])?["object_id"] as? String == "aB3dE5fG")
            #expect(sandbox.requests(.ifttt).last?.clientFields == headers)
            let bad = try await steps.send(
                "POST", "/v2/sdk/events", body: #"{"events":[\#(event),{"timestamp":1735689600123}]}"#)
            #expect(
                bad.outcome == "422 invalid_parameters /events/1/name /events/1/timestamp /events/1/properties")
            #expect(try await steps.send("POST", "/v2/sdk/events", body: "{}").status == 422)
            #expect(try steps.log(.analytics).count == 1)
        }
    }

    @Test(
        "S17: 1 to 1000 hints of either kind are taken from a partner",
        arguments: [
            (1, "200"), (1000, "200"), (0, "422 invalid_parameters /data"), (1001, "422 invalid_parameters /data"),
        ])
    func notifications(_ count: Int, _ outcome: String) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let data = Array(repeating: #"{"user_id":"garden-1001"}"#, count: count).joined(separator: ",")
            let body = #"{"data":[\#(data)]}"#
            #expect(try await steps.send("POST", "/v1/notifications", as: .garden, body: body).outcome == outcome)
            #expect(try steps.log(.notifications).count == (outcome == "200" ? count : 0))
            #expect(try await steps.send("POST", "/v1/notifications", body: body).outcome == "401 unauthorized")
            let both = #"{"data":[{"user_id":"a","trigger_identity":"b"},{"trigger_identity":"c"},{}]}"#
            #expect(
                try await steps.send("POST", "/v1/notifications", as: .garden, body: both).outcome
                    == "422 invalid_parameters /data/0 /data/2")
        }
    }
}
