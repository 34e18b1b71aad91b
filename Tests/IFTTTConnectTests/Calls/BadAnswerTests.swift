import IFTTTConnect
import JSONFixtures
import OAuth
import Testing

/// An answer of the service, who asks for it, and what of it has to be there.
private struct Answer: Sendable, CustomTestStringConvertible {
    let name: String
    let line: String
    let content: String
    /// What has to be there, of its kind.
    var required: Set<String> = []
    /// What may be missing or null, but of no other kind.
    var optional: Set<String> = []
    /// Whether the status is all that counts.
    var mayBeEmpty = false
    let call: @Sendable (ConnectService) async throws -> Void

    var testDescription: String { name }

    /// What comes of an answer with this content.
    func error(_ content: String) async -> ConnectError? {
        let ifttt = ScriptedIFTTT([line: [.json(content)]])
        return await connectError { try await call(ifttt.service()) }
    }

    static let all: [Answer] = [
        Answer(
            name: "perform", line: "POST /v2/connections/aB3dE5fG/queries/garden.zones/perform",
            content: """
                { "type": "list", "data": [
                  { "name": "Balcony", "plants": { "type": "query", "fields": { "zone": "7" } } },
                  { "plants": { "type": "list", "data": [ { "name": "Basil" } ] } } ],
                  "next": { "fields": { "zone": "all" }, "cursor": "c2" } }
                """,
            required: [
                "type", "data", "data[0]", "data[1]", "data[1].plants.data", "data[1].plants.data[0]", "next.cursor",
            ],
            optional: ["next", "next.fields", "data[0].plants.fields"],
            call: { service in
                _ = try await service.perform(
                    ComponentSlug(service: "garden", name: "zones"), in: try ConnectionID(Balcony.id),
                    RunOptions(for: "u"))
            }),
        Answer(
            name: "field options", line: "GET /v2/connections/aB3dE5fG/features/ft01/field_options",
            content: """
                { "type": "field_options",
                  "options": { "zone": [ { "label": "Balcony", "value": "zone-7", "group": "Up" } ] } }
                """, required: ["options"], optional: ["options.zone"],
            call: { service in
                _ = try await service.fieldOptions(of: .feature("ft01"), in: try ConnectionID(Balcony.id), for: "u")
            }),
        Answer(
            name: "me", line: "GET /v2/me",
            content:
                #"{ "type": "me", "authentication_level": "user", "service_id": "garden", "user_login": "ada_l" }"#,
            required: ["authentication_level"], optional: ["service_id", "user_login"],
            call: { _ = try await $0.me() }),
        Answer(
            name: "user token", line: "POST /v2/user_token",
            content: #"{ "type": "user_token", "user_token": "utk_1" }"#, required: ["user_token"],
            call: { _ = try await $0.userToken(for: "u", accessToken: Secret("t")) }),
        Answer(
            name: "provisional code", line: "POST /v2/provisional_access_code",
            content: #"{ "type": "code", "provisional_access_code": "pac1" }"#, required: ["provisional_access_code"],
            call: { _ = try await $0.provisionalCode(for: Secret("c")) }),
        Answer(
            name: "run", line: "POST /v2/connections/aB3dE5fG/actions/garden.drip/run", content: #"{ "type": "run" }"#,
            mayBeEmpty: true,
            call: { service in
                try await service.run(
                    ComponentSlug(service: "garden", name: "drip"), in: try ConnectionID(Balcony.id),
                    RunOptions(for: "u"))
            }),
        Answer(
            name: "test", line: "POST /v2/connections/aB3dE5fG/triggers/garden.leave/test",
            content: #"{ "type": "test" }"#, mayBeEmpty: true,
            call: { service in
                try await service.test(
                    ComponentSlug(service: "garden", name: "leave"), in: try ConnectionID(Balcony.id),
                    RunOptions(for: "u"))
            }),
        Answer(
            name: "refresh", line: "POST /v2/connections/aB3dE5fG/user_connection/refresh",
            content: #"{ "type": "done" }"#, mayBeEmpty: true,
            call: { try await $0.refreshLabels(of: try ConnectionID(Balcony.id), for: "u") }),
        Answer(
            name: "update", line: "PUT /v2/connections/aB3dE5fG/user_connection", content: #"{ "type": "done" }"#,
            mayBeEmpty: true,
            call: {
                _ = try await $0.update(try ConnectionID(Balcony.id), to: UserConnection(features: []), for: "u")
            }),
    ]
}

/// Whether a message and its detail can be shown anywhere: short, and without anything that steers a terminal.
private func isHarmless(_ error: ConnectError) -> Bool {
    let text = "\(error) \(error.detail ?? "")"
    return text.utf8.count < 4000
        && text.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
}

@Suite("Answers that are wrong")
struct BadAnswerTests {
    @Test("an answer that is right is read", arguments: Answer.all)
    private func right(answer: Answer) async {
        #expect(await answer.error(answer.content) == nil)
    }

