import JSONFixtures
import OAuth
import Testing

@testable import HandshakeServer

@Suite("Webhooks that are wrong")
struct BadWebhookTests {
    private static let content = """
        { "sent_at": 1735689600000, "data": { "connection_id": "aB3dE5fG", "user_id": "garden-1001",
          "user_timezone": "Berlin", "trigger_id": "location.exit_region_location", "feature_id": "ft01",
          "user_feature_id": "uf1", "user_feature_trigger_id": "ut1" },
          "event_data": { "ingredients": { "Label": "You left" }, "enabled_at": "1735689599000" } }
        """
    private static let events = [
        ("connection", "enabled"), ("connection", "updated"), ("connection", "disabled"),
        ("trigger_subscription", "fired"), ("connection", "renamed"),
    ]

    private func problem(_ text: String, _ event: (String, String)) -> WebhookProblem? {
        do throws(WebhookProblem) {
            _ = try ConnectWebhook(Array(text.utf8), type: event.0, name: event.1, requestID: "id-1")
            return nil
        } catch {
            return error
        }
    }

    @Test("2.11: what has to be there is named when it is not; the rest may be anything", arguments: events)
    func members(event: (String, String)) throws {
        let spoiled = try SpoiledJSON(Self.content)
        #expect(problem(spoiled.text, event) == nil)
        var required: Set = ["/sent_at", "/data", "/data/connection_id", "/data/user_id"]
        if event.1 == "fired" { required.insert("/data/trigger_id") }
        for place in spoiled.places {
            for value in place.wrongValues.map(Optional.some) + [nil] {
                let found = problem(spoiled.replacing(place, with: value), event)?.pointer
                let expected = required.contains(place.pointer) ? place.pointer : nil
                #expect(found == expected, "\(place.pointer) as \(String(describing: value))")
            }
        }
    }

    @Test("a trigger's identifier is a service and a name", arguments: ["", "leave", ".leave", "location."])
    func slugs(text: String) {
        let content = Self.content.replacing("location.exit_region_location", with: text)
        #expect(problem(content, ("trigger_subscription", "fired"))?.pointer == "/data/trigger_id")
    }

    @Test("cut short at any byte, doubled or nested without end it is no webhook", arguments: events)
    func structure(event: (String, String)) throws {
        let spoiled = try SpoiledJSON(Self.content)
        for text in spoiled.cutShort + spoiled.doubled + [spoiled.adding(SpoiledJSON.nested(100_000)), "[]", "null"] {
            #expect(problem(text, event)?.pointer == "", "\(text.prefix(80))")
        }
        #expect(problem(spoiled.adding("\"" + String(repeating: "x", count: 1_000_000) + "\""), event) == nil)
    }

    @Test(
        "a time is a number of milliseconds that is one, also in a string",
        arguments: ["\"x\"", "\"nan\"", "\"inf\"", "\"0x10\"", "\" 1\"", "1e400", "-1", "\"\"", "[]"])
    func times(text: String) {
        let content = Self.content.replacing("1735689600000", with: text)
        #expect(problem(content, ("connection", "enabled"))?.pointer == "/sent_at")
    }
}
