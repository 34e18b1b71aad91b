import Foundation
import HTTPTypes
import Handshake
import IFTTTConnect
import OAuth
import TestFixtures
import Testing

@Suite("Calls of an app")
struct ConnectAPITests {
    private let path = "/v2/connections/aB3dE5fG"

    private func id() throws -> ConnectionID { try ConnectionID(Balcony.id) }

    @Test("F062, F077, F078: a connection is fetched with the headers of 2.2")
    func fetch() async throws {
        let ifttt = ScriptedIFTTT(["GET \(path)": [.json(Balcony.json())]])
        let token = try token()
        let caller = ConnectAPI.Caller(
            userToken: { token }, inviteCode: { Secret("inv-1") },
            anonymousID: { AnonymousID(rawValue: "6F1C0E0A-1111-4222-8333-444455556666") })
        let connection = try await ifttt.api(caller).connection(try id())
        #expect(connection == (try Balcony.connection()))
        let request = try #require(ifttt.requests.first)
        #expect(request.header("Accept") == "application/json")
        #expect(request.header("Authorization") == "Bearer utk_sandbox_9f2c")
        #expect(request.header("IFTTT-Invite-Code") == "inv-1")
        #expect(request.header("IFTTT-SDK-Version") == "2.8.0" && request.header("IFTTT-SDK-Platform") == "ios")
        #expect(request.header("IFTTT-SDK-Anonymous-Id") == "6F1C0E0A-1111-4222-8333-444455556666")
        #expect(request.header("IFTTT-Service-Key") == nil)
    }

    @Test("W24, W25: without consent no identifier is sent, and the version is never empty")
    func anonymous() async throws {
        let ifttt = ScriptedIFTTT(["GET \(path)": [.json(Balcony.json(status: "null", userConnection: nil))]])
        #expect(try await ifttt.api().connection(try id()).status == .unknown)
        let request = try #require(ifttt.requests.first)
        for name in ["Authorization", "IFTTT-Invite-Code", "IFTTT-SDK-Anonymous-Id"] {
            #expect(request.header(name) == nil)
        }
        #expect(request.header("IFTTT-SDK-Version") == "2.8.0")
    }

    @Test("F004, 12: a fetch is tried again after 2, 4 and 8 seconds, and then given up with the last reason")
    func backoff() async throws {
        let ifttt = ScriptedIFTTT(["GET \(path)": [.status(500), .lost, .unreachable, .status(503)]])
        let clock = HurriedClock()
        let error = await connectError { try await ifttt.api(clock: clock).connection(try id()) }
        #expect(error == .service(.init(status: 503)))
        #expect(clock.pauses == [.seconds(2), .seconds(4), .seconds(8)] && ifttt.requests.count == 4)
    }

    @Test("a pause that the service asks for is kept, one that is too long is left to the caller")
    func retryAfter() async throws {
        let patient = ScriptedIFTTT([
            "GET \(path)": [.status(429, retryAfter: "30"), .status(503, retryAfter: "1"), .json(Balcony.json())]
        ])
        let clock = HurriedClock()
        _ = try await patient.api(clock: clock).connection(try id())
        #expect(clock.pauses == [.seconds(30), .seconds(4)])
        let busy = ScriptedIFTTT(["GET \(path)": [.status(429, retryAfter: "31"), .json(Balcony.json())]])
        let error = try #require(await connectError { try await busy.api().connection(try id()) })
        #expect(error.problemKind == .tooManyRequests && busy.requests.count == 1)
        #expect(error == .service(.init(status: 429, retryAfter: 31)) && "\(error)".hasSuffix(" Wait 31 seconds."))
        // A user waits for the answer.
        let waited = ScriptedIFTTT(["GET /v2/me": [.status(429, retryAfter: "3"), .json("{}")]])
        #expect(await connectError { try await waited.api().me() }?.problemKind == .tooManyRequests)
    }

    @Test("a time that the service names is waited for as its seconds are")
    func time() async throws {
        let near = ScriptedIFTTT([
            "GET \(path)": [.status(503, retryAfter: "Sun, 06 Nov 1994 08:50:00 GMT"), .json(Balcony.json())]
        ])
        let clock = HurriedClock()
        _ = try await near.api(clock: clock).connection(try id())
        #expect(clock.pauses == [.seconds(23)])
    }

