import OAuth
import Sequencing
import Testing

@Suite("Imports")
struct ImportTests {
    private let credentials: ThirdPartyImport.Credentials

    init() throws {
        credentials = try .init(login: "ada@example.test", password: Secret("x"))
    }

    private func imports(_ path: String, _ answers: String...) async throws -> (ThirdPartyImport, ScriptedService) {
        let service = ScriptedService(["POST " + path: answers.map { .json($0) }])
        return (ThirdPartyImport(try await service.genome()), service)
    }

    @Test(
        "C01, C04: 23andMe's answers to a login",
        arguments: [
            ("0", ThirdPartyImport.Login.ended(.started)), ("1", .ended(.badCredentials)),
            (#""1""#, .ended(.badCredentials)),
            ("3", .ended(.serverError(code: 3))), ("77", .ended(.serverError(code: 77))),
        ])
    func login(_ code: String, _ expected: ThirdPartyImport.Login) async throws {
        let (imports, service) = try await imports(
            "/23andMe/Download", #"{"StatusCode":\#(code),"SecurityQuestion":null,"SessionId":null}"#)
        #expect(try await imports.from23andMe(credentials) == expected)
        #expect(service.requests.first?.content == #"{"Login":"ada@example.test","Password":"x"}"#)
    }

    @Test("C02: the transcript of the dossier: a security question, and its answer in the same session")
    func question() async throws {
        let service = ScriptedService([
            "POST /23andMe/Download": [.json(#"{"StatusCode":2,"SecurityQuestion":"First pet?","SessionId":"s-91"}"#)],
            "POST /23andMe/DownloadWithSecurity": [
                .json(#"{"StatusCode":0}"#), .json(#"{"StatusCode":1}"#), .json(#"{"StatusCode":2}"#),
            ],
        ])
        let imports = ThirdPartyImport(try await service.genome())
        guard case .question(let question) = try await imports.from23andMe(credentials) else {
            Issue.record("no question")
            return
        }
        #expect(question.text == "First pet?")
        #expect(await sequencingError { try await imports.answer("", to: question) }?.code == "invalid_input")
        #expect(service.lines.count == 1, "an empty answer is not sent")
        #expect(try await imports.answer("Turing", to: question) == .started)
        #expect(service.requests.last?.content == #"{"SeqAnswer":"Turing","SessionId":"s-91"}"#)
        #expect(try await imports.answer("Hopper", to: question) == .badAnswer)
        #expect(try await imports.answer("Hopper", to: question) == .serverError(code: 2))
    }

    @Test("C03: Ancestry mails a link, and the import starts by it")
    func ancestry() async throws {
        let service = ScriptedService([
            "POST /Ancestry/Authorize": [
                .json(#"{"StatusCode":0,"SessionId":"s-92"}"#), .json(#"{"StatusCode":1,"SessionId":null}"#),
                .json(#"{"StatusCode":2,"SessionId":null}"#),
            ],
            "POST /Ancestry/Download": [
                .json(#"{"StatusCode":0}"#), .json(#"{"StatusCode":1}"#), .json(#"{"StatusCode":2}"#),
            ],
        ])
        let imports = ThirdPartyImport(try await service.genome())
        guard case .linkMailed(let session) = try await imports.authorizeAncestry(credentials) else {
            Issue.record("no session")
            return
        }
        #expect(try await imports.authorizeAncestry(credentials) == .ended(.badCredentials))
        #expect(try await imports.authorizeAncestry(credentials) == .ended(.serverError(code: 2)))
        #expect(await sequencingError { try await imports.download("", in: session) }?.code == "invalid_input")
        #expect(try await imports.download("https://dna.example.test/1", in: session) == .started)
        #expect(service.requests.last?.content == #"{"SessionId":"s-92","Url":"https://dna.example.test/1"}"#)
        #expect(try await imports.download("https://x.test", in: session) == .badURL)
        #expect(try await imports.download("https://x.test", in: session) == .serverError(code: 2))
    }

    @Test(
        "C04: a missing key, an empty session and what is not JSON are errors, never outcomes",
        arguments: [
            "", "<html>", "[]", #"{"StatusCode":0}"#, #"{"StatusCode":0,"SessionId":null}"#,
            #"{"SecurityQuestion":null,"SessionId":null}"#,
            #"{"StatusCode":2,"SecurityQuestion":"","SessionId":"s"}"#,
            #"{"StatusCode":2,"SecurityQuestion":"q","SessionId":null}"#,
            #"{"StatusCode":"zero","SecurityQuestion":null,"SessionId":null}"#,
        ])
    func malformed(_ answer: String) async throws {
        let (imports, service) = try await imports("/23andMe/Download", answer)
        #expect(await sequencingError { try await imports.from23andMe(credentials) }?.code == "malformed_answer")
        #expect(service.lines.count == 1)
    }

    @Test(
        "C04: what Ancestry leaves out, and what an answer to a question or a link leaves out, is an error too",
        arguments: ["", "[]", "{}", #"{"StatusCode":null}"#, #"{"StatusCode":"zero","SessionId":"s"}"#])
    func malformedElsewhere(_ answer: String) async throws {
        let service = ScriptedService([
            "POST /23andMe/Download": [.json(#"{"StatusCode":2,"SecurityQuestion":"q","SessionId":"s"}"#)],
            "POST /23andMe/DownloadWithSecurity": [.json(answer)],
            "POST /Ancestry/Authorize": [
                .json(#"{"StatusCode":0,"SessionId":"s"}"#), .json(answer), .json(#"{"StatusCode":0}"#),
                .json(#"{"StatusCode":0,"SessionId":""}"#), .json(#"{"StatusCode":1}"#),
            ],
            "POST /Ancestry/Download": [.json(answer)],
        ])
        let imports = ThirdPartyImport(try await service.genome())
        guard case .question(let question) = try await imports.from23andMe(credentials),
            case .linkMailed(let session) = try await imports.authorizeAncestry(credentials)
        else {
            Issue.record("no question, or no session")
            return
        }
        #expect(await sequencingError { try await imports.answer("a", to: question) }?.code == "malformed_answer")
        #expect(await sequencingError { try await imports.download("l", in: session) }?.code == "malformed_answer")
        for _ in 0..<4 {
            let error = await sequencingError { try await imports.authorizeAncestry(credentials) }
            #expect(error?.code == "malformed_answer")
        }
        #expect(service.lines.count == 8, "none is sent twice")
    }

    @Test("an empty login or password is refused before anything is sent")
    func emptyCredentials() {
        #expect(throws: SequencingError.input(member: "login", problem: "it is empty")) {
            try ThirdPartyImport.Credentials(login: "", password: Secret("x"))
        }
        #expect(throws: SequencingError.input(member: "password", problem: "it is empty")) {
            try ThirdPartyImport.Credentials(login: "x", password: Secret(""))
        }
    }

    @Test(
        "W8, W10: neither descriptions nor errors contain the credentials",
        arguments: ["correct-horse-battery", "no secret at first sight"])
    func redaction(password: String) async throws {
        let login = "ada@example.test"
        let credentials = try ThirdPartyImport.Credentials(login: login, password: Secret(password))
        var texts = ["\(credentials)", String(reflecting: credentials)]
        dump(credentials, to: &texts[0])
        for answer in [#"{"StatusCode":"\#(password)","SecurityQuestion":null,"SessionId":null}"#, "[\"\(password)\"]"]
        {
            let (imports, _) = try await imports("/23andMe/Download", answer)
            let error = try #require(await sequencingError { try await imports.from23andMe(credentials) })
            dump(error, to: &texts[0])
            texts.append("\(error) \(String(reflecting: error)) \(error.detail ?? "")")
        }
        let repeating = ScriptedService([
            "POST /Ancestry/Authorize": [
                .json(#"{"Message":"\#(password) is wrong","Error":"\#(password)"}"#, status: 500)
            ]
        ])
        let imports = ThirdPartyImport(try await repeating.genome())
        let error = try #require(await sequencingError { try await imports.authorizeAncestry(credentials) })
        dump(error, to: &texts[0])
        texts.append("\(error) \(String(reflecting: error))")
        for text in texts { #expect(!text.contains(login) && !text.contains(password), "\(text)") }
    }
}
