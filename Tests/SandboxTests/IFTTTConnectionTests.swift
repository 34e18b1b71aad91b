import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The IFTTT stand-in: connections", .heavy)
struct IFTTTConnectionTests {
    @Test("S1: the dossier's example comes whole to the user who has it enabled")
    func example() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let answer = try await steps.send("GET", IFTTTSteps.leaving, as: .ada)
            #expect(answer.status == 200)
            #expect(answer.text("type") == "connection")
            #expect(answer.text("id") == "aB3dE5fG")
            #expect(answer.text("user_status") == "enabled")
            #expect(answer.number("enabled_count") == 41)
            #expect(answer.text("embedded_url") == sandbox.ifttt.origin + "/access/api/aB3dE5fG")
            #expect(answer["services.0.is_primary"] as? Bool == true)
            #expect(answer.text("services.1.brand_color") == "#0099ff")
            #expect(answer.text("features.0.feature_triggers.0.trigger_id") == "exit_region_location")
            #expect(answer["features.0.feature_triggers.0.run_url"] is NSNull)
            let area = "features.0.feature_triggers.0.fields.0.default_value"
            #expect(answer.number(area + ".lat") == 52.52)
            #expect(answer.number(area + ".radius") == 250)
            let own = "user_connection.user_features.0"
            #expect(answer.text(own + ".id") == "0d5b7a52-1f0c-4a7e-9c53-2f0f6a6f0001")
            let trigger = own + ".user_feature_triggers.0"
            #expect(answer.text(trigger + ".id") == "7c9d4f10-58a1-4b7b-8d3e-2f0f6a6f0002")
            #expect(answer.text(trigger + ".user_fields.0.field_type") == "LOCATION_EXIT")
            #expect(answer.number(trigger + ".user_fields.0.value.radius") == 180.5)
            #expect(answer.text(own + ".user_feature_actions.0.user_fields.0.value.value") == "zone-7")
        }
    }

    @Test(
        "S1: the status depends on who asks, and user_connection is there for enabled ones alone",
        arguments: [
            ("", nil, nil), ("utk_sandbox_ada", "enabled", 1), ("utk_sandbox_grace", "disabled", nil),
            ("utk_sandbox_alan", "enabled", 0), ("utk_sandbox_edsger", "never_enabled", nil),
            ("garden-1001", "enabled", 1), ("garden-1002", "disabled", nil), ("garden-1005", "never_enabled", nil),
            ("unknown-user", "never_enabled", nil),
        ] as [(String, String?, Int?)])
    func statuses(_ name: String, _ status: String?, _ configurations: Int?) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let answer: IFTTTAnswer
            if name.hasPrefix("utk") || name.isEmpty {
                answer = try await steps.send("GET", IFTTTSteps.leaving, as: name.isEmpty ? .anonymous : .user(name))
            } else {
                answer = try await steps.send("GET", IFTTTSteps.leaving + "?user_id=\(name)", as: .garden)
            }
            #expect(answer.status == 200)
            #expect(answer.text("user_status") == status)
            if status == nil { #expect(answer["user_status"] is NSNull) }
            #expect((answer["user_connection.user_features"] as? [Any])?.count == configurations)
        }
    }

    @Test(
        "S1 to S4: what is refused, in the shape of section 2.4",
        arguments: [
            ("GET", "/v2/connections/nothing1", "", "404 not_found"),
            ("GET", "/v2/connections/aB3dE5fG", "utk_unknown", "401 unauthorized"),
            ("GET", "/v2/connections/aB3dE5fG", "utk_sandbox_revoked", "401 unauthorized"),
            ("GET", "/v2/connections/aB3dE5fG", "utk_sandbox_ada_orchard", "403 forbidden"),
            ("GET", "/v2/connections/hIddEn06", "utk_sandbox_ada", "404 not_found"),
            ("GET", "/v2/connections/hIddEn06", "", "404 not_found"),
            ("GET", "/v2/connections/hIddEn06", "utk_sandbox_ada_orchard", "200"),
            ("POST", "/v2/connections/aB3dE5fG/disable", "", "401 unauthorized"),
            ("POST", "/v2/connections/aB3dE5fG/disable", "utk_unknown", "401 unauthorized"),
            ("POST", "/v2/connections/nothing1/disable", "utk_sandbox_ada", "404 not_found"),
            ("POST", "/v2/connections/aB3dE5fG/disable", "utk_sandbox_edsger", "404 not_found"),
            ("POST", "/v2/connections/aB3dE5fG/enable", "", "401 unauthorized"),
            ("POST", "/v2/connections/nothing1/enable", "utk_sandbox_ada", "404 not_found"),
            ("POST", "/v2/connections/aB3dE5fG/enable", "utk_sandbox_edsger", "404 not_found"),
            ("POST", "/v2/connections/mAnyFt05/enable", "utk_sandbox_grace", "422 invalid_parameters"),
            ("GET", "/v2/me", "utk_sandbox_revoked", "401 unauthorized"),
            ("GET", "/v2/nowhere", "", "404 not_found"), ("DELETE", "/v2/me", "", "404 not_found"),
        ])
    func refusals(_ method: String, _ target: String, _ token: String, _ outcome: String) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let answer = try await steps.send(method, target, as: token.isEmpty ? .anonymous : .user(token))
            #expect(answer.outcome == outcome)
            #expect(answer.wire["Content-Type"] == "application/json")
            #expect(try steps.webhooks().isEmpty)
        }
    }

    @Test("S1: a service key of another partner, an unknown one, and two credentials together are rejected")
    func keys() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let path = IFTTTSteps.leaving
            #expect(try await steps.send("GET", path, as: .partner("nope")).outcome == "401 unauthorized")
            #expect(
                try await steps.send("GET", path, as: .partner(IFTTTSteps.orchardKey)).outcome == "403 forbidden")
            let both = try await steps.send("GET", path, as: .ada, headers: ["IFTTT-Service-Key": IFTTTSteps.key])
            #expect(both.outcome == "401 unauthorized")
            let basic = try await steps.send("GET", path, headers: ["Authorization": "Basic dXRrOg=="])
            #expect(basic.outcome == "401 unauthorized")
        }
    }

    @Test("S1: an unpublished connection shows itself to the right invite code alone, until it is published")
    func inviteCode() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let path = "/v2/connections/hIddEn06"
            for (code, status) in [("orchard-invite-7", 200), ("orchard-invite-8", 404), ("", 404)] {
                let answer = try await steps.send("GET", path, headers: ["IFTTT-Invite-Code": code])
                #expect(answer.status == status, "\(code)")
            }
            #expect(sandbox.setPublished(true, serviceID: "quiet_orchard"))
            #expect(try await steps.send("GET", path).status == 200)
            #expect(try await steps.wire.send("POST", "/_sandbox/unpublish", body: "quiet_orchard").status == 204)
            #expect(try await steps.send("GET", path).status == 404)
            #expect(!sandbox.setPublished(true, serviceID: "unknown"))
        }
    }

    @Test("S2 and S3: disabling and enabling are idempotent, and the webhook goes out once for each change")
    func onAndOff() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            for (verb, status) in [
                ("disable", "disabled"), ("disable", "disabled"), ("enable", "enabled"), ("enable", "enabled"),
            ] {
                let answer = try await steps.send("POST", "\(IFTTTSteps.leaving)/\(verb)", as: .ada)
                #expect(answer.status == 200)
                #expect(answer.text("user_status") == status)
                #expect((answer["user_connection"] == nil) == (status == "disabled"))
                #expect(try await steps.send("GET", IFTTTSteps.leaving, as: .ada).text("user_status") == status)
            }
            #expect(try steps.webhooks() == ["connection/disabled", "connection/enabled"])
            let hook = try #require(try steps.log(.webhooks).first)
            let body = try #require(hook["body"] as? [String: Any])
            #expect(body["sent_at"] is NSNumber)
            let data = try #require(body["data"] as? [String: Any])
            #expect(data["connection_id"] as? String == "aB3dE5fG")
            #expect(data["user_id"] as? String == "garden-1001")
            #expect((data["user_timezone"] as? String)?.hasPrefix("Pacific Time") == true)
            let stamp = try #require((body["event_data"] as? [String: Any])?["disabled_at"] as? String)
            #expect(Int(stamp) != nil)
            #expect(try steps.log(.receivedWebhooks).count == 2)
        }
    }

    @Test("every fixture is a connection that keeps the dossier's shape", arguments: 0..<14)
    func fixtures(_ index: Int) async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let facts = try #require(sandbox.ifttt.connect)
            #expect(facts.connections.count == 14)
            let id = facts.connections[index].id
            let answer = try await steps.send(
                "GET", "/v2/connections/\(id)", headers: ["IFTTT-Invite-Code": "orchard-invite-7"])
            #expect(answer.status == 200)
            for name in ["id", "name", "description", "url"] { #expect(answer.text(name)?.isEmpty == false) }
            let services = answer.list("services")
            #expect(services.filter { $0["is_primary"] as? Bool == true }.count == 1)
            for service in services {
                for name in ["service_id", "service_name", "service_short_name", "monochrome_icon_url", "brand_color"] {
                    #expect((service[name] as? String)?.isEmpty == false)
                }
                let icon = try #require(service["monochrome_icon_url"] as? String)
                let image = try await steps.wire.send("GET", String(icon.dropFirst(sandbox.ifttt.origin.count)))
                #expect(image.status == (icon.contains("missing") ? 404 : 200))
                if image.status == 200 { #expect(image.body.prefix(4) == [0x89, 0x50, 0x4E, 0x47]) }
            }
            #expect(!answer.list("features").isEmpty)
        }
    }

    @Test("both spellings of coordinates, numbers as texts, and an unknown type are there")
    func oddities() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let areas = try await steps.send("GET", "/v2/connections/Lg2Sp0ts")
            let field = "feature_triggers.0.fields.0"
            #expect(areas.number("features.0.\(field).default_value.lat") == 52.52)
            #expect(areas.text("features.1.\(field).default_value.latitude") == "52.4900")
            #expect(areas.text("features.0.\(field).type") == "LOCATION_ENTER_OR_EXIT")
            #expect(areas.text("features.1.\(field).type") == "LOCATION_ENTER_AND_EXIT")
            let unknown = try await steps.send("GET", "/v2/connections/uNk0wnF1")
            #expect(unknown.text("features.0.fields.0.type") == "MOON_PHASE")
            let markup = try await steps.send("GET", "/v2/connections/mArkUp09")
            #expect(markup.text("name") == "<script>alert(1)</script> & \"Quotes\"")
            let iconless = try await steps.send("GET", "/v2/connections/nOicOn12")
            #expect(iconless["features.0.icon_url"] is NSNull)
        }
    }

    @Test("F107, F109: a calendar whose features have icons, and an area that is entered beside one that is left")
    func sample() async throws {
        try await withSandbox { sandbox in
            let steps = try IFTTTSteps(sandbox)
            let calendar = try await steps.send("GET", "/v2/connections/cAl3nDar")
            #expect(calendar.list("features").count == 2 && calendar.text("services.1.service_id") == "paper_calendar")
            for feature in calendar.list("features") {
                let icon = try #require(feature["icon_url"] as? String).dropFirst(sandbox.ifttt.origin.count)
                #expect(try await steps.wire.send("GET", String(icon)).status == 200)
            }
            let areas = try await steps.send("GET", "/v2/connections/aReAs2go")
            #expect(
                (0..<2).map { areas.text("features.\($0).feature_triggers.0.fields.0.type") }
                    == ["LOCATION_ENTER", "LOCATION_EXIT"])
        }
    }
}
