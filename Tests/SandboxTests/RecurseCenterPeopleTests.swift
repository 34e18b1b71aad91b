import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The Recurse Center stand-in's people", .heavy)
struct RecurseCenterPeopleTests {
    /// The objects of a list answer.
    private func list(_ answer: WireClient.Answer) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [[String: Any]], "\(answer.text)")
    }

    private func withAda(_ body: (OAuthSteps, String) async throws -> Void) async throws {
        try await withSandbox { sandbox in
            try await body(
                try OAuthSteps(sandbox, sandbox.recurseCenter), "sandbox-personal-access-token-759")
        }
    }

    @Test(
        "a person is found by id and by e-mail address, in both shapes",
        arguments: [
            ("759", "Ada"), ("ada@example.test", "Ada"), ("ada%40example.test", "Ada"), ("ADA@example.test", "Ada"),
            ("65535", "Zoë"), ("70000", "Quentin"), ("mina+rc@example.test", "Mina"),
            ("mina%2Brc%40example.test", "Mina"),
        ])
    func found(_ id: String, _ name: String) async throws {
        try await withAda { steps, token in
            for path in ["profiles", "people"] {
                let person = try await steps.get("/api/v1/\(path)/\(id)", bearer: token)
                #expect(person.string("first_name") == name)
            }
        }
    }

    @Test(
        "what is not there is 404 with the message not_found",
        arguments: [
            "profiles/1", "people/1", "profiles/stranger@example.test", "profiles/759x", "batches/1", "batches/x",
            "batches/1/people", "hub_visits/1/2024-05-01", "hub_visits/759/2024-05-32", "nothing",
        ])
    func absent(_ path: String) async throws {
        try await withAda { steps, token in
            let answer = try await steps.get("/api/v1/\(path)", bearer: token)
            #expect(answer.status == 404)
            #expect(answer.text == #"{"message":"not_found"}"#)
        }
    }

    @Test(
        "everything below the API but photos needs a token",
        arguments: [
            "profiles", "profiles/759", "people/759", "people/search?q=a", "batches", "batches/11", "batches/11/people",
            "locations", "hub_visits", "hub_visits/759/2024-05-01",
        ])
    func tokens(_ path: String) async throws {
        try await withAda { steps, token in
            let refused = try await steps.get("/api/v1/\(path)", bearer: nil)
            #expect(refused.status == 401)
            let query = path + (path.contains("?") ? "&" : "?") + "access_token=\(token)"
            #expect(try await steps.wire.send("GET", "/api/v1/\(query)").status != 401)
        }
    }

    @Test(
        "limit is 20 by default and 50 at most",
        arguments: [
            ("", 20), ("&limit=50", 50), ("&limit=500", 50), ("&limit=51", 50), ("&limit=1", 1), ("&limit=x", 20),
            ("&limit=500&offset=50", 50), ("&limit=50&offset=100", 0), ("&limit=50&offset=99", 1), ("&limit=0", 1),
            ("&limit=-5&offset=-5", 1),
        ])
    func limits(_ paging: String, _ count: Int) async throws {
        try await withAda { steps, token in
            let people = try list(try await steps.get("/api/v1/profiles?batch_id=104\(paging)", bearer: token))
            #expect(people.count == count)
            #expect(people.allSatisfy { $0["results_count"] as? Int == 100 })
        }
    }

    @Test(
        "filters choose; an unknown role or scope is 400",
        arguments: [
            ("query=ada%20ex", [759]), ("query=%C3%A5ngstr%C3%B6m", [65_535]), ("batch_id=160", [6_700, 70_000]),
            ("location_id=2711537", [65_535]), ("role=resident", [6_701]), ("scope=current", [6_703, 65_535]),
            ("scope=overlap", [70_000]), ("query=stranger", []), ("batch_id=x", []), ("role=king", nil),
            ("scope=all", nil),
        ] as [(String, [Int]?)])
    func filters(_ query: String, _ expected: [Int]?) async throws {
        try await withAda { steps, token in
            let answer = try await steps.get("/api/v1/profiles?\(query)", bearer: token)
            guard let expected else {
                #expect(answer.status == 400)
                return
            }
            #expect(try list(answer).compactMap { $0["id"] as? Int } == expected)
        }
    }

    @Test("the fixtures of the dossier are there, in both shapes from one record")
    func fixtures() async throws {
        try await withAda { steps, token in
            func profile(_ id: Int) async throws -> String {
                try await steps.get("/api/v1/profiles/\(id)", bearer: token).text
            }
            #expect(try await profile(6_700).contains(#""for_half_batch":true"#))
            #expect(try await profile(6_700).contains("/assets/people/no_photo_150.jpg"))
            #expect(
                try await profile(65_535).contains(#""in_progress":true,"start_date":"2019-01-07","end_date":null"#))
            #expect(try await profile(6_701).contains(#""image_path":"/assets/people/6701_150.jpg""#))
            #expect(try await profile(6_702).contains(#""stints":[]"#))
            let person = try await steps.get("/api/v1/people/70000", bearer: token)
            #expect(person.number("batch_id") == 160)
            #expect(person.text.contains(#""batches":[{"id":11,"name":"Summer 1, 2014"},{"id":160"#))
            let mates = try list(try await steps.get("/api/v1/batches/11/people", bearer: token))
            #expect(mates.compactMap { $0["id"] as? Int } == [759, 70_000])
            let searched = try list(try await steps.get("/api/v1/people/search?q=late", bearer: token))
            #expect(searched.compactMap { $0["id"] as? Int } == [70_000])
        }
    }

    @Test("batches come newest first, places ten at a time and fifty at most")
    func batchesAndPlaces() async throws {
        try await withAda { steps, token in
            let dates = try list(try await steps.get("/api/v1/batches", bearer: token)).compactMap {
                $0["start_date"] as? String
            }
            #expect(dates.count > 5)
            #expect(dates == dates.sorted(by: >))
            #expect(try await steps.get("/api/v1/batches/11", bearer: token).string("short_name") == "S1'14")
            for (query, count) in [
                ("query=newtown", 10), ("query=newtown&limit=500", 50), ("query=goteborg", 1), ("query=x", 0),
            ] {
                #expect(try list(try await steps.get("/api/v1/locations?\(query)", bearer: token)).count == count)
            }
        }
    }

    @Test("the form of unauthorized can be chosen in process", arguments: UnauthorizedAnswer.allCases)
    func chosenStyle(_ style: UnauthorizedAnswer) async throws {
        try await withSandbox { sandbox in
            sandbox.answerUnauthorized(with: style)
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter)
            #expect(try await steps.get("/api/v1/profiles/759", bearer: "bad").status == style.rawValue)
        }
    }

    @Test("every user has a personal access token, until they are revoked")
    func personalTokens() async throws {
        try await withSandbox { sandbox in
            let steps = try OAuthSteps(sandbox, sandbox.recurseCenter)
            for user in sandbox.recurseCenter.users {
                let token = "sandbox-personal-access-token-\(user.subject)"
                #expect(try await steps.get("/api/v1/profiles/me", bearer: token).number("id") == Int(user.subject))
            }
            #expect(try await steps.control("POST", "/revoke-personal-access-tokens", "").status == 204)
            let token = try #require(sandbox.recurseCenter.personalAccessToken)
            #expect(try await steps.get("/api/v1/profiles/me", bearer: token).status == 401)
        }
    }

    @Test("429 with Retry-After is two fault rules")
    func tooMany() async throws {
        try await withAda { steps, token in
            steps.sandbox.inject(try FaultRule(parsing: "recurse-center /api/v1/* => header Retry-After 7 x1"))
            steps.sandbox.inject(
                try FaultRule(parsing: "recurse-center /api/v1/* => status 429 {\"message\":\"slow\"} x1"))
            let answer = try await steps.get("/api/v1/batches", bearer: token)
            #expect(answer.status == 429)
            #expect(answer["Retry-After"] == "7")
            #expect(try await steps.get("/api/v1/batches", bearer: token).status == 200)
        }
    }
}