    @Test(
        "a Retry-After beyond the longest pause ends the fetch immediately, in seconds or as a date, and is reported",
        arguments: [
            ("172800", 172_800), ("99999999999999999999", Int(Int32.max)), ("Tue, 08 Nov 1994 08:49:37 GMT", 172_800),
        ])
    func beyondDeadline(_ text: String, _ seconds: Int) async throws {
        let ifttt = ScriptedIFTTT(["GET \(path)": [.status(429, retryAfter: text), .json(Balcony.json())]])
        let error = await connectError { try await ifttt.api().connection(try id()) }
        #expect(error == .service(.init(status: 429, retryAfter: seconds)) && ifttt.requests.count == 1)
    }

    @Test("a wish that cannot be read is none", arguments: ["", "-1", "+5", "1.5", "soon"])
    func noWish(_ text: String) async throws {
        let ifttt = ScriptedIFTTT(["GET \(path)": [.status(429, retryAfter: text), .json(Balcony.json())]])
        let clock = HurriedClock()
        _ = try await ifttt.api(clock: clock).connection(try id())
        #expect(clock.pauses == [.seconds(2)])
    }

    @Test(
        "W6, W12: permanent errors are reported immediately, by status and content",
        arguments: [
            (401, ConnectError.Problem.Kind.unauthorized), (403, .forbidden), (404, .notFound),
            (400, .malformedRequest), (422, .invalidParameters), (302, .other), (418, .other),
        ])
    func statuses(_ status: Int, _ kind: ConnectError.Problem.Kind) async throws {
        let ifttt = ScriptedIFTTT(["GET \(path)": [.status(status)]])
        let error = await connectError { try await ifttt.api().connection(try id()) }
        #expect(error?.problemKind == kind && ifttt.requests.count == 1)
    }

    @Test("2.4, F077: the service's code, message and pointers are kept")
    func problem() async throws {
        let body = """
            { "type": "error", "code": "invalid_parameters", "message": "Some parameters cannot be used",
              "details": [ { "parameter": "/fields/zone", "message": "Choose a value offered by field options" } ] }
            """
        let ifttt = ScriptedIFTTT(["PUT \(path)/user_connection": [.json(body, status: 422)]])
        let error = await connectError { try await ifttt.api().update(try id(), to: UserConnection(features: [])) }
        let expected = ConnectError.Problem(
            status: 422, code: "invalid_parameters", message: "Some parameters cannot be used",
            details: [.init(parameter: "/fields/zone", message: "Choose a value offered by field options")])
        #expect(error == .service(expected) && error?.code == "invalid_parameters")
        #expect("\(try #require(error))".contains("/fields/zone: Choose a value"))
    }

    @Test("a status of success with an error in it, and an error with a connection in it, are both failures")
    func contradictions() async throws {
        let error = #"{ "type": "error", "code": "not_found", "message": "No connection has this id", "details": [] }"#
        let one = ScriptedIFTTT(["GET \(path)": [.json(error)]])
        #expect(await connectError { try await one.api().connection(try id()) }?.code == "malformed_answer")
        let other = ScriptedIFTTT(["GET \(path)": [.json(Balcony.json(), status: 404)]])
        #expect(await connectError { try await other.api().connection(try id()) }?.problemKind == .notFound)
    }

    @Test("what an error says is made harmless, and tokens in it are hidden")
    func harmless() async throws {
        let secret = "utk_0123456789abcdefghij0123456789"
        let body = "{\"code\":\"x\\u001b[31m\",\"message\":\"token \(secret) is bad\\u202e\"}"
        let ifttt = ScriptedIFTTT(["GET \(path)": [.json(body, status: 401)]])
        let text = "\(try #require(await connectError { try await ifttt.api().connection(try id()) }))"
        #expect(!text.contains(secret) && !text.contains("\u{1B}") && !text.contains("\u{202E}"))
    }

    @Test("F077: codes and pointers are names, and told as they are but for what steers a terminal")
    func names() async throws {
        let body = """
            { "code": "requires_oauth2_reconnect",
              "details": [ { "parameter": "/fields/notification_channel_2\\u001b[2J", "message": "Choose another" } ] }
            """
        let ifttt = ScriptedIFTTT(["GET \(path)": [.json(body, status: 422)]])
        let error = try #require(await connectError { try await ifttt.api().connection(try id()) })
        let detail = ConnectError.Problem.Detail(
            parameter: "/fields/notification_channel_2\u{FFFD}[2J", message: "Choose another")
        #expect(error == .service(.init(status: 422, code: "requires_oauth2_reconnect", details: [detail])))
        #expect(error.code == "requires_oauth2_reconnect")
    }

