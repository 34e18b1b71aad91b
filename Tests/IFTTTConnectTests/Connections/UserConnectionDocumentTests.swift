import IFTTTConnect
import JSONFixtures
import OAuth
import Testing

@Suite("A hand-written configuration")
struct UserConnectionDocumentTests {
    private static let content = """
        { "user_features": [ { "feature_id": "ft01", "enabled": true,
          "user_fields": [ { "field_id": "name", "value": "Ada" } ],
          "user_feature_triggers": [ { "feature_trigger_id": "tr01",
            "user_fields": [ { "field_id": "location", "value": { "lat": 52.52, "lng": 13.405, "radius": 200 } } ] } ],
          "user_feature_queries": [ { "feature_query_id": "qu01" } ],
          "user_feature_actions": [ { "feature_action_id": "ac01",
            "user_fields": [ { "field_id": "zone", "value": "zone-7" } ] } ] } ] }
        """
    /// What may be left out, and is of its kind where it is there.
    private static let lists = ["user_fields", "user_feature_triggers", "user_feature_queries", "user_feature_actions"]
    private static let texts = [
        "user_features", "feature_id", "enabled", "field_id", "feature_trigger_id", "feature_query_id",
        "feature_action_id", "lat", "lng",
    ]

    private func read(_ text: String) throws(ConnectError) -> UserConnection {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: Array(text.utf8))
        } catch {
            throw ConnectError.input(member: "", problem: "\(error)")
        }
        return try UserConnection(document: value)
    }

    @Test("2.9: it is read whole")
    func whole() throws {
        let feature = try #require(try read(Self.content).features.first)
        #expect(feature.isEnabled && feature.fields == [.init(id: "name", value: .text("Ada"))])
        #expect(feature.triggers.map(\.componentID) == ["tr01"] && feature.queries.map(\.componentID) == ["qu01"])
        #expect(feature.actions.first?.fields == [.init(id: "zone", value: .text("zone-7"))])
    }

    @Test("it would replace everything: what cannot be read is named, and nothing is left out in silence")
    func members() throws {
        let spoiled = try SpoiledJSON(Self.content)
        for place in spoiled.places {
            let name = "\(place)"
            let last = String(name.split(separator: ".").last ?? "")
            for value in place.wrongValues.map(Optional.some) + (place.isMember ? [nil] : []) {
                let isWrong =
                    if last == "value" {
                        value == nil || value == .null
                    } else if last == "radius" {
                        value != nil && value != .null
                    } else if Self.lists.contains(last) {
                        value != nil
                    } else {
                        Self.texts.contains(last) || !place.isMember
                    }
                do throws(ConnectError) {
                    _ = try read(spoiled.replacing(place, with: value))
                    #expect(!isWrong, "\(name) as \(String(describing: value)) was read")
                } catch {
                    guard case .input(let member, _) = error else { throw error }
                    #expect(isWrong && member.hasPrefix(name), "\(name) as \(String(describing: value)): \(error)")
                }
            }
        }
    }

    @Test(
        "a member that is not of this form is named: a mistyped list would take with it what the user has chosen",
        arguments: [
            ("\"user_features\"", "\"user_feature\": [], \"user_features\"", "user_feature"),
            ("\"feature_id\"", "\"feature\": 1, \"feature_id\"", "user_features[0].feature"),
            ("\"user_feature_actions\"", "\"user_feature_action\"", "user_features[0].user_feature_action"),
            (
                "\"feature_query_id\"", "\"fields\": [], \"feature_query_id\"",
                "user_features[0].user_feature_queries[0].fields"
            ),
            (
                "\"zone-7\"", "\"zone-7\", \"label\": 1",
                "user_features[0].user_feature_actions[0].user_fields[0].label"
            ),
        ])
    func strangers(before: String, after: String, member: String) throws {
        let text = Self.content.replacing(before, with: after, maxReplacements: 1)
        do throws(ConnectError) {
            _ = try read(text)
            Issue.record("\(member) was read")
        } catch {
            guard case .input(member, _) = error else { throw error }
        }
    }

    @Test(
        "nothing of a place is dropped, and no place is stored that is none",
        arguments: [
            ("\"radius\"", "\"raduis\"", "raduis"), ("200", "\"wide\"", "radius"), ("200", "0", "radius"),
            ("52.52", "91", "lat"), ("13.405", "-180.5", "lng"), ("\"lng\": 13.405, ", "", "lng"),
            ("200", "200, \"address\": 7", "address"),
        ])
    func places(before: String, after: String, member: String) throws {
        do throws(ConnectError) {
            _ = try read(Self.content.replacing(before, with: after, maxReplacements: 1))
            Issue.record("\(member) was read")
        } catch {
            let place = "user_features[0].user_feature_triggers[0].user_fields[0].value."
            guard case .input(let named, _) = error, named == place + member else { throw error }
        }
    }

    @Test("identifiers and types, as an answer has them, may stay; what is written of it is read again the same")
    func again() throws {
        let answered = Self.content.replacing("\"enabled\"", with: "\"id\": \"u1\", \"enabled\"")
            .replacing("\"value\"", with: "\"field_type\": \"TEXT_FIELD\", \"value\"")
        let configuration = try read(answered)
        #expect(configuration.features.first?.id == "u1")
        #expect(try UserConnection(document: configuration.document) == read(Self.content))
    }

    @Test("what is no object is refused", arguments: ["[]", "null", "1", "\"\"", "{}"])
    func noObject(text: String) {
        let expected = ConnectError.input(
            member: "user_features", problem: "expected an object with a list of this name")
        #expect(throws: expected) { try read(text) }
    }
}
