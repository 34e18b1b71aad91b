import Foundation
import Sandbox
import TestFixtures
import Testing

@Suite("The Sequencing.com stand-in: imports", .heavy)
struct SequencingImportTests {
    private static func credentials(_ login: String, password: String = "anything") -> String {
        #"{"Login":"\#(login)","Password":"\#(password)"}"#
    }

    @Test(
        "23andMe answers by the login's text",
        arguments: [
            ("started@example.test", #"{"StatusCode":0,"SecurityQuestion":null,"SessionId":null}"#),
            ("wrong@example.test", #"{"StatusCode":1,"SecurityQuestion":null,"SessionId":null}"#),
            ("stranger", #"{"StatusCode":1,"SecurityQuestion":null,"SessionId":null}"#),
            ("ada@example.test", #"{"StatusCode":2,"SecurityQuestion":"First pet?","SessionId":"s-91"}"#),
            ("question", #"{"StatusCode":2,"SecurityQuestion":"First pet?","SessionId":"s-91"}"#),
            ("broken@example.test", #"{"StatusCode":3,"SecurityQuestion":null,"SessionId":null}"#),
            ("missing@example.test", #"{"StatusCode":2,"SecurityQuestion":"First pet?"}"#),
            ("nosession@example.test", #"{"StatusCode":2,"SecurityQuestion":"First pet?","SessionId":null}"#),
        ])
    func twentyThreeAndMe(_ login: String, _ expected: String) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            #expect(try await steps.post("/23andMe/Download", Self.credentials(login)).text == expected)
        }
    }

    @Test(
        "Ancestry answers by the login's text",
        arguments: [
            ("started@example.test", #"{"StatusCode":0,"SessionId":"s-91"}"#),
            ("wrong@example.test", #"{"StatusCode":1,"SessionId":null}"#),
            ("broken@example.test", #"{"StatusCode":2,"SessionId":null}"#),
            ("missing@example.test", #"{"StatusCode":0}"#),
            ("nosession@example.test", #"{"StatusCode":0,"SessionId":null}"#),
        ])
    func ancestry(_ login: String, _ expected: String) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            #expect(try await steps.post("/Ancestry/Authorize", Self.credentials(login)).text == expected)
        }
    }

    @Test("HTML in place of JSON comes with status 200", arguments: ["/23andMe/Download", "/Ancestry/Authorize"])
    func html(_ path: String) async throws {
        try await withSandbox { sandbox in
            let answer = try await SequencingSteps(sandbox).post(path, Self.credentials("text"))
            #expect(answer.status == 200)
            #expect(answer["Content-Type"]?.hasPrefix("text/html") == true)
            #expect(answer.json.isEmpty)
        }
    }

    @Test(
        "the second step answers by its text and ends the session",
        arguments: [
            ("23andMe", "SeqAnswer", "Turing", 0), ("23andMe", "SeqAnswer", "turing", 0),
            ("23andMe", "SeqAnswer", "Rex", 1), ("23andMe", "SeqAnswer", "broken", 2),
            ("Ancestry", "Url", "https://mail.example.test/dna?x=1", 0), ("Ancestry", "Url", "http://h", 0),
            ("Ancestry", "Url", "https:///x", 1), ("Ancestry", "Url", "ftp://h/x", 1), ("Ancestry", "Url", "x", 1),
            ("Ancestry", "Url", "https://mail.example.test/broken", 2), ("Ancestry", "Url", "missing", nil),
        ] as [(String, String, String, Int?)])
    func secondStep(_ service: String, _ member: String, _ text: String, _ status: Int?) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            let is23andMe = service == "23andMe"
            let first = is23andMe ? "/23andMe/Download" : "/Ancestry/Authorize"
            let second = is23andMe ? "/23andMe/DownloadWithSecurity" : "/Ancestry/Download"
            let login = Self.credentials(is23andMe ? "ada@example.test" : "started@example.test")
            let session = try #require(try await steps.post(first, login).string("SessionId"))
            let body = #"{"\#(member)":"\#(text)","SessionId":"\#(session)"}"#
            #expect(try await steps.post(second, body).number("StatusCode") == status)
            #expect(try await steps.post(second, body).number("StatusCode") == 2)
        }
    }

    @Test("a session is of its user and its service")
    func foreignSession() async throws {
        try await withSandbox { sandbox in
            let ada = try await SequencingSteps(sandbox)
            let session = try #require(
                try await ada.post("/23andMe/Download", Self.credentials("question")).string("SessionId"))
            let body = #"{"SeqAnswer":"Turing","Url":"https://h/","SessionId":"\#(session)"}"#
            let charles = try await SequencingSteps(sandbox, as: "charles@example.test")
            #expect(try await charles.post("/23andMe/DownloadWithSecurity", body).number("StatusCode") == 2)
            #expect(try await ada.post("/Ancestry/Download", body).number("StatusCode") == 2)
            #expect(try await ada.post("/23andMe/DownloadWithSecurity", body).number("StatusCode") == 0)
        }
    }

    @Test("an import that started shows its file among the uploads thirty seconds later, and can be analysed")
    func arrival() async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox, as: "charles@example.test")
            _ = try await steps.post("/23andMe/Download", Self.credentials("started@example.test"))
            #expect(try await steps.get("/DataSourceList?uploaded=true").objects().isEmpty)
            sandbox.advanceClock(by: 31)
            let files = try await steps.get("/DataSourceList?uploaded=true").objects()
            #expect(files.compactMap { $0["Name"] as? String } == ["23andme_started.txt"])
            #expect(files.compactMap { $0["Id"] as? String } == ["300001"])
            #expect(try await steps.result("Chain9", on: "300001") == ["RiskDescription": "Normal"])
        }
    }

    @Test(
        "imports need a token for external and complete bodies",
        arguments: [
            ("/23andMe/Download", #"{"Login":"a","Password":""}"#), ("/23andMe/Download", "x"),
            ("/23andMe/DownloadWithSecurity", #"{"SeqAnswer":"","SessionId":"s-91"}"#),
            ("/Ancestry/Authorize", #"{"Password":"a"}"#), ("/Ancestry/Download", "{}"),
        ])
    func refusals(_ path: String, _ body: String) async throws {
        try await withSandbox { sandbox in
            let steps = try await SequencingSteps(sandbox)
            #expect(try await steps.post(path, body).refusal == "400 invalid_request")
            let demo = try await SequencingSteps(sandbox, scope: "demo")
            #expect(try await demo.post(path, body).refusal == "403 insufficient_scope")
            #expect(try await steps.oauth.wire.send("POST", path, body: body).status == 401)
        }
    }
}