    @Test("2.7: an address that is none to IFTTT can be told from a service that does not answer")
    func noAddress() async throws {
        let email = try #require(EmailAddress(rawValue: "ada@example.com"))
        let body = #"{"type":"error","code":"invalid_parameters","message":"Not an address","details":[]}"#
        let ifttt = ScriptedIFTTT(["GET /v2/account/find": [.json(body, status: 422)]])
        guard case .couldNotAsk(let error) = try await ifttt.api().account(for: email) else {
            Issue.record("it was taken for an answer")
            return
        }
        #expect(error.problemKind == .invalidParameters && ifttt.requests.count == 1)
    }

    @Test("F063, F042: turning off and on again, retried when the answer was lost")
    func change() async throws {
        let ifttt = ScriptedIFTTT([
            "POST \(path)/disable": [.lost, .json(Balcony.json(status: "\"disabled\"", userConnection: nil))],
            "POST \(path)/enable": [.json(Balcony.json())],
        ])
        let api = ifttt.api(.user(try token()))
        #expect(try await api.disable(try id()).status == .disabled)
        #expect(try await api.enable(try id()).status == .enabled)
        #expect(ifttt.lines == ["POST \(path)/disable", "POST \(path)/disable", "POST \(path)/enable"])
        #expect(ifttt.requests.allSatisfy { $0.header("Authorization") == "Bearer utk_sandbox_9f2c" })
    }

