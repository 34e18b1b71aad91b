import IFTTTConnect
import JSONFixtures
import OAuth
import Testing

@Suite("Errors that are wrong")
struct BadErrorTests {
    private static let content = """
        { "type": "error", "code": "invalid_parameters", "message": "Some parameters cannot be used",
          "details": [ { "parameter": "/fields/zone", "message": "Choose a value offered by field options" } ] }
        """
    private static let statuses = [199, 302, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 599]

    private func problem(_ content: String, _ status: Int) async -> ConnectError.Problem? {
        let ifttt = ScriptedIFTTT(["GET /v2/me": [.json(content, status: status)]])
        guard case .service(let problem)? = await connectError({ try await ifttt.api().me() }) else { return nil }
        let text = "\(problem)"
        #expect(text.utf8.count < 10_000)
        #expect(text.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) })
        return problem
    }

    @Test("2.4: whatever the content, the status is told", arguments: statuses)
    func statusCounts(status: Int) async throws {
        let spoiled = try SpoiledJSON(Self.content)
        let kind = ConnectError.Problem(status: status).kind
        for content in spoiled.cutShort + spoiled.doubled + ["[]", "null", "<html>", "\u{0}"] {
            #expect(await problem(content, status) == ConnectError.Problem(status: status))
        }
        for place in spoiled.places {
            for value in place.wrongValues.map(Optional.some) + [nil] {
                let problem = try #require(await problem(spoiled.replacing(place, with: value), status))
                #expect(problem.status == status && problem.kind == kind)
                // What is right beside it is told.
                if "\(place)" != "message" { #expect(problem.message == "Some parameters cannot be used") }
                if "\(place)" != "code" { #expect(problem.code == "invalid_parameters") }
            }
        }
    }

    @Test("ten megabytes of one character, of nesting and of details are told in a few words")
    func long() async throws {
        let mark = "a" + String(repeating: "\u{301}", count: 5_000_000)
        let marked = try #require(await problem(#"{"code":"\#(mark)","message":"\#(mark)"}"#, 422))
        #expect((marked.code?.utf8.count ?? 0) < 1000 && (marked.message?.utf8.count ?? 0) < 1000)
        let nested = "{\"details\":" + SpoiledJSON.nested(1_000_000) + "}"
        #expect(await problem(nested, 422) == ConnectError.Problem(status: 422))
        let details = Array(repeating: #"{"parameter":"/a","message":"b"}"#, count: 100_000).joined(separator: ",")
        let many = try #require(await problem("{\"details\":[\(details)]}", 422))
        #expect(many.details.count == 100 && "\(many)".contains("/a: b; and 90 more)"))
    }

    @Test("W5: an account is looked up: an answer that is cut short is none, at any byte")
    func lookUp() async throws {
        let email = try #require(EmailAddress(rawValue: "ada@example.com"))
        let spoiled = try SpoiledJSON(Self.content)
        for content in spoiled.cutShort + spoiled.doubled + [spoiled.adding(SpoiledJSON.nested(100_000))] {
            let ifttt = ScriptedIFTTT(["GET /v2/account/find": [.json(content, status: 404)]])
            let answer = try await ifttt.api().account(for: email)
            if content.isEmpty {
                #expect(answer == .doesNotExist)
            } else if case .couldNotAsk = answer {
            } else {
                Issue.record("“\(content.prefix(80))” was taken for an answer")
            }
        }
        for place in spoiled.places {
            let text = spoiled.replacing(place, with: .null)
            let ifttt = ScriptedIFTTT(["GET /v2/account/find": [.json(text, status: 404)]])
            let isError = "\(place)" != "type"
            #expect((try await ifttt.api().account(for: email) == .doesNotExist) == isError)
        }
    }
}