    @Test("an answer that is cut short, at any byte, says so", arguments: Answer.all)
    private func cut(answer: Answer) async throws {
        for content in try SpoiledJSON(answer.content).cutShort {
            let error = await answer.error(content)
            if content.isEmpty, answer.mayBeEmpty {
                #expect(error == nil)
                continue
            }
            guard case .malformed(_, "content", "JSON", _)? = error else {
                Issue.record("“\(content)” gave \(String(describing: error))")
                return
            }
        }
    }

    @Test("a member of another kind, null or missing, is named, unless it may be", arguments: Answer.all)
    private func members(answer: Answer) async throws {
        let spoiled = try SpoiledJSON(answer.content)
        for place in spoiled.places {
            for value in place.wrongValues.map(Optional.some) + (place.isMember ? [nil] : []) {
                let error = await answer.error(spoiled.replacing(place, with: value))
                let isAbsent = value == nil || value == .null
                let name = "\(place)"
                let isWrong = answer.required.contains(name) || (answer.optional.contains(name) && !isAbsent)
                switch error {
                case nil where !isWrong: break
                case .malformed(_, name, _, _)? where isWrong: #expect(error.map(isHarmless) == true)
                default: Issue.record("\(name) as \(String(describing: value)) gave \(String(describing: error))")
                }
            }
        }
    }

    @Test("a member that comes twice, depth without end and what is no object are refused", arguments: Answer.all)
    private func structure(answer: Answer) async throws {
        let spoiled = try SpoiledJSON(answer.content)
        for content in spoiled.doubled + [spoiled.adding(SpoiledJSON.nested(100_000)), "<html>Sign in to the hotel"] {
            guard case .malformed(_, "content", _, _)? = await answer.error(content) else {
                Issue.record("“\(content.prefix(80))” was read")
                return
            }
        }
        #expect(await answer.error(spoiled.adding(SpoiledJSON.nested(30))) == nil)
        for content in ["[]", "null", "1", "\"\""] {
            #expect((await answer.error(content) == nil) == answer.mayBeEmpty)
        }
    }

    @Test(
        "ten megabytes in an unknown member are skipped, and in a known one are not quoted",
        arguments: Answer.all.filter { !$0.required.isEmpty })
    private func long(answer: Answer) async throws {
        let spoiled = try SpoiledJSON(answer.content)
        // One letter with marks on it without end: one character for Swift.
        let text = "a" + String(repeating: "\u{301}", count: 5_000_000)
        #expect(await answer.error(spoiled.adding("\"\(text)\"")) == nil)
        let place = spoiled.places.first { answer.required.contains("\($0)") && $0.value.string != nil }
        if let place, let error = await answer.error(spoiled.replacing(place, with: .string(text))) {
            #expect(isHarmless(error))
        }
    }

    @Test("an error in an answer of success is an error", arguments: Answer.all)
    private func contradiction(answer: Answer) async {
        let content = #"{"type":"error","code":"not_found","message":"No connection has this id","details":[]}"#
        guard case .malformed? = await answer.error(content) else {
            Issue.record("it was read")
            return
        }
    }

    @Test("names that the service chooses are made harmless where an error tells them")
    private func names() async throws {
        let name = "\\u001b[31m" + String(repeating: "x", count: 1_000)
        let perform = try #require(Answer.all.first)
        for content in [
            #"{"type":"list","data":[{"\#(name)":{"type":"list"}}]}"#,
            #"{"type":"list","data":[{"\#(name)":{"type":"list","data":[{"\#(name)":{"type":"query","fields":1}}]}}]}"#,
        ] {
            let error = try #require(await perform.error(content))
            #expect(isHarmless(error) && error.detail?.contains("data[0].") == true)
            #expect(!"\(error)".contains("data[0]"), "the place stands in the detail alone")
        }
        let options = try #require(Answer.all.first { $0.name == "field options" })
        #expect(isHarmless(try #require(await options.error(#"{"options":{"\#(name)":1}}"#))))
    }

    @Test(
        "a cursor that cannot be followed is no end of the list",
        arguments: [#"{}"#, #"{"cursor":""}"#, #"{"cursor":"\#(String(repeating: "c", count: 2049))"}"#])
    private func cursor(next: String) async throws {
        let perform = try #require(Answer.all.first)
        let error = await perform.error(#"{"type":"list","data":[],"next":\#(next)}"#)
        guard case .malformed("perform", "next.cursor", _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("an option that has no value is left out, and the others stay")
    private func options() async throws {
        let content = """
            { "options": { "zone": [ { "label": "No value" }, 1, null, { "value": 7 }, { "value": "zone-9", "label": 9 } ],
              "none": null } }
            """
        let ifttt = ScriptedIFTTT(["GET /v2/connections/aB3dE5fG/features/ft01/field_options": [.json(content)]])
        let options = try await ifttt.service().fieldOptions(
            of: .feature("ft01"), in: try ConnectionID(Balcony.id), for: "u")
        #expect(options.options == ["zone": [.init(value: "zone-9")]])
    }

    @Test("an update that is answered with a connection has to be answered with a whole one")
    private func updated() async throws {
        let update = try #require(Answer.all.last)
        #expect(await update.error(Balcony.json()) == nil)
        let error = await update.error(Balcony.json().replacing("\"name\": \"Water", with: "\"title\": \"Water"))
        guard case .malformed("user_connection", "name", _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
