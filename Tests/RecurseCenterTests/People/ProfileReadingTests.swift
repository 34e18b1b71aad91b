import OAuth
import RecurseCenter
import Testing

@Suite("Reading a person")
struct ProfileReadingTests {
    private func profile(_ json: String) throws -> Profile {
        try Profile(JSONValue(parsing: Array(json.utf8)))
    }

    @Test("RC-10: the dossier's profile of today is read whole")
    func today() throws {
        let ada = try profile(ScriptedService.ada)
        #expect(ada.id == PersonID(759))
        #expect(ada.name == "Ada Example")
        #expect(ada.slug == "759-ada-example")
        #expect(ada.email == "ada@example.org")
        #expect(ada.resultsCount == 1)
        let stint = try #require(ada.stints.first)
        #expect(stint.kind == .retreat)
        #expect(stint.startDate == CalendarDate("2014-06-09"))
        #expect(stint.batch?.name == "Summer 1, 2014")
        #expect(ada.batchLabel == "S1'14")
    }

    @Test("RC-10: the dossier's person of 2014 is read into the same type")
    func legacy() throws {
        let ada = try profile(
            """
            {"id":759,"first_name":"Ada","middle_name":"","last_name":"Example","email":"ada@example.org",\
            "twitter":null,"github":"ada-example","batch_id":11,"has_photo":true,"is_faculty":false,\
            "image":"https://images.example.net/assets/people/ada_example_150-0123abcd.jpg",\
            "batch":{"id":11,"name":"Summer 1, 2014","start_date":"2014-06-09","end_date":"2014-08-28"},\
            "current_location":null,"stints":[{"batch_id":11,"start_date":"2014-06-09","end_date":"2014-08-28"}],\
            "batches":[{"id":11,"name":"Summer 1, 2014"}],"projects":[],"links":[],"skills":[],"bio":null}
            """)
        #expect(ada.name == "Ada Example")
        #expect(ada.github == "ada-example")
        #expect(ada.batchLabel == "Summer 1, 2014")
        #expect(ada.stints.map(\.endDate) == [CalendarDate("2014-08-28")])
        #expect(ada.photo == "https://images.example.net/assets/people/ada_example_150-0123abcd.jpg")
        #expect(ada.members["skills"] == .array([]))
    }

