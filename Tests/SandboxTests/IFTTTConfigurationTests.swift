import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The IFTTT stand-in: configuration", .heavy)
struct IFTTTConfigurationTests {
    @Test(
        "S8: options come for triggers, queries, actions and features, also in the nested form",
        arguments: [
            ("/actions/lumen_garden.start_drip", "200 pace,zone"), ("/features/ft40", "200 season"),
            ("/features/ft40/actions/lumen_garden.start_drip", "200 pace,zone"),
            ("/queries/lumen_garden.list_readings", "200 plant"), ("/triggers/skylark_weather.sunrise", "200 "),
            ("/features/ft41/actions/lumen_garden.start_drip", "404 not_found"),
            ("/actions/lumen_garden.nothing", "404 not_found"), ("/gadgets/lumen_garden.start_drip", "404 not_found"),
            ("/features/ft99", "404 not_found"),
        ])
    func options(_ part: String, _ expected: String) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            for caller in [IFTTTSteps.Caller.garden, .ada] {
                let answer = try await steps.send(
                    "GET", "\(IFTTTSteps.many)\(part)/field_options?user_id=garden-1001", as: caller)
                let names = (answer["options"] as? [String: Any])?.keys.sorted().joined(separator: ",")
                #expect((names.map { "\(answer.status) \($0)" } ?? answer.outcome) == expected)
            }
        }
    }

    @Test("S8: an option has a label, a value and a group; every address in the connection leads to options")
    func optionShape() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let connection = try await steps.send("GET", IFTTTSteps.leaving, as: .ada)
            let url = try #require(connection.text("features.0.feature_actions.0.field_options_url"))
            let path = String(url.dropFirst(sandbox.ifttt.origin.count))
            let answer = try await steps.send("GET", path, as: .ada)
            #expect(answer.text("type") == "field_options")
            #expect(answer.text("options.zone.0.label") == "Balcony")
            #expect(answer["options.zone.0.group"] is NSNull)
            #expect(answer.text("options.zone.1.group") == "Upstairs")
            #expect(try await steps.send("GET", path).outcome == "401 unauthorized")
            #expect(
                try await steps.send("GET", path, as: .garden).outcome == "422 invalid_parameters /user_id")
            #expect(
                try await steps.send("GET", path + "?user_id=garden-1004", as: .garden).outcome == "404 not_found")
        }
    }

    private static let update = """
        {"user_features":[{"feature_id":"ft01","enabled":true,"user_fields":[],
         "user_feature_triggers":[{"feature_trigger_id":"tr01","user_fields":[{"field_id":"location",
           "value":{"lat":52.52,"lng":13.405,"radius":200,"address":"Sample Square 1"}}]}],
         "user_feature_queries":[],"user_feature_actions":[{"feature_action_id":"ac01",
           "user_fields":[{"field_id":"zone","value":"zone-9"}]}]}]}
        """

    @Test("S9: an update replaces everything, keeps ids, stores labels and ends a pending state")
    func replacement() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let path = IFTTTSteps.leaving + "/user_connection"
            let answer = try await steps.send("PUT", path + "?user_id=garden-1001", as: .garden, body: Self.update)
            #expect(answer.status == 200)
            let again = try await steps.send("GET", IFTTTSteps.leaving, as: .ada)
            let own = "user_connection.user_features.0"
            #expect(again.text(own + ".id") == "0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0001")
            let trigger = own + ".user_feature_triggers.0"
            #expect(again.text(trigger + ".id") == "7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0002")
            #expect(again.number(trigger + ".user_fields.0.value.radius") == 200)
            let zone = own + ".user_feature_actions.0.user_fields.0.value"
            #expect(again.text(zone + ".label") == "Roof")
            #expect(again.text(zone + ".group") == "Upstairs")
            let alan = IFTTTSteps.Caller.user("utk_sandbox_alan")
            let run = IFTTTSteps.leaving + "/actions/lumen_garden.start_drip/run"
            let body = #"{"user_id":"garden-1003"}"#
            #expect(try await steps.send("POST", run, as: .garden, body: body).outcome == "403 forbidden")
            #expect(try await steps.send("PUT", path, as: alan, body: Self.update).status == 200)
            #expect(try await steps.send("POST", run, as: .garden, body: body).status == 204)
            #expect(try steps.webhooks() == ["connection/updated", "connection/updated"])
            let empty = try await steps.send("PUT", path, as: .ada, body: #"{"user_features":[]}"#)
            #expect((empty["user_connection.user_features"] as? [Any])?.isEmpty == true)
        }
    }

    @Test(
        "S9: what cannot be stored is 422 with a pointer to it, and nothing changes",
        arguments: [
            ("zone-9", "zone-1", "/user_features/0/user_feature_actions/0/user_fields/0/value"),
            ("\"lat\":52.52", "\"lat\":91", "/user_features/0/user_feature_triggers/0/user_fields/0/value/lat"),
            ("\"lng\":13.405", "\"lng\":\"x\"", "/user_features/0/user_feature_triggers/0/user_fields/0/value/lng"),
            ("200", "-1", "/user_features/0/user_feature_triggers/0/user_fields/0/value/radius"),
            ("\"ft01\"", "\"ft02\"", "/user_features/0/feature_id"), ("true", "\"yes\"", "/user_features/0/enabled"),
            ("\"tr01\"", "\"tr02\"", "/user_features/0/user_feature_triggers/0/feature_trigger_id"),
            ("\"zone\"", "\"pace\"", "/user_features/0/user_feature_actions/0/user_fields/0/field_id"),
            ("\"user_features\"", "\"features\"", "/user_features"),
        ])
    func refused(_ part: String, _ replacement: String, _ pointer: String) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let body = Self.update.replacingOccurrences(of: part, with: replacement)
            let answer = try await steps.send("PUT", IFTTTSteps.leaving + "/user_connection", as: .ada, body: body)
            #expect(answer.status == 422)
            #expect(answer.list("details").first?["parameter"] as? String == pointer)
            #expect((answer.list("details").first?["message"] as? String)?.isEmpty == false)
            let again = try await steps.send("GET", IFTTTSteps.leaving, as: .ada)
            #expect(
                again.number("user_connection.user_features.0.user_feature_triggers.0.user_fields.0.value.radius")
                    == 180.5)
            #expect(try steps.webhooks().isEmpty)
        }
    }

    @Test(
        "S9 to S11: who may not",
        arguments: [
            ("PUT", "/user_connection", "", "401 unauthorized"), ("PUT", "/user_connection", "edsger", "404 not_found"),
            ("PUT", "/user_connection", "grace", "404 not_found"),
            ("POST", "/user_connection/refresh?user_id=garden-1001", "ada", "401 unauthorized"),
            ("POST", "/user_connection/refresh?user_id=garden-1004", "key", "404 not_found"),
            ("POST", "", "", "401 unauthorized"), ("POST", "", "key", "422 invalid_parameters /user_id"),
            ("POST", "", "edsger", "404 not_found"),
        ])
    func forbidden(_ method: String, _ tail: String, _ who: String, _ outcome: String) async throws {
        try await withSandbox { sandbox in
            let caller: IFTTTSteps.Caller =
                who.isEmpty ? .anonymous : who == "key" ? .garden : .user("utk_sandbox_\(who)")
            let answer = try await IFTTTSteps(sandbox).send(
                method, IFTTTSteps.leaving + tail, as: caller, body: Self.update)
            #expect(answer.outcome == outcome)
        }
    }

    @Test("S10: labels that are out of date are renewed")
    func labels() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let label = "user_connection.user_features.0.user_feature_actions.0.user_fields.0.value.label"
            #expect(try await steps.send("GET", IFTTTSteps.many, as: .ada).text(label) == "Old balcony")
            let answer = try await steps.send(
                "POST", IFTTTSteps.many + "/user_connection/refresh?user_id=garden-1001", as: .garden)
            #expect(answer.status == 204)
            #expect(try await steps.send("GET", IFTTTSteps.many, as: .ada).text(label) == "Balcony")
        }
    }

    private static func services(_ more: String = "") -> String {
        """
        {"user_id":"garden-1001"\(more),"services":[{"service_id":"location","triggers":[{"id":"exit_region_location",
        "user_triggers":[{"fields":[{"id":"location","value":{"lat":"48.1","lng":"11.5","radius":"90"}}]}]}]}]}
        """
    }

    @Test("S11: the deprecated update changes the fields that it names, with an empty answer, for token and key")
    func deprecated() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            for caller in [IFTTTSteps.Caller.ada, .garden] {
                let answer = try await steps.send("POST", IFTTTSteps.leaving, as: caller, body: Self.services())
                #expect(answer.status == 200)
                #expect(answer.wire.body.isEmpty)
            }
            let own = "user_connection.user_features.0"
            let again = try await steps.send("GET", IFTTTSteps.leaving, as: .ada)
            #expect(again.number(own + ".user_feature_triggers.0.user_fields.0.value.lat") == 48.1)
            #expect(again.text(own + ".user_feature_triggers.0.id") == "7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0002")
            #expect(again.text(own + ".user_feature_actions.0.user_fields.0.value.value") == "zone-7")
        }
    }

    @Test("S11: an attempt to change anything else is 422 with pointers")
    func deprecatedRefused() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let name = try await steps.send(
                "POST", IFTTTSteps.leaving, as: .ada, body: Self.services(#","name":"Mine","a/b~c":1"#))
            #expect(name.outcome == "422 invalid_parameters /a~1b~0c /name")
            let bad = try await steps.send(
                "POST", IFTTTSteps.leaving, as: .ada,
                body: Self.services().replacingOccurrences(of: "exit_region", with: "enter_region"))
            #expect(bad.outcome == "422 invalid_parameters /services/0/triggers/0/id")
        }
    }
}