    @Test("F018: who the user of a token is")
    func me() async throws {
        let body =
            #"{ "type": "me", "authentication_level": "user", "service_id": "lumen_garden", "user_login": "ada_l" }"#
        let ifttt = ScriptedIFTTT(["GET /v2/me": [.json(body)]])
        let me = try await ifttt.api(.user(try token())).me()
        #expect(me.level == .user && me.login == "ada_l" && me.serviceID == "lumen_garden")
        ifttt.answer("GET /v2/me", .json(#"{"authentication_level":"new","user_login":null}"#))
        let anonymous = try await ifttt.api().me()
        #expect(anonymous.level.rawValue == "new" && anonymous.login == nil)
    }

    @Test("F017, F079, 12: whether there is an account, asked without a token and with the plus")
    func lookUp() async throws {
        let ifttt = ScriptedIFTTT(["GET /v2/account/find": [.status(204)]])
        let email = try #require(EmailAddress(rawValue: "ada+test@example.com"))
        #expect(try await ifttt.api(.user(try token())).account(for: email) == .exists)
        #expect(ifttt.lines == ["GET /v2/account/find?email=ada%2Btest@example.com"])
        #expect(ifttt.requests.first?.header("Authorization") == nil)
    }

    @Test("W5: no account is told from no answer")
    func noAnswer() async throws {
        let email = try #require(EmailAddress(rawValue: "ada@example.com"))
        let notFound = #"{"type":"error","code":"not_found","message":"","details":[]}"#
        for reply in [ScriptedIFTTT.Reply.status(404), .json(notFound, status: 404)] {
            let ifttt = ScriptedIFTTT(["GET /v2/account/find": [reply]])
            #expect(try await ifttt.api().account(for: email) == .doesNotExist)
        }
        for reply in [
            ScriptedIFTTT.Reply.unreachable, .lost, .status(200), .status(500), .status(401), .status(302),
            .json("<html>404</html>", status: 404), .json("{}", status: 404), .json("{\"exists\":true}"),
        ] {
            let ifttt = ScriptedIFTTT(["GET /v2/account/find": [reply]])
            guard case .couldNotAsk = try await ifttt.api().account(for: email) else {
                Issue.record("\(reply) was taken for an answer")
                return
            }
        }
    }

    @Test("F071: the options of a field, and what cannot stand in a path")
    func fieldOptions() async throws {
        let body = """
            { "type": "field_options", "options": { "zone": [ { "label": "Balcony", "value": "zone-7", "group": null },
              { "label": "Roof", "value": "zone-9", "group": "Upstairs" } ] } }
            """
        let line = "GET \(path)/actions/lumen_garden.start_drip/field_options"
        let ifttt = ScriptedIFTTT([line: [.json(body)]])
        let slug = ComponentSlug(service: "lumen_garden", name: "start_drip")
        let options = try await ifttt.api(.user(try token())).fieldOptions(of: .action(slug), in: try id())
        #expect(
            options["zone"] == [
                .init(label: "Balcony", value: "zone-7"), .init(group: "Upstairs", label: "Roof", value: "zone-9"),
            ])
        #expect(options["other"].isEmpty && ifttt.lines == [line])
        for owner in [FieldOwner.feature(".."), .feature(""), .trigger(.init(service: "", name: "x"))] {
            let error = await connectError { try await ifttt.api().fieldOptions(of: owner, in: try id()) }
            #expect(error?.code == "invalid_input")
        }
        #expect(ifttt.requests.count == 1)
        _ = await connectError { try await ifttt.api().fieldOptions(of: .feature("a/../b?c"), in: try id()) }
        #expect(ifttt.lines.last == "GET \(path)/features/a%2F..%2Fb%3Fc/field_options")
    }

    @Test("F071: an answer's address leads to the options, also within a feature, and to no other host")
    func fieldOptionsAddress() async throws {
        let slug = ComponentSlug(service: "lumen_garden", name: "start_drip")
        func owner(_ tail: String, at origin: String = "https://elsewhere.example") throws -> FieldOwner? {
            FieldOwner(try #require(WebAddress(rawValue: origin + tail)), in: try id())
        }
        let nested = "\(path)/features/ft01/actions/lumen_garden.start_drip/field_options"
        #expect(try owner(nested) == .action(slug, feature: "ft01"))
        #expect(try owner("\(path)/queries/lumen_garden.start_drip/field_options?a=b") == .query(slug))
        #expect(try owner("\(path)/triggers/lumen_garden.start_drip/field_options") == .trigger(slug))
        #expect(try owner("\(path)/features/ft%2001/field_options") == .feature("ft 01"))
        for tail in [
            "", "/", "\(path)", "\(path)/field_options", "\(path)/features//field_options",
            "\(path)/triggers/x/field_options",
            "\(path)/things/a.b/field_options", "/v2/connections/other001/features/ft01/field_options",
            "\(path)/features/%ff/field_options", "\(path)/features//actions/a.b/field_options",
            "\(path)/features/f/features/g/field_options", "/x\(path)/features/ft01/field_options",
        ] { #expect(try owner(tail) == nil, "\(tail)") }
        let ifttt = ScriptedIFTTT(["GET \(nested)": [.json(#"{"options":{}}"#)]])
        _ = try await ifttt.api().fieldOptions(of: try #require(try owner(nested)), in: try id())
        #expect(ifttt.requests.first?.host == "connect.ifttt.com")
        let error = await connectError {
            try await ifttt.api().fieldOptions(of: .action(slug, feature: ".."), in: try id())
        }
        #expect(error?.code == "invalid_input" && ifttt.requests.count == 1)
    }

    @Test("2.9, 2.11: a slug is a service, a period and a name")
    func slugs() throws {
        #expect(ComponentSlug("lumen_garden.start_drip") == .init(service: "lumen_garden", name: "start_drip"))
        #expect(
            ComponentSlug("a.b.c") == .init(service: "a", name: "b.c") && ComponentSlug("a.b.c")?.description == "a.b.c"
        )
        for text in ["", ".", "a", "a.", ".b"] { #expect(ComponentSlug(text) == nil) }
    }

    @Test("W25: a version that is empty, or that breaks a header, is no identity, also of what was stored")
    func identity() throws {
        for version in ["", " ", "2.8.0\r\nX: y", "é", String(repeating: "2", count: 65)] {
            #expect(SDKIdentity(version: version, platform: .ios) == nil)
        }
        let identity = try #require(SDKIdentity(version: "2.8.0-rc.1+b", platform: .android))
        let stored = try JSONEncoder().encode(identity)
        #expect(try JSONDecoder().decode(SDKIdentity.self, from: stored) == identity)
        let spoiled = Data(String(decoding: stored, as: UTF8.self).replacing("2.8.0-rc.1+b", with: "").utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(SDKIdentity.self, from: spoiled) }
    }

    @Test("F072: an update sends the whole configuration, of an option its value alone")
    func update() async throws {
        let line = "PUT \(path)/user_connection"
        let ifttt = ScriptedIFTTT([line: [.json(Balcony.json()), .status(204), .json("", status: 200), .json("{}")]])
        let configuration = try #require(try Balcony.connection().userConnection)
        let api = ifttt.api(.user(try token()))
        #expect(try await api.update(try id(), to: configuration) == (try Balcony.connection()))
        for _ in 0..<3 { #expect(try await api.update(try id(), to: configuration) == nil) }
        let sent = try JSONValue(parsing: Array(try #require(ifttt.requests.first).content.utf8))
        let expected = """
            { "user_features": [ { "feature_id": "ft01", "enabled": true, "user_fields": [],
              "user_feature_triggers": [ { "feature_trigger_id": "tr01", "user_fields": [
                { "field_id": "location", "value": { "lat": 52.5201, "lng": 13.4049, "radius": 180.5,
                  "address": "Sample Square 1, Berlin", "description": "Home", "zoom": 16 } } ] } ],
              "user_feature_queries": [], "user_feature_actions": [ { "feature_action_id": "ac01", "user_fields": [
                { "field_id": "zone", "value": "zone-7" } ] } ] } ] }
            """
        #expect(sent == (try JSONValue(parsing: Array(expected.utf8))))
    }

    @Test("F072: the deprecated update names the fields by service, of an option its value alone")
    func deprecatedUpdate() async throws {
        let replies: [ScriptedIFTTT.Reply] = [.json("", status: 200), .status(204), .json("<html>", status: 200)]
        let ifttt = ScriptedIFTTT(["POST \(path)": replies])
        let home = try #require(LocationValue(latitude: 48.1, longitude: 11.5, radius: 90))
        let update = DeprecatedServiceUpdate(
            serviceID: "location", triggers: ["exit_region_location": [["location": .location(home)]]],
            actions: ["b": [[:]], "a": [["zone": .option(.init(group: nil, label: "Roof", value: "zone-9"))], [:]]])
        let api = ifttt.api(.user(try token()))
        for _ in 0..<2 { try await api.updateDeprecated(try id(), to: [update]) }
        #expect(await connectError { try await api.updateDeprecated(try id(), to: [update]) } != nil)
        let expected = """
            { "services": [ { "service_id": "location",
              "triggers": [ { "id": "exit_region_location", "user_triggers": [ { "fields": [
                { "id": "location", "value": { "lat": 48.1, "lng": 11.5, "radius": 90 } } ] } ] } ],
              "actions": [ { "id": "a", "user_actions": [
                { "fields": [ { "id": "zone", "value": "zone-9" } ] }, { "fields": [] } ] },
                { "id": "b", "user_actions": [ { "fields": [] } ] } ] } ] }
            """
        let sent = try JSONValue(parsing: Array(try #require(ifttt.requests.first).content.utf8))
        #expect(sent == (try JSONValue(parsing: Array(expected.utf8))))
    }

    @Test("a token that could break a header is none, and an invite code that could is refused")
    func headers() async throws {
        for text in ["", "a b", "a\r\nX: y", "é", String(repeating: "x", count: 4097)] {
            #expect(UserToken(Secret(text)) == nil)
        }
        let ifttt = ScriptedIFTTT()
        let caller = ConnectAPI.Caller(inviteCode: { Secret("a\r\nX: y") })
        #expect(await connectError { try await ifttt.api(caller).connection(try id()) }?.code == "invalid_input")
        #expect(ifttt.requests.isEmpty)
    }

    @Test("an answer that is too long is a typed error and is not asked for again")
    func tooLong() async throws {
        let ifttt = ScriptedIFTTT(["GET \(path)": [.tooLarge]])
        let error = await connectError { try await ifttt.api().connection(try id()) }
        #expect(error?.code == "response_too_large" && ifttt.requests.count == 1)
    }

    @Test("2.1: production has its own hosts, and a stand-in serves all")
    func hosts() throws {
        #expect(Hosts(of: .ifttt) == .production)
        #expect(Hosts.production.realtime.origin.description == "https://realtime.ifttt.com")
        #expect(Hosts.production.location.origin.description == "https://connectapi.ifttt.com")
        #expect(Hosts.production.terms.string == "https://ifttt.com/terms")
        let service = Service.ifttt.at(try EndpointURL("http://127.0.0.1:9", security: .allowingInsecureLoopback))
        #expect(Hosts(of: service).connect.origin.description == "http://127.0.0.1:9")
        #expect(Hosts(of: service).site.origin.description == "http://127.0.0.1:9")
    }
}