    @Test("RC-10: a person of 2014 without stints has the stay that the batch tells of")
    func legacyBatchAlone() throws {
        let person = try profile(
            #"{"id":1,"batch_id":11,"batch":{"id":11,"name":"Summer 1, 2014","start_date":"2014-06-09"}}"#)
        #expect(person.stints.map(\.startDate) == [CalendarDate("2014-06-09")])
        #expect(person.batchLabel == "Summer 1, 2014")
    }

    @Test(
        "whatever is missing, null or of another type, a person with an identifier is read",
        arguments: [
            #"{"id":759}"#, #"{"id":"759"}"#, #"{"id":759.0,"name":null,"stints":null}"#,
            #"{"id":759,"name":7,"first_name":[],"last_name":{},"email":false,"zulip_id":"x","company":[1]}"#,
            #"{"id":759,"stints":{},"current_location":"Paris","image_path":{},"has_photo":"no","batch":[]}"#,
            #"{"id":759,"stints":[null,1,"x",[],{"batch":{"id":"?"}},{"start_date":"2014-02-30"}]}"#,
            #"{"id":759,"batches":7,"batch_id":"eleven","stints":[{"batch_id":{}}],"later_member":[[[]]]}"#,
        ])
    func tolerant(_ json: String) throws {
        let person = try profile(json)
        #expect(person.id == PersonID(759))
        #expect(!person.name.isEmpty)
        #expect(person.email == nil)
        #expect(person.stints.allSatisfy { $0.batch == nil && $0.startDate == nil })
    }

    @Test(
        "D11: an answer that is no person is a protocol error and no crash",
        arguments: [
            "[]", #"[{"id":759}]"#, #""unexpected""#, "7", "null", "true", "{}", #"{"id":null}"#, #"{"id":0}"#,
            #"{"id":-1}"#, #"{"id":[759]}"#, #"{"id":"x"}"#, #"{"id":1e99}"#, #"{"id":759.5}"#,
        ])
    func protocolErrors(_ json: String) async throws {
        let service = ScriptedService(["GET /api/v1/profiles/me": [.json(json)]])
        let center = try await service.center()
        let error = await centerError { try await center.profile(.me) }
        guard case .malformed("profiles/me", _, _, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(service.lines == ["GET /api/v1/profiles/me"])
    }

    @Test(
        "D11: content that is no JSON is a protocol error that quotes nothing of it",
        arguments: ["", "<html>secret page</html>", "{", #"{"id":1,"id":2}"#, "{\"id\":1}\u{0}"])
    func notJSON(_ text: String) async throws {
        let service = ScriptedService(["GET /api/v1/profiles/759": [.json(text)]])
        let center = try await service.center()
        let error = try #require(await centerError { try await center.profile(ProfileReference("759")) })
        #expect(error.code == "malformed_answer")
        #expect(!error.description.contains("secret page"))
    }

    @Test("bytes that are not UTF-8, and lists nested without end, are protocol errors")
    func hostileBytes() async throws {
        for bytes in [
            Array(#"{"id":7,"name":""#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8),
            Array(String(repeating: "[", count: 100_000).utf8),
        ] {
            let service = ScriptedService(["GET /api/v1/profiles/me": [.bytes(bytes)]])
            let center = try await service.center()
            #expect(await centerError { try await center.profile(.me) }?.code == "malformed_answer")
        }
    }

    @Test("another person than the one that was asked for is a protocol error")
    func anotherUser() async throws {
        let service = ScriptedService(["GET /api/v1/profiles/760": [.json(ScriptedService.ada)]])
        let center = try await service.center()
        #expect(await centerError { try await center.profile(ProfileReference("760")) }?.code == "malformed_answer")
    }

    @Test(
        "RC-11: the label is the batch in progress, else the latest one, else title, else kind, else nothing",
        arguments: [
            ("[]", ""),
            (#"[{"type":"residency","start_date":"2024-03-04"}]"#, "Residency"),
            (
                #"[{"type":"employment","title":"Facilitator","start_date":"2019-01-07","in_progress":true}]"#,
                "Facilitator"
            ),
            (#"[{"type":"employment","title":""}]"#, "Employment"),
            (#"[{"batch":{"id":1,"name":"Summer 1, 2014"}}]"#, "Summer 1, 2014"),
            (#"[{"batch":{"id":1,"name":"Summer 1, 2014","short_name":"S1'14"}}]"#, "S1'14"),
            (
                #"[{"start_date":"2014-06-09","batch":{"id":1,"name":"old"}},{"start_date":"2024-02-12","batch":{"id":2,"name":"new"}}]"#,
                "new"
            ),
            (
                #"[{"start_date":"2024-02-12","batch":{"id":2,"name":"later"}},{"start_date":"2014-06-09","in_progress":true,"batch":{"id":1,"name":"now"}}]"#,
                "now"
            ),
            (
                #"[{"start_date":"2025-01-01","in_progress":true,"type":"employment"},{"start_date":"2014-06-09","batch":{"id":1,"name":"old"}}]"#,
                "old"
            ),
            (
                #"[{"batch":{"id":1,"name":"undated"}},{"start_date":"2014-06-09","batch":{"id":2,"name":"dated"}}]"#,
                "dated"
            ),
            (#"[{"title":"first","start_date":"2014-01-01"},{"title":"second","start_date":"2015-01-01"}]"#, "second"),
        ])
    func label(_ stints: String, _ expected: String) throws {
        #expect(try profile(#"{"id":1,"stints":\#(stints)}"#).batchLabel == expected)
    }

    @Test(
        "what a person types is an identifier, an address or me; anything else is refused before it is sent",
        arguments: [
            ("me", "me"), ("759", "759"), ("70000", "70000"), ("ada+rc@example.test", "ada+rc@example.test"),
            ("0", nil), ("-1", nil), ("", nil), ("ada", nil), ("../batches", nil), ("@", nil), ("a@b@c", nil),
            ("a b@example.test", nil), ("a@b\r\nX: y", nil), ("99999999999999999999", nil),
        ] as [(String, String?)])
    func references(_ text: String, _ expected: String?) {
        let reference = try? ProfileReference(text)
        #expect(reference?.description == expected)
    }
}
